import { COLUMNS, type Column, type Row } from '../rows/index.js'
import type { Encoder } from './encoder.js'

/** Values that many rows share, and those that are never the same twice. */
const SHARED = new Set<Column>([
  'host',
  'user',
  'agent',
  'session_id',
  'project_path',
  'git_branch',
  'turn_type',
  'model',
  'tool_name',
  'source_file',
])
const MOST_REMEMBERED = 4096

/** One JSON object a line, keys in column order; lone surrogates stay as escapes. The same bytes as `JSON.stringify`, sooner. */
export const jsonl: Encoder = { head: '', encode }

const remembered = new Map<string, string>()
const keys = COLUMNS.map((column, i) => ({ column, before: `${i === 0 ? '{' : ','}"${column}":`, shared: SHARED.has(column) }))

function encode(row: Row): string {
  let line = ''
  for (const { column, before, shared } of keys) {
    const value = row[column]
    line += before + (shared ? sharedJson(value as string) : JSON.stringify(value))
  }
  return `${line}}\n`
}

function sharedJson(value: string): string {
  let json = remembered.get(value)
  if (json === undefined) {
    json = JSON.stringify(value)
    if (remembered.size >= MOST_REMEMBERED) remembered.clear()
    remembered.set(value, json)
  }
  return json
}
