import { parseEvidence, type HomeRun, type ParseOptions, type SuppliedParser } from '../parsers/index.js'
import type { Evidence } from '../evidence/index.js'
import { compareRows, compareSources, type Row } from '../rows/index.js'

export interface Gathered {
  readonly runs: readonly HomeRun[]
  /** In the order of `parse`. */
  readonly rows: readonly Row[]
}

/** Every row of the evidence at once, for a verb that looks at all of them together. */
export async function gatherRows(evidence: Evidence, parsers: readonly SuppliedParser[], options: ParseOptions): Promise<Gathered> {
  let rows: Row[] = []
  const runs = await parseEvidence(evidence, parsers, options, {
    add: (batch) => {
      for (const row of batch) rows.push(row)
    },
    withdraw: (source) => (rows = rows.filter((row) => compareSources(row, source) !== 0)),
  })
  return { runs, rows: rows.sort(compareRows) }
}
