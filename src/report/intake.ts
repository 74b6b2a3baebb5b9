import type { Row } from '../rows/index.js'
import { locator, pairCalls, sessionKey, type Entry, type Evidence } from './entry.js'
import { masked, type Secrets } from './secrets.js'

const COLUMNS = ['session_id', 'project_path', 'model', 'tool_name', 'source_file'] as const

/** Rows as the report may show them: every text that leaves this function has its secrets masked and, where asked, its names replaced. */
export function takeIn(rows: readonly Row[], secrets: Secrets, redact: (text: string) => string): Evidence {
  const clean = cached((text) => redact(secrets.mask(text)))
  const withUser = new Set(rows.map(({ host, user }) => `${host}\u0000${user}`)).size > 1
  const entries = rows.map((row, index): Entry => {
    const found = secrets.find(row.text)
    const shown: Row = {
      ...row,
      host: clean(row.host),
      user: clean(row.user),
      text: redact(masked(row.text, found)),
      tool_use_id: secrets.mask(row.tool_use_id),
      details: row.details.kind !== undefined || row.details.copied_from !== undefined ? deep(row.details, clean) : row.details,
    }
    for (const column of COLUMNS) shown[column] = clean(row[column])
    return {
      index,
      row: shown,
      locator: locator(shown, withUser),
      session: sessionKey(row),
      secrets: [...new Set(found.map(({ rule }) => rule))],
    }
  })
  return { entries, ...pairCalls(entries) }
}

/** Columns repeat: each of their values is cleaned once. */
function cached(clean: (text: string) => string): (text: string) => string {
  const known = new Map<string, string>()
  return (text) => {
    let result = known.get(text)
    if (result === undefined) known.set(text, (result = clean(text)))
    return result
  }
}

function deep<T>(value: T, clean: (text: string) => string): T {
  if (typeof value === 'string') return clean(value) as T
  if (Array.isArray(value)) return value.map((item: unknown) => deep(item, clean)) as T
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [clean(key), deep(item as unknown, clean)])) as T
}
