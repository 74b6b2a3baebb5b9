/** What rows are sorted by, as numbers: time in milliseconds (Infinity without one), source, line (0 without one), emission order. */
export interface SortKey {
  readonly time: number
  readonly source: number
  readonly line: number
  readonly sequence: number
}

/** One encoded row in its place. */
export interface Sorted extends SortKey {
  /** Only lent. */
  readonly bytes: Buffer
}

export function compareKeys(a: SortKey, b: SortKey, ranks: Uint32Array): number {
  if (a.time !== b.time) return a.time < b.time ? -1 : 1
  return ranks[a.source]! - ranks[b.source]! || a.line - b.line || a.sequence - b.sequence
}

const SLAB = 4 * 1024 * 1024
const FIRST_ROWS = 4096

/** The keys of many rows, a column each: as they lie in memory they are written to disk. */
export class Keys {
  times = new Float64Array(FIRST_ROWS)
  sequences = new Float64Array(FIRST_ROWS)
  sources = new Uint32Array(FIRST_ROWS)
  lines = new Uint32Array(FIRST_ROWS)
  lengths = new Uint32Array(FIRST_ROWS)
  count = 0

  add(time: number, source: number, line: number, sequence: number, length: number): void {
    if (this.count === this.times.length) this.#grow()
    const i = this.count++
    this.times[i] = time
    this.sequences[i] = sequence
    this.sources[i] = source
    this.lines[i] = line
    this.lengths[i] = length
  }

  at(i: number): SortKey {
    return { time: this.times[i]!, source: this.sources[i]!, line: this.lines[i]!, sequence: this.sequences[i]! }
  }

  compare(a: number, b: number, ranks: Uint32Array): number {
    const earlier = this.times[a]!
    const later = this.times[b]!
    if (earlier !== later) return earlier < later ? -1 : 1
    return ranks[this.sources[a]!]! - ranks[this.sources[b]!]! || this.lines[a]! - this.lines[b]! || this.sequences[a]! - this.sequences[b]!
  }

  reordered(order: Uint32Array): Keys {
    const keys = new Keys()
    for (const i of order) keys.add(this.times[i]!, this.sources[i]!, this.lines[i]!, this.sequences[i]!, this.lengths[i]!)
    return keys
  }

  #grow(): void {
    const larger = <T extends Float64Array | Uint32Array>(column: T, empty: T): T => (empty.set(column), empty)
    const size = this.times.length * 2
    this.times = larger(this.times, new Float64Array(size))
    this.sequences = larger(this.sequences, new Float64Array(size))
    this.sources = larger(this.sources, new Uint32Array(size))
    this.lines = larger(this.lines, new Uint32Array(size))
    this.lengths = larger(this.lengths, new Uint32Array(size))
  }
}

/** Rows in memory: their bytes in slabs outside the JavaScript heap, used again after each spill. */
export class Batch {
  bytes = 0
  readonly keys = new Keys()
  readonly #slabs: { readonly bytes: Buffer; used: number }[] = []
  /** Slab and offset of each row. */
  #places = { slabs: new Uint32Array(FIRST_ROWS), offsets: new Uint32Array(FIRST_ROWS) }
  #current = 0

  get count(): number {
    return this.keys.count
  }

  add(time: number, source: number, line: number, sequence: number, text: string): void {
    const slab = this.#slabFor(text.length * 3)
    const length = slab.bytes.write(text, slab.used, 'utf8')
    this.#place(this.keys.count, slab.used)
    this.keys.add(time, source, line, sequence, length)
    slab.used += length
    this.bytes += length
  }

  clear(): void {
    this.bytes = 0
    this.keys.count = 0
    this.#current = 0
    for (const slab of this.#slabs) slab.used = 0
    this.#slabs.splice(0, this.#slabs.length, ...this.#slabs.filter(({ bytes }) => bytes.length === SLAB))
  }

  /** The order of the rows by their keys; undefined when they lie in it already. */
  order(ranks: Uint32Array): Uint32Array | undefined {
    let ordered = true
    for (let i = 1; i < this.count && ordered; i++) ordered = this.keys.compare(i - 1, i, ranks) <= 0
    if (ordered) return undefined
    return Uint32Array.from({ length: this.count }, (_, i) => i).sort((a, b) => this.keys.compare(a, b, ranks))
  }

  *sorted(ranks: Uint32Array): Generator<Sorted> {
    const order = this.order(ranks)
    for (let i = 0; i < this.count; i++) {
      const row = order ? order[i]! : i
      yield { ...this.keys.at(row), bytes: this.row(row) }
    }
  }

  row(i: number): Buffer {
    const offset = this.#places.offsets[i]!
    return this.#slabs[this.#places.slabs[i]!]!.bytes.subarray(offset, offset + this.keys.lengths[i]!)
  }

  /** All bytes as they lie, which is their order when `order` says so. */
  *blocks(): Generator<Buffer> {
    for (const { bytes, used } of this.#slabs) if (used > 0) yield bytes.subarray(0, used)
  }

  #slabFor(most: number): { readonly bytes: Buffer; used: number } {
    for (;;) {
      const slab = this.#slabs[this.#current]
      if (slab && slab.used + most <= slab.bytes.length) return slab
      if (slab && slab.used > 0) this.#current++
      else if (!slab || most > slab.bytes.length)
        this.#slabs.splice(this.#current, 0, { bytes: Buffer.allocUnsafeSlow(Math.max(SLAB, most)), used: 0 })
    }
  }

  #place(row: number, offset: number): void {
    if (row === this.#places.slabs.length) {
      const { slabs, offsets } = this.#places
      this.#places = { slabs: new Uint32Array(row * 2), offsets: new Uint32Array(row * 2) }
      this.#places.slabs.set(slabs)
      this.#places.offsets.set(offsets)
    }
    this.#places.slabs[row] = this.#current
    this.#places.offsets[row] = offset
  }
}
