import os from 'node:os'
import path from 'node:path'
import { breath, type Evidence } from '../evidence/index.js'
import { RowSorter, type Destination, type Encoder, type ProgressLine } from '../output/index.js'
import { parseEvidence, type HomeRun, type ParseOptions, type SuppliedParser } from '../parsers/index.js'
import { compareSources, rowTest, type Row, type RowFilter, type RowSource } from '../rows/index.js'
import { standalone } from './standalone.js'

export interface TimelineOptions extends ParseOptions {
  readonly encoder: Encoder
  readonly destination: Destination
  /** Draws how far the reading is; ended before the first row is written. */
  readonly progress?: Pick<ProgressLine, 'step' | 'end'>
  /** Which rows are written; without it all. */
  readonly filter?: RowFilter
  /** Texts are cut at this many characters. */
  readonly maxText?: number
  /** Where sorting spills; undefined holds all rows in memory. */
  readonly spillTo?: string
}

/** What a run gave, for the summary and the run record. */
export interface Timeline {
  readonly runs: readonly HomeRun[]
  readonly rows: number
  /** The first and the last time among the rows; empty when no row has one. */
  readonly first: string
  readonly last: string
  readonly withoutTime: number
  /** Rows that the filters left out. */
  readonly filteredOut: number
}

/** Reads the evidence, puts its rows in order and writes them: the main job, without a command line around it. */
export async function writeTimeline(evidence: Evidence, parsers: readonly SuppliedParser[], options: TimelineOptions): Promise<Timeline> {
  const { encoder, destination } = options
  const counts = new Counts()
  const wanted = rowTest(options.filter ?? {})
  const sorter = new RowSorter({ encode: encoder.encode, spillTo: options.spillTo })
  const keep = (row: Row): boolean => {
    const kept = wanted?.(row) ?? true
    if (kept) counts.add(row)
    else counts.leaveOut(row)
    return kept
  }
  try {
    const runs = await parseEvidence(evidence, parsers, options, {
      add: (given) => {
        const rows = given.filter(keep)
        sorter.add(options.maxText === undefined ? rows : rows.map((row) => shortened(row, options.maxText!)))
      },
      withdraw: (source) => {
        counts.withdraw(source)
        sorter.withdraw(source)
      },
      step: options.progress && ((step) => options.progress!.step(step)),
    })
    options.progress?.end()
    await write(encoder.head, sorter, destination)
    return { runs, ...counts.total() }
  } catch (error) {
    options.progress?.end()
    destination.abandon()
    throw error
  } finally {
    sorter.close()
  }
}

async function write(head: string, sorter: RowSorter, destination: Destination): Promise<void> {
  if (head !== '' && !(await destination.write(Buffer.from(head)))) return
  for (const bytes of sorter.sorted()) {
    if (!(await destination.write(bytes))) return
    await breath()
  }
  await destination.finish()
}

/** A text that was cut says so, and how long it is. */
function shortened(row: Row, most: number): Row {
  return row.text.length <= most ? row : { ...row, text: `${row.text.slice(0, most)}… [cut: ${row.text.length} characters in all]` }
}

/** What is counted of the rows of one file, until they are withdrawn. */
interface FileCount {
  rows: number
  filteredOut: number
  withoutTime: number
  first: string
  last: string
}

/** Counts the rows that are written, file by file: a file that is read again starts anew. */
class Counts {
  readonly #files = new Map<string, FileCount>()
  #last: { readonly source: RowSource; readonly count: FileCount } | undefined

  add(row: Row): void {
    const at = row.timestamp_utc
    const count = this.#of(row)
    count.rows++
    if (at === '') count.withoutTime++
    else {
      if (count.first === '' || at < count.first) count.first = at
      if (at > count.last) count.last = at
    }
  }

  leaveOut(row: Row): void {
    this.#of(row).filteredOut++
  }

  withdraw(source: RowSource): void {
    this.#files.delete(nameOf(source))
    this.#last = undefined
  }

  total(): Omit<Timeline, 'runs'> {
    const total = { rows: 0, filteredOut: 0, withoutTime: 0, first: '', last: '' }
    for (const count of this.#files.values()) {
      for (const key of ['rows', 'filteredOut', 'withoutTime'] as const) total[key] += count[key]
      if (count.first !== '' && (total.first === '' || count.first < total.first)) total.first = count.first
      if (count.last > total.last) total.last = count.last
    }
    return total
  }

  #of(source: RowSource): FileCount {
    if (this.#last && compareSources(this.#last.source, source) === 0) return this.#last.count
    const name = nameOf(source)
    let count = this.#files.get(name)
    if (!count) this.#files.set(name, (count = { rows: 0, filteredOut: 0, withoutTime: 0, first: '', last: '' }))
    this.#last = { source, count }
    return count
  }
}

function nameOf({ host, user, agent, source_file }: RowSource): string {
  return `${agent}\0${user}\0${host}\0${source_file}`
}

/** Spills go beside the output; a copied home may spill to this machine's temp directory, unless that may be the suspect's. */
export function spillDirectory(evidence: Evidence, tempDir: string | undefined, output: string | undefined): string | undefined {
  if (tempDir !== undefined) return path.resolve(tempDir)
  if (output !== undefined) return path.dirname(path.resolve(output))
  return evidence.live || standalone ? undefined : os.tmpdir()
}
