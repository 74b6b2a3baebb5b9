import { COLUMNS, type Column, type Row } from '../rows/index.js'
import type { Encoder } from './encoder.js'

const NEEDS_QUOTES = /[",\r\n]/

/** What a spreadsheet takes for the start of a formula. */
const RUNS = /^[=+\-@\t\r]/

export interface CsvOptions {
  /** The `details` column too. */
  readonly details?: boolean
  /** A `'` before cells that a spreadsheet would run: no longer the exact text. */
  readonly excelSafe?: boolean
}

/** RFC 4180: every value exactly as it is, quoted where it must be, lines ended by CRLF. */
export function csv(options: CsvOptions = {}): Encoder {
  const columns = COLUMNS.filter((column) => column !== 'details' || options.details)
  const safe = options.excelSafe ? (value: string) => (RUNS.test(value) ? `'${value}` : value) : (value: string) => value
  return {
    head: `${columns.join(',')}\r\n`,
    encode: (row) => `${columns.map((column) => field(safe(cell(row, column)))).join(',')}\r\n`,
  }
}

function cell(row: Row, column: Column): string {
  const value = row[column]
  if (typeof value === 'string') return value
  return value === null ? '' : JSON.stringify(value)
}

function field(value: string): string {
  return NEEDS_QUOTES.test(value) ? `"${value.replaceAll('"', '""')}"` : value
}
