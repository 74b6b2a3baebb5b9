import fs from 'node:fs'
import path from 'node:path'
import { compareSources, type Row, type RowSource } from '../rows/index.js'

export interface SorterOptions {
  readonly encode: (row: Row) => string
  /** Where sorted runs are spilled; without it everything stays in memory, up to `memory`. */
  readonly spillTo?: string
  /** Bytes of encoded rows held before they are spilled, or at all. */
  readonly memory?: number
}

/** Nowhere to spill, and too many rows to hold. */
export class SorterFullError extends Error {
  constructor(readonly bytes: number) {
    super(`the rows take more than ${Math.round(bytes / 1024 / 1024)} MiB`)
    this.name = 'SorterFullError'
  }
}

const SPILL_AFTER = 32 * 1024 * 1024
const HOLD_AT_MOST = 512 * 1024 * 1024
const SLAB = 4 * 1024 * 1024
const OUTPUT = 256 * 1024

/**
 * Puts rows in the order of rows.md without holding them all: rows are encoded as they come, sorted in batches, spilled as runs and merged.
 * A run that begins where the last one ended is appended to it, so that evidence already in order makes one run.
 */
export class RowSorter {
  readonly #encode: (row: Row) => string
  readonly #spillTo: string | undefined
  readonly #memory: number
  readonly #sources: RowSource[] = []
  readonly #sourceIds = new Map<string, number>()
  /** Rows of a source with a sequence number below this were withdrawn. */
  readonly #withdrawn = new Map<number, number>()
  #batch = new Batch()
  #spill: Spill | undefined
  #sequence = 0

  constructor(options: SorterOptions) {
    this.#encode = options.encode
    this.#spillTo = options.spillTo
    this.#memory = options.memory ?? (options.spillTo === undefined ? HOLD_AT_MOST : SPILL_AFTER)
  }

  add(rows: readonly Row[]): void {
    for (const row of rows) {
      const time = row.timestamp_utc === '' ? Infinity : Date.parse(row.timestamp_utc)
      this.#batch.add(time, this.#sourceId(row), row.source_line ?? 0, this.#sequence++, this.#encode(row))
    }
    if (this.#batch.bytes < this.#memory) return
    if (this.#spillTo === undefined) throw new SorterFullError(this.#memory)
    this.#spillBatch(this.#spillTo)
  }

  withdraw(source: RowSource): void {
    this.#withdrawn.set(this.#sourceId(source), this.#sequence)
  }

  /** The encoded rows in order, in pieces; call once. Withdrawn rows are gone. */
  *sorted(): Generator<Buffer> {
    const ranks = this.#ranks()
    const output = new Output()
    for (const { key, bytes } of this.#inOrder(ranks)) {
      if (key.sequence < (this.#withdrawn.get(key.source) ?? 0)) continue
      const full = output.push(bytes)
      if (full) yield full
    }
    const rest = output.take()
    if (rest.length > 0) yield rest
  }

  close(): void {
    this.#spill?.close()
  }

  #inOrder(ranks: Uint32Array): Iterable<Encoded> {
    if (!this.#spill) return this.#batch.sorted(ranks)
    if (this.#batch.count > 0) this.#spillBatch(this.#spillTo!)
    return merge(this.#spill.runs(), ranks)
  }

  #spillBatch(directory: string): void {
    this.#spill ??= new Spill(directory)
    this.#spill.write(this.#batch.sorted(this.#ranks()), this.#ranks())
    this.#batch = new Batch()
  }

  #sourceId(row: RowSource): number {
    const key = `${row.agent}\0${row.user}\0${row.host}\0${row.source_file}`
    let id = this.#sourceIds.get(key)
    if (id === undefined) {
      id = this.#sources.length
      this.#sourceIds.set(key, id)
      this.#sources.push({ host: row.host, user: row.user, agent: row.agent, source_file: row.source_file })
    }
    return id
  }

  /** The place of each source in the order of sources; which of two comes first never changes as more are added. */
  #ranks(): Uint32Array {
    const order = this.#sources.map((_, id) => id).sort((a, b) => compareSources(this.#sources[a]!, this.#sources[b]!))
    const ranks = new Uint32Array(order.length)
    order.forEach((id, rank) => (ranks[id] = rank))
    return ranks
  }
}

interface Key {
  readonly time: number
  readonly source: number
  readonly line: number
  readonly sequence: number
}

interface Encoded {
  readonly key: Key
  readonly bytes: Buffer
}

function compareKeys(a: Key, b: Key, ranks: Uint32Array): number {
  if (a.time !== b.time) return a.time < b.time ? -1 : 1
  return ranks[a.source]! - ranks[b.source]! || a.line - b.line || a.sequence - b.sequence
}

/** Rows in memory: their bytes in slabs outside the JavaScript heap, their keys beside them. */
class Batch {
  bytes = 0
  readonly #keys: Key[] = []
  readonly #places: Buffer[] = []
  #slab = Buffer.alloc(0)
  #used = 0

  get count(): number {
    return this.#keys.length
  }

  add(time: number, source: number, line: number, sequence: number, text: string): void {
    const place = this.#store(text)
    this.#keys.push({ time, source, line, sequence })
    this.#places.push(place)
    this.bytes += place.length
  }

  #store(text: string): Buffer {
    const most = text.length * 3
    if (most > SLAB / 4) return Buffer.from(text, 'utf8')
    if (this.#used + most > this.#slab.length) {
      this.#slab = Buffer.allocUnsafeSlow(SLAB)
      this.#used = 0
    }
    const length = this.#slab.write(text, this.#used, 'utf8')
    const place = this.#slab.subarray(this.#used, this.#used + length)
    this.#used += length
    return place
  }

  *sorted(ranks: Uint32Array): Generator<Encoded> {
    const order = this.#keys.map((_, i) => i).sort((a, b) => compareKeys(this.#keys[a]!, this.#keys[b]!, ranks))
    for (const i of order) yield { key: this.#keys[i]!, bytes: this.#places[i]! }
  }
}

/** Gathers small pieces into large ones. */
class Output {
  #pieces: Buffer[] = []
  #length = 0

  push(bytes: Buffer): Buffer | undefined {
    this.#pieces.push(bytes)
    this.#length += bytes.length
    return this.#length >= OUTPUT ? this.take() : undefined
  }

  take(): Buffer {
    const whole = Buffer.concat(this.#pieces, this.#length)
    this.#pieces = []
    this.#length = 0
    return whole
  }
}

/** Time, source, line, sequence, length. */
const HEADER = 8 + 4 + 4 + 8 + 4

interface Run {
  last: Key
  readonly extents: { readonly start: number; end: number }[]
}

/** The file that runs are spilled to. It has no name once it is open, where the system allows, so that a killed program leaves nothing. */
class Spill {
  readonly #fd: number
  readonly #name: string | undefined
  readonly #runs: Run[] = []
  #end = 0

  constructor(directory: string) {
    const name = path.join(directory, `.agent-forensics-${process.pid}-${Date.now().toString(36)}.spill`)
    this.#fd = fs.openSync(name, 'wx+', 0o600)
    this.#name = unlinkOpen(name) ? undefined : name
  }

  write(rows: Iterable<Encoded>, ranks: Uint32Array): void {
    const start = this.#end
    const output = new Output()
    let first: Key | undefined
    let last: Key | undefined
    for (const { key, bytes } of rows) {
      first ??= key
      last = key
      this.#append(output.push(header(key, bytes.length)))
      this.#append(output.push(bytes))
    }
    this.#append(output.take())
    if (!first || !last) return
    const extent = { start, end: this.#end }
    const before = this.#runs.at(-1)
    if (before && compareKeys(before.last, first, ranks) <= 0) {
      before.extents.push(extent)
      before.last = last
    } else this.#runs.push({ last, extents: [extent] })
  }

  #append(bytes: Buffer | undefined): void {
    if (!bytes) return
    for (let written = 0; written < bytes.length;)
      written += fs.writeSync(this.#fd, bytes, written, bytes.length - written, this.#end + written)
    this.#end += bytes.length
  }

  /** Each run as a reader; their buffers together stay small however many there are. */
  runs(): Iterator<Encoded>[] {
    const buffer = Math.max(16 * 1024, Math.min(OUTPUT, Math.floor(SPILL_AFTER / this.#runs.length)))
    return this.#runs.map((run) => this.#read(run, buffer))
  }

  *#read(run: Run, buffer: number): Generator<Encoded> {
    for (const { start, end } of run.extents) {
      let at = start
      while (at < end) {
        const block = this.#block(at, Math.min(buffer, end - at))
        let used = 0
        while (used + HEADER <= block.length) {
          const { key, length } = parseHeader(block, used)
          if (used + HEADER + length > block.length) break
          yield { key, bytes: block.subarray(used + HEADER, used + HEADER + length) }
          used += HEADER + length
        }
        if (used === 0) {
          const { key, length } = parseHeader(block, 0)
          yield { key, bytes: this.#block(at + HEADER, length) }
          used = HEADER + length
        }
        at += used
      }
    }
  }

  #block(at: number, length: number): Buffer {
    const block = Buffer.allocUnsafe(length)
    for (let read = 0; read < length;) read += fs.readSync(this.#fd, block, read, length - read, at + read)
    return block
  }

  close(): void {
    fs.closeSync(this.#fd)
    if (this.#name !== undefined) fs.rmSync(this.#name, { force: true })
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

function header(key: Key, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(HEADER)
  bytes.writeDoubleLE(key.time, 0)
  bytes.writeUInt32LE(key.source, 8)
  bytes.writeUInt32LE(key.line, 12)
  bytes.writeDoubleLE(key.sequence, 16)
  bytes.writeUInt32LE(length, 24)
  return bytes
}

function parseHeader(block: Buffer, at: number): { key: Key; length: number } {
  const key = {
    time: block.readDoubleLE(at),
    source: block.readUInt32LE(at + 8),
    line: block.readUInt32LE(at + 12),
    sequence: block.readDoubleLE(at + 16),
  }
  return { key, length: block.readUInt32LE(at + 24) }
}

/** The runs as one, smallest key first. */
function* merge(runs: Iterator<Encoded>[], ranks: Uint32Array): Generator<Encoded> {
  const heads = runs.map((run) => ({ run, head: run.next() })).filter(({ head }) => !head.done)
  const less = (a: number, b: number) =>
    compareKeys((heads[a]!.head.value as Encoded).key, (heads[b]!.head.value as Encoded).key, ranks) < 0
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
  for (let i = heads.length >> 1; i >= 0; i--) if (heads.length > 0) sift(i)
  while (heads.length > 0) {
    const top = heads[0]!
    yield top.head.value as Encoded
    top.head = top.run.next()
    if (top.head.done) {
      const last = heads.pop()!
      if (heads.length === 0) return
      if (last !== top) heads[0] = last
    }
    sift(0)
  }
}
