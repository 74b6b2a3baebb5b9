import type { Evidence } from '../evidence/index.js'
import { parseEvidence, type HomeRun, type ParseOptions, type SuppliedParser } from '../parsers/index.js'
import { compareRows, compareSources, rowTest, type Row, type RowFilter } from '../rows/index.js'

export interface GatherOptions extends ParseOptions {
  /** Which rows are kept; without it all. */
  readonly filter?: RowFilter
}

export interface Gathered {
  readonly runs: readonly HomeRun[]
  /** In the order of `parse`. */
  readonly rows: readonly Row[]
  /** Rows that the filter left out. */
  readonly filteredOut: number
}

/** Every row of the evidence at once, for a verb that looks at all of them together. */
export async function gatherRows(evidence: Evidence, parsers: readonly SuppliedParser[], options: GatherOptions): Promise<Gathered> {
  let all: Row[] = []
  const runs = await parseEvidence(evidence, parsers, options, {
    add: (batch) => {
      for (const row of batch) all.push(row)
    },
    withdraw: (source) => (all = all.filter((row) => compareSources(row, source) !== 0)),
  })
  const wanted = rowTest(options.filter ?? {})
  const rows = wanted ? all.filter(wanted) : all
  return { runs, rows: rows.sort(compareRows), filteredOut: all.length - rows.length }
}
