import os from 'node:os'
import path from 'node:path'
import type { Evidence } from '../evidence/index.js'
import { RowSorter, type Destination, type Encoder } from '../output/index.js'
import { Breath, parseEvidence, type HomeRun, type ParseOptions, type SuppliedParser } from '../parsers/index.js'
import type { Row } from '../rows/index.js'

export interface TimelineOptions extends ParseOptions {
  readonly encoder: Encoder
  readonly destination: Destination
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
}

/** Reads the evidence, puts its rows in order and writes them: the main job, without a command line around it. */
export async function writeTimeline(evidence: Evidence, parsers: readonly SuppliedParser[], options: TimelineOptions): Promise<Timeline> {
  const { encoder, destination } = options
  const span = new Span()
  const sorter = new RowSorter({ encode: encoder.encode, spillTo: options.spillTo })
  try {
    const runs = await parseEvidence(evidence, parsers, options, {
      add: (rows) => {
        for (const row of rows) span.add(row)
        sorter.add(rows)
      },
      withdraw: (source) => sorter.withdraw(source),
    })
    await write(encoder.head, sorter, destination)
    const rows = runs.flatMap(({ run }) => [...run.tallies.values()]).reduce((sum, tally) => sum + tally.rows, 0)
    return { runs, rows, first: span.first, last: span.last, withoutTime: span.withoutTime }
  } catch (error) {
    destination.abandon()
    throw error
  } finally {
    sorter.close()
  }
}

async function write(head: string, sorter: RowSorter, destination: Destination): Promise<void> {
  if (head !== '' && !(await destination.write(Buffer.from(head)))) return
  const breath = new Breath()
  for (const bytes of sorter.sorted()) {
    if (!(await destination.write(bytes))) return
    await breath.take()
  }
  await destination.finish()
}

class Span {
  first = ''
  last = ''
  withoutTime = 0

  add({ timestamp_utc: at }: Row): void {
    if (at === '') this.withoutTime++
    else {
      if (this.first === '' || at < this.first) this.first = at
      if (at > this.last) this.last = at
    }
  }
}

/** Spills go beside the output; a copied home may spill to this machine's temp directory, a live one leaves no trace there. */
export function spillDirectory(evidence: Evidence, tempDir: string | undefined, output: string | undefined): string | undefined {
  if (tempDir !== undefined) return path.resolve(tempDir)
  if (output !== undefined) return path.dirname(path.resolve(output))
  return evidence.live ? undefined : os.tmpdir()
}
