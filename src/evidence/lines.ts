import { isUtf8 } from 'node:buffer'

/** One line of a line-based file, decoded, without its newline. */
export interface Line {
  /** 1-based. */
  readonly number: number
  /** Byte offset of its first byte, and its length in bytes without the newline. */
  readonly offset: number
  readonly length: number
  readonly text: string
  /** Bytes that are not UTF-8 were replaced by U+FFFD. */
  readonly invalidUtf8: boolean
  /** The file's last line, with no newline behind it. */
  readonly unterminated: boolean
  /** Over the limit: `text` is empty, the bytes were passed over. */
  readonly tooLong: boolean
}

/** Lines over this many bytes are named, not read (architecture.md, Bounded memory). */
export const LINE_LIMIT = 64 * 1024 * 1024

const NEWLINE = 10

/**
 * Splits a stream of bytes on `\n` only and decodes each line by itself, so that no file is ever held as one string and U+2028
 * inside a JSON string stays where it is. Lines come in arrays, one for each chunk: an async step per line costs more than the line.
 */
export async function* lines(chunks: AsyncIterable<Buffer>, limit: number = LINE_LIMIT): AsyncGenerator<Line[]> {
  const splitter = new Splitter(limit)
  for await (const chunk of chunks) {
    const found = splitter.push(chunk)
    if (found.length > 0) yield found
  }
  const last = splitter.end()
  if (last) yield [last]
}

class Splitter {
  #number = 0
  #offset = 0
  /** Bytes of the line that is not whole yet. */
  #held: Buffer[] = []
  #heldLength = 0
  /** Length so far of a line over the limit, whose bytes are not held. */
  #passedOver = 0

  constructor(readonly limit: number) {}

  push(chunk: Buffer): Line[] {
    const found: Line[] = []
    const clean = isUtf8(chunk.subarray(this.#holdsNothing ? 0 : firstBoundary(chunk), lastBoundary(chunk)))
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      found.push(
        this.#holdsNothing ? this.#line(chunk.subarray(start, end), clean, false) : this.#finish(chunk.subarray(start, end), false),
      )
      this.#offset += 1
      start = end + 1
    }
    if (start < chunk.length) this.#hold(chunk.subarray(start))
    return found
  }

  end(): Line | undefined {
    return this.#holdsNothing ? undefined : this.#finish(Buffer.alloc(0), true)
  }

  get #holdsNothing(): boolean {
    return this.#heldLength === 0 && this.#passedOver === 0
  }

  /** A chunk is only lent, so what is held is a copy. */
  #hold(rest: Buffer): void {
    if (this.#passedOver > 0 || this.#heldLength + rest.length > this.limit) {
      this.#passedOver += this.#heldLength + rest.length
      this.#held = []
      this.#heldLength = 0
      return
    }
    this.#held.push(Buffer.from(rest))
    this.#heldLength += rest.length
  }

  #finish(rest: Buffer, unterminated: boolean): Line {
    const length = this.#passedOver + this.#heldLength + rest.length
    const tooLong = length > this.limit
    const bytes = tooLong ? Buffer.alloc(0) : Buffer.concat([...this.#held, rest])
    this.#held = []
    this.#heldLength = 0
    this.#passedOver = 0
    return this.#line(bytes, isUtf8(bytes), unterminated, tooLong ? length : undefined)
  }

  #line(bytes: Buffer, knownClean: boolean, unterminated: boolean, passedOver?: number): Line {
    const length = passedOver ?? bytes.length
    const tooLong = length > this.limit
    const line: Line = {
      number: ++this.#number,
      offset: this.#offset,
      length,
      text: tooLong ? '' : bytes.toString('utf8'),
      invalidUtf8: !knownClean && !isUtf8(bytes),
      unterminated,
      tooLong,
    }
    this.#offset += length
    return line
  }
}

/** A chunk may begin and end inside a line, even inside a character: such a line is checked by itself, when it is whole. */
function firstBoundary(chunk: Buffer): number {
  const newline = chunk.indexOf(NEWLINE)
  return newline === -1 ? chunk.length : newline
}

function lastBoundary(chunk: Buffer): number {
  return chunk.lastIndexOf(NEWLINE) + 1
}
