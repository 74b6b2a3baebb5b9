import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { lines, type Line } from '../../src/evidence/index.js'

async function* chunks(bytes: Buffer, sizes: readonly number[]): AsyncGenerator<Buffer> {
  // One buffer for all chunks, as a file is read: what a chunk held is gone when the next one comes.
  const lent = Buffer.alloc(Math.max(1, ...sizes))
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const length = Math.min(sizes[i % sizes.length]!, bytes.length - at)
    bytes.copy(lent, 0, at, at + length)
    yield lent.subarray(0, length)
    at += length
  }
}

async function split(bytes: Buffer, sizes: readonly number[] = [bytes.length || 1], limit?: number): Promise<Line[]> {
  const found: Line[] = []
  for await (const batch of lines(chunks(bytes, sizes), limit)) found.push(...batch)
  return found
}

/** The same, naively: all bytes at once, split on 10. */
function naive(bytes: Buffer, limit = Infinity): Line[] {
  const found: Line[] = []
  for (let offset = 0; offset < bytes.length;) {
    const newline = bytes.indexOf(10, offset)
    const end = newline === -1 ? bytes.length : newline
    const own = bytes.subarray(offset, end)
    const tooLong = own.length > limit
    let invalidUtf8 = false
    try {
      new TextDecoder('utf-8', { fatal: true }).decode(own)
    } catch {
      invalidUtf8 = !tooLong
    }
    found.push({
      number: found.length + 1,
      offset,
      length: own.length,
      text: tooLong ? '' : own.toString('utf8'),
      invalidUtf8,
      unterminated: newline === -1,
      tooLong,
    })
    offset = end + 1
  }
  return found
}

/** Everything of lines but whether their bytes were UTF-8. */
const places = (found: readonly Line[]) => found.map(({ invalidUtf8: _, ...place }) => place)

/** Bytes with many line ends and, besides text, bytes that are not UTF-8. */
const someBytes = fc
  .array(
    fc.oneof(
      fc.constant(Buffer.from('\n')),
      fc.string({ unit: 'binary', maxLength: 6 }).map((text) => Buffer.from(text)),
      fc.constantFrom('é', '😀', '\u2028', '\r', '{"a":1}').map((text) => Buffer.from(text)),
      fc.uint8Array({ maxLength: 3 }).map((bytes) => Buffer.from(bytes)),
    ),
    { maxLength: 25 },
  )
  .map((parts) => Buffer.concat(parts))
const someSizes = fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 5 })

describe('the lines of a file', () => {
  test('however the bytes come, are those of a naive split on \\n', async () => {
    await fc.assert(
      fc.asyncProperty(someBytes, someSizes, async (bytes, sizes) => {
        expect(places(await split(bytes, sizes))).toEqual(places(naive(bytes)))
      }),
      { numRuns: 1000 },
    )
  })

  test('over a limit are named with their length, and cost the lines around them nothing', async () => {
    await fc.assert(
      fc.asyncProperty(someBytes, someSizes, fc.integer({ min: 0, max: 9 }), async (bytes, sizes, limit) => {
        expect(places(await split(bytes, sizes, limit))).toEqual(places(naive(bytes, limit)))
      }),
      { numRuns: 1000 },
    )
  })

  test('offsets lead back to the bytes', async () => {
    const bytes = Buffer.from('{"a":"é"}\n\n😀\r\nlast')
    for (const line of await split(bytes, [1])) {
      expect(bytes.subarray(line.offset, line.offset + line.length).toString()).toBe(line.text)
    }
  })

  test('U+2028, U+2029, U+0085 and a carriage return end no line', async () => {
    const text = 'a\u2028b\u2029c\u0085d\re'
    const found = await split(Buffer.from(`${text}\n${text}`))
    expect(found.map((line) => line.text)).toEqual([text, text])
  })

  test('of an empty file are none; of a single line end one, empty', async () => {
    expect(await split(Buffer.alloc(0))).toEqual([])
    expect((await split(Buffer.from('\n'))).map(({ text, unterminated }) => [text, unterminated])).toEqual([['', false]])
  })

  test('a last line without its line end says so', async () => {
    expect((await split(Buffer.from('a\nb'))).map((line) => line.unterminated)).toEqual([false, true])
    expect((await split(Buffer.from('a\nb\n'))).map((line) => line.unterminated)).toEqual([false, false])
  })

  // Fails: Splitter.push checks only the bytes behind a chunk's first newline, so a chunk's first line passes unchecked.
  test('say whether their bytes were UTF-8, however these come', async () => {
    await fc.assert(
      fc.asyncProperty(someBytes, someSizes, async (bytes, sizes) => {
        const flags = (found: readonly Line[]) => found.map(({ invalidUtf8 }) => invalidUtf8)
        expect(flags(await split(bytes, sizes))).toEqual(flags(naive(bytes)))
      }),
      { numRuns: 1000 },
    )
  })

  // Fails for the same reason.
  test('a first line that is not UTF-8 says so, though the rest is', async () => {
    const found = await split(Buffer.from([0xff, 0x41, 10, 0x42, 10, 0x43, 10]))
    expect(found.map((line) => line.invalidUtf8)).toEqual([true, false, false])
    expect(found[0]!.text).toBe('\ufffdA')
  })

  test('a character cut by the end of the file is not UTF-8', async () => {
    const found = await split(Buffer.from([0x41, 10, 0xc3]), [1])
    expect(found.map((line) => line.invalidUtf8)).toEqual([false, true])
  })
})
