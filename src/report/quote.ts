import { OUTCOMES, type Outcome } from './outcome.js'
import type { Call, Entry, Evidence } from './entry.js'
import type { Listed, RowRef } from './schema.js'

/** Beginnings of texts are this long in findings and tables; the whole text stands in its row. */
export const QUOTE = 240

/** The beginning of a text, and how much of it there is; never half a character. */
export function clip(text: string, most = QUOTE): string {
  if (text.length <= most) return text
  return `${text.slice(0, most).toWellFormed()}… (${text.length.toLocaleString('en')} characters)`
}

export function refer(entry: Entry, { callAt }: Pick<Evidence, 'callAt'>, quote = beginning(entry)): RowRef {
  const { row, index, locator } = entry
  const outcome = callAt.get(index)?.outcome
  return {
    row: index + 1,
    locator,
    time: row.timestamp_utc,
    turn_type: row.turn_type,
    session: clip(row.session_id),
    ...(outcome && { outcome }),
    quote: clip(quote),
  }
}

function beginning({ row }: Entry): string {
  return row.tool_name === '' || row.turn_type !== 'tool_use' ? row.text : `${row.tool_name}: ${row.text}`
}

export function listed<T>(items: readonly T[], most: number): Listed<T> {
  return { items: items.slice(0, most), more: Math.max(0, items.length - most) }
}

/** How often something was seen, first and last. */
export class Sighting {
  count = 0
  first = ''
  last = ''
  entry: Entry | undefined

  add(entry: Entry): void {
    this.count++
    this.entry ??= entry
    const at = entry.row.timestamp_utc
    if (at === '') return
    if (this.first === '' || at < this.first) this.first = at
    if (at > this.last) this.last = at
  }

  toSeen(evidence: Pick<Evidence, 'callAt'>): { count: number; first: string; last: string; row?: RowRef } {
    const { count, first, last, entry } = this
    return { count, first, last, ...(entry && { row: refer(entry, evidence) }) }
  }
}

export type Outcomes = Partial<Record<Outcome, number>>

export function countOutcomes(calls: readonly Call[]): Outcomes {
  const counts: Outcomes = {}
  for (const outcome of OUTCOMES) {
    const count = calls.filter((call) => call.outcome === outcome).length
    if (count > 0) counts[outcome] = count
  }
  return counts
}

/** The group of each key, in order of first sight. */
export function groupBy<T>(items: readonly T[], key: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const name = key(item)
    const group = groups.get(name)
    if (group) group.push(item)
    else groups.set(name, [item])
  }
  return groups
}
