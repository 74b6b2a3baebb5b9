import { compareSources, type Row, type RowSource } from '../rows/index.js'
import { Batch, type Sorted } from './batch.js'
import { Spill } from './spill.js'

export interface SorterOptions {
  readonly encode: (row: Row) => string
  /** The directory where sorted runs are spilled; without it everything stays in memory, up to `memory`. */
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

const SPILL_AFTER = 16 * 1024 * 1024
const HOLD_AT_MOST = 512 * 1024 * 1024
const OUTPUT = 256 * 1024

/**
 * Puts rows in the order of rows.md without holding them all: rows are encoded as they come, sorted in batches, spilled as runs and merged.
 * A batch that begins where the last one ended continues its run, so that evidence already in order makes one run.
 */
export class RowSorter {
  readonly #encode: (row: Row) => string
  readonly #spillTo: string | undefined
  readonly #memory: number
  readonly #sources = new Sources()
  readonly #withdrawn = new Map<number, number>()
  readonly #batch = new Batch()
  #spill: Spill | undefined
  #sequence = 0
  #time = { iso: '', ms: Infinity }

  constructor(options: SorterOptions) {
    this.#encode = options.encode
    this.#spillTo = options.spillTo
    this.#memory = options.memory ?? (options.spillTo === undefined ? HOLD_AT_MOST : SPILL_AFTER)
  }

  add(rows: readonly Row[]): void {
    for (const row of rows) {
      this.#batch.add(this.#msOf(row.timestamp_utc), this.#sources.idOf(row), row.source_line ?? 0, this.#sequence++, this.#encode(row))
      if (this.#batch.bytes >= this.#memory) this.#makeRoom()
    }
  }

  /** Forgets the rows so far of one file. */
  withdraw(source: RowSource): void {
    this.#withdrawn.set(this.#sources.idOf(source), this.#sequence)
  }

  /** The encoded rows in order, in pieces that are only lent until the next one; call once. */
  *sorted(): Generator<Buffer> {
    if (!this.#spill) return yield* gathered(this.#kept(this.#batch.sorted(this.#sources.ranks())))
    if (this.#batch.count > 0) this.#spill.write(this.#batch, this.#sources.ranks())
    if (this.#spill.isOneRun && this.#withdrawn.size === 0) return yield* this.#spill.payload(OUTPUT)
    yield* gathered(this.#kept(this.#spill.merged(this.#sources.ranks())))
  }

  close(): void {
    this.#spill?.close()
  }

  #makeRoom(): void {
    if (this.#spillTo === undefined) throw new SorterFullError(this.#memory)
    this.#spill ??= new Spill(this.#spillTo)
    this.#spill.write(this.#batch, this.#sources.ranks())
    this.#batch.clear()
  }

  *#kept(rows: Iterable<Sorted>): Generator<Buffer> {
    for (const { source, sequence, bytes } of rows) if (sequence >= (this.#withdrawn.get(source) ?? 0)) yield bytes
  }

  /** Rows of one message share their time: it is worked out once. */
  #msOf(iso: string): number {
    if (iso !== this.#time.iso) this.#time = { iso, ms: iso === '' ? Infinity : Date.parse(iso) }
    return this.#time.ms
  }
}

/** Small pieces as large ones. */
function* gathered(pieces: Iterable<Buffer>): Generator<Buffer> {
  const block = Buffer.allocUnsafeSlow(OUTPUT)
  let used = 0
  for (const piece of pieces) {
    if (used + piece.length > OUTPUT) {
      if (used > 0) yield block.subarray(0, used)
      used = 0
    }
    if (piece.length > OUTPUT) yield piece
    else used += piece.copy(block, used)
  }
  if (used > 0) yield block.subarray(0, used)
}

/** The files that rows come from, as small numbers. */
class Sources {
  readonly #all: RowSource[] = []
  readonly #ids = new Map<string, number>()
  #last: { readonly source: RowSource; readonly id: number } | undefined

  idOf(row: RowSource): number {
    const last = this.#last
    if (last && last.source.source_file === row.source_file && compareSources(last.source, row) === 0) return last.id
    const key = JSON.stringify([row.agent, row.user, row.host, row.source_file])
    let id = this.#ids.get(key)
    if (id === undefined) {
      id = this.#all.length
      this.#ids.set(key, id)
      this.#all.push({ host: row.host, user: row.user, agent: row.agent, source_file: row.source_file })
    }
    this.#last = { source: this.#all[id]!, id }
    return id
  }

  /** The place of each in the order of sources; which of two comes first never changes as more are added. */
  ranks(): Uint32Array {
    const order = this.#all.map((_, id) => id).sort((a, b) => compareSources(this.#all[a]!, this.#all[b]!))
    const ranks = new Uint32Array(order.length)
    order.forEach((id, rank) => (ranks[id] = rank))
    return ranks
  }
}
