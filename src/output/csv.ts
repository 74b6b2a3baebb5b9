import { COLUMNS, type Column, type Row } from '../rows/index.js'
import type { Encoder } from './encoder.js'

const NEEDS_QUOTES = /[",\r\n]/

/** RFC 4180: every value exactly as it is, quoted where it must be, lines ended by CRLF. The `details` column only when asked for. */
export function csv(options: { readonly details?: boolean } = {}): Encoder {
  const columns = COLUMNS.filter((column) => column !== 'details' || options.details)
  return {
    head: `${columns.join(',')}\r\n`,
    encode: (row) => `${columns.map((column) => field(cell(row, column))).join(',')}\r\n`,
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
