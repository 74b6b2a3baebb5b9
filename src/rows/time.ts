import { DateTime } from 'luxon'
import { compactJson } from './recorded.js'

/** A time as rows hold it: `iso` is UTC with milliseconds and `Z`, or empty; `bad` is the recorded value when it could not be read. */
export interface RowTime {
  readonly iso: string
  readonly bad?: string | number | boolean
}

const ABSENT: RowTime = { iso: '' }
const END_OF_9999 = Date.UTC(10_000, 0, 1)
/** The row form itself, of a day that every month has: nothing is left to work out. */
const CANONICAL = /^(?:19[7-9]\d|[2-9]\d{3})-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/
/** A time of day alone would be read as today's: a record without a date has no time. */
const BEGINS_WITH_DATE = /^[+-]?\d{4}/
const FINER_THAN_MILLISECONDS = /(\.\d{3})\d+/

/**
 * The one place where a recorded time becomes a row's time (rows.md, Columns): ISO 8601 text with any offset (none means UTC),
 * or a number of milliseconds since 1970. Fractions are cut to milliseconds. Outside the years 1970-9999 it counts as absent.
 */
export function recordedTime(value: unknown): RowTime {
  if (value === undefined || value === null || value === '') return ABSENT
  if (typeof value === 'string' && CANONICAL.test(value)) return { iso: value }
  const ms = milliseconds(value)
  if (ms === undefined || !(ms >= 0 && ms < END_OF_9999)) return { iso: '', bad: plain(value) }
  return { iso: isoFromMs(ms) }
}

export function isoFromMs(ms: number): string {
  return new Date(Math.floor(ms)).toISOString()
}

function milliseconds(value: unknown): number | undefined {
  if (typeof value === 'number') return value
  if (typeof value === 'object' && value !== null && 'recorded' in value) return Number(value)
  if (typeof value !== 'string') return undefined
  if (!BEGINS_WITH_DATE.test(value.trim())) return undefined
  const parsed = DateTime.fromISO(value.trim().replace(FINER_THAN_MILLISECONDS, '$1'), { zone: 'utc' })
  return parsed.isValid ? parsed.toMillis() : undefined
}

function plain(value: unknown): string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : compactJson(value)
}
