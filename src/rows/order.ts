import type { Row } from './row.js'

/** Compares two strings by UTF-16 code unit, never by locale. */
export function byCodeUnit(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** The file a row came from, as far as the order of rows is concerned. */
export type RowSource = Pick<Row, 'host' | 'user' | 'agent' | 'source_file'>

export function compareSources(a: RowSource, b: RowSource): number {
  return (
    byCodeUnit(a.host, b.host) || byCodeUnit(a.user, b.user) || byCodeUnit(a.agent, b.agent) || byCodeUnit(a.source_file, b.source_file)
  )
}

/**
 * The total order of rows (rows.md, Columns), but for the last key, emission order, which a stable sort keeps:
 * time (rows without one last), host, user, agent, source file, source line (empty first).
 */
export function compareRows(a: Row, b: Row): number {
  return compareTimes(a.timestamp_utc, b.timestamp_utc) || compareSources(a, b) || (a.source_line ?? 0) - (b.source_line ?? 0)
}

function compareTimes(a: string, b: string): number {
  if (a === b) return 0
  if (a === '') return 1
  if (b === '') return -1
  return byCodeUnit(a, b)
}
