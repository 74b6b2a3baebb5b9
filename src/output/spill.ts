import fs from 'node:fs'
import path from 'node:path'
import { compareKeys, Keys, type Batch, type SortKey, type Sorted } from './batch.js'

/** Rows that lie in order in the spill files, one piece after the other. */
interface Run {
  last: SortKey
  readonly extents: Extent[]
}

interface Extent {
  readonly payload: number
  readonly payloadEnd: number
  readonly keys: number
  readonly count: number
}

const KEYS_READ = 2048
const READ = 256 * 1024
const READ_IN_ALL = 32 * 1024 * 1024

/** Sorted runs on disk: the rows' bytes in one file, their keys in another. Neither has a name once it is open. */
export class Spill {
  readonly #payload: NamelessFile
  readonly #keys: NamelessFile
  readonly #runs: Run[] = []

  constructor(directory: string) {
    this.#payload = new NamelessFile(directory, 'rows')
    this.#keys = new NamelessFile(directory, 'keys')
  }

  get isOneRun(): boolean {
    return this.#runs.length === 1
  }

  write(batch: Batch, ranks: Uint32Array): void {
    const order = batch.order(ranks)
    const keys = order ? batch.keys.reordered(order) : batch.keys
    const extent = { payload: this.#payload.end, keys: this.#keys.end, count: keys.count }
    if (order) this.#payload.appendAll(rowsOf(batch, order))
    else this.#payload.appendAll(batch.blocks())
    for (const column of columnsOf(keys)) this.#keys.append(column)
    this.#addExtent({ ...extent, payloadEnd: this.#payload.end }, keys.at(0), keys.at(keys.count - 1), ranks)
  }

  #addExtent(extent: Extent, first: SortKey, last: SortKey, ranks: Uint32Array): void {
    const before = this.#runs.at(-1)
    if (before && compareKeys(before.last, first, ranks) <= 0) {
      before.extents.push(extent)
      before.last = last
    } else this.#runs.push({ last, extents: [extent] })
  }

  /** Every row's bytes as they lie: in order when there is one run. */
  *payload(size: number): Generator<Buffer> {
    const block = Buffer.allocUnsafeSlow(size)
    for (let at = 0; at < this.#payload.end; at += size)
      yield this.#payload.read(at, block.subarray(0, Math.min(size, this.#payload.end - at)))
  }

  merged(ranks: Uint32Array): Generator<Sorted> {
    const size = Math.max(16 * 1024, Math.min(READ, Math.floor(READ_IN_ALL / this.#runs.length)))
    return merge(
      this.#runs.map((run) => this.#read(run, size)),
      ranks,
    )
  }

  *#read(run: Run, size: number): Generator<Sorted> {
    for (const extent of run.extents) {
      let at = extent.payload
      for (let from = 0; from < extent.count; from += KEYS_READ) {
        const keys = this.#readKeys(extent, from, Math.min(KEYS_READ, extent.count - from))
        for (const { i, bytes } of this.#readRows(keys, at, size)) yield { ...keys.at(i), bytes }
        for (let i = 0; i < keys.count; i++) at += keys.lengths[i]!
      }
    }
  }

  /** Blocks of up to `size` bytes, and each row inside them; a larger row has a block of its own. */
  *#readRows(keys: Keys, start: number, size: number): Generator<{ i: number; bytes: Buffer }> {
    let at = start
    for (let i = 0; i < keys.count;) {
      let length = keys.lengths[i]!
      let next = i + 1
      while (next < keys.count && length + keys.lengths[next]! <= size) length += keys.lengths[next++]!
      const block = this.#payload.read(at, Buffer.allocUnsafe(length))
      let used = 0
      for (; i < next; i++) {
        yield { i, bytes: block.subarray(used, used + keys.lengths[i]!) }
        used += keys.lengths[i]!
      }
      at += length
    }
  }

  #readKeys(extent: Extent, from: number, count: number): Keys {
    const keys = new Keys()
    keys.count = count
    let column = extent.keys
    for (const array of [keys.times, keys.sequences, keys.sources, keys.lines, keys.lengths]) {
      this.#keys.read(column + from * array.BYTES_PER_ELEMENT, bytesOf(array, count))
      column += extent.count * array.BYTES_PER_ELEMENT
    }
    return keys
  }

  close(): void {
    this.#payload.close()
    this.#keys.close()
  }
}

function* rowsOf(batch: Batch, order: Uint32Array): Generator<Buffer> {
  for (const i of order) yield batch.row(i)
}

function columnsOf(keys: Keys): Buffer[] {
  return [keys.times, keys.sequences, keys.sources, keys.lines, keys.lengths].map((column) => bytesOf(column, keys.count))
}

function bytesOf(column: Float64Array | Uint32Array, count: number): Buffer {
  return Buffer.from(column.buffer, column.byteOffset, count * column.BYTES_PER_ELEMENT)
}

/** A temporary file that has no name once it is open, where the system allows, so that a killed program leaves nothing. */
class NamelessFile {
  end = 0
  readonly #fd: number
  readonly #name: string | undefined = undefined
  readonly #removeName = () => this.#name !== undefined && fs.rmSync(this.#name, { force: true })

  constructor(directory: string, kind: string) {
    const unnamed = openUnnamed(directory)
    if (unnamed !== undefined) {
      this.#fd = unnamed
      return
    }
    const name = path.join(directory, `.agent-forensics-${process.pid}-${process.hrtime.bigint().toString(36)}.${kind}`)
    this.#fd = fs.openSync(name, 'wx+', 0o600)
    this.#name = unlinkOpen(name) ? undefined : name
    if (this.#name !== undefined) process.once('exit', this.#removeName)
  }

  append(bytes: Buffer): void {
    for (let written = 0; written < bytes.length;)
      written += fs.writeSync(this.#fd, bytes, written, bytes.length - written, this.end + written)
    this.end += bytes.length
  }

  /** Small pieces are gathered before they are written. */
  appendAll(pieces: Iterable<Buffer>): void {
    let gathered: Buffer[] = []
    let length = 0
    for (const piece of pieces) {
      gathered.push(piece)
      length += piece.length
      if (length < READ) continue
      this.append(gathered.length === 1 ? piece : Buffer.concat(gathered, length))
      gathered = []
      length = 0
    }
    if (length > 0) this.append(Buffer.concat(gathered, length))
  }

  read(at: number, into: Buffer): Buffer {
    for (let read = 0; read < into.length;) {
      const more = fs.readSync(this.#fd, into, read, into.length - read, at + read)
      if (more === 0) throw new Error('a temporary file of this program was cut short')
      read += more
    }
    return into
  }

  close(): void {
    fs.closeSync(this.#fd)
    this.#removeName()
    process.off('exit', this.#removeName)
  }
}

/** `O_TMPFILE` of Linux (open(2)): a file that never has a name. Node has no word for it; the flag is the same on x64 and arm64. */
const UNNAMED = process.platform === 'linux' ? fs.constants.O_DIRECTORY | 0o20000000 : undefined

/** Undefined where the system or the file system of the directory has no such files. */
function openUnnamed(directory: string): number | undefined {
  if (UNNAMED === undefined) return undefined
  try {
    return fs.openSync(directory, fs.constants.O_RDWR | UNNAMED, 0o600)
  } catch {
    return undefined
  }
}

function unlinkOpen(name: string): boolean {
  try {
    fs.unlinkSync(name)
    return true
  } catch {
    return false
  }
}

/** The runs as one, smallest key first. */
function* merge(runs: Iterator<Sorted>[], ranks: Uint32Array): Generator<Sorted> {
  const heads: { readonly run: Iterator<Sorted>; row: Sorted }[] = []
  for (const run of runs) {
    const { done, value } = run.next()
    if (!done) heads.push({ run, row: value as Sorted })
  }
  const less = (a: number, b: number) => compareKeys(heads[a]!.row, heads[b]!.row, ranks) < 0
  const sift = (from: number) => {
    for (let i = from; ;) {
      const left = 2 * i + 1
      let least = i
      if (left < heads.length && less(left, least)) least = left
      if (left + 1 < heads.length && less(left + 1, least)) least = left + 1
      if (least === i) return
      ;[heads[i], heads[least]] = [heads[least]!, heads[i]!]
      i = least
    }
  }
  for (let i = (heads.length >> 1) - 1; i >= 0; i--) sift(i)
  while (heads.length > 0) {
    const top = heads[0]!
    yield top.row
    const { done, value } = top.run.next()
    if (!done) top.row = value as Sorted
    else {
      const last = heads.pop()!
      if (heads.length === 0) return
      if (last !== top) heads[0] = last
    }
    sift(0)
  }
}
