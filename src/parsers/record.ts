import { z } from 'zod'
import type { Line } from '../evidence/index.js'
import { isObject, parseLossless, parsePlain, TooDeepError, type JsonObject } from './json.js'
import { quickCheck } from './quick.js'

/** What a line gave: its records, and what was wrong with it when something was. A line can give both. */
export interface LineReading {
  readonly records: readonly JsonObject[]
  readonly problem?: string
}

export interface ReadOptions {
  /** Whether an object found beside a fragment is a record of this store, and not a part of the cut one. */
  readonly looksLike: (value: JsonObject) => boolean
  /** Keep digits and key order, at a price: for stores whose values are printed as recorded. */
  readonly lossless?: boolean
}

/** What is said of bytes that are not UTF-8 (rows.md). */
export const REPLACED = 'bytes that are not UTF-8 were replaced'

/** A byte order mark, as some Windows editors leave at the start of a file, is not part of its text. */
export function withoutBom(text: string): string {
  return text.startsWith('\uFEFF') ? text.slice(1) : text
}

const NOTHING: LineReading = { records: [] }
/** A line that is not one record is searched for records at most this many times its own length, so that a made-up line cannot stall a run. */
const SEARCH_EFFORT = 16

/** Turns one line into its records, and into words for what could not be read (rows.md, What could not be read). */
export function readLine(line: Line, options: ReadOptions): LineReading {
  if (line.tooLong) return { records: [], problem: `line of ${line.length} bytes is over the limit; it was not read` }
  const parse = options.lossless ? parseLossless : parsePlain
  const whole = attempt(line.number === 1 ? withoutBom(line.text) : line.text, parse)
  if (whole instanceof TooDeepError) return { records: [], problem: whole.message }
  if (isObject(whole)) return line.invalidUtf8 ? { records: [whole], problem: REPLACED } : { records: [whole] }
  if (whole !== undefined) return { records: [], problem: 'not a JSON object' }
  if (line.text.trim() === '') return NOTHING
  return recover(line, options, parse)
}

function recover(line: Line, options: ReadOptions, parse: (text: string) => unknown): LineReading {
  const text = withoutEdgeNuls(line.text)
  if (text.trim() === '') return { records: [], problem: `${line.text.length} NUL bytes and no record` }
  const withoutNuls = text.length < line.text.length
  const whole = withoutNuls ? attempt(text, parse) : undefined
  if (isObject(whole) && !(whole instanceof TooDeepError)) return { records: [whole], problem: 'NUL bytes stand around the record' }
  const records = embedded(text, options.looksLike, parse)
  if (records.length > 0) return { records, problem: besides(records.length, text) }
  if (line.unterminated) return { records, problem: 'the last line is cut off: not a whole JSON record' }
  return { records, problem: 'not valid JSON' }
}

function withoutEdgeNuls(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && text.charCodeAt(start) === 0) start++
  while (end > start && text.charCodeAt(end - 1) === 0) end--
  return text.slice(start, end)
}

function besides(found: number, text: string): string {
  return found > 1 && onlyRecords(text)
    ? `${found} records stand on one line`
    : `${found === 1 ? 'a record stands' : `${found} records stand`} beside a fragment that is not a record`
}

/** Whether a text is records and white space, nothing else. */
function onlyRecords(text: string): boolean {
  let at = 0
  while (at < text.length) {
    if (/\s/.test(text[at]!)) at++
    else {
      const end = objectEnd(text, at)
      if (text[at] !== '{' || end === -1) return false
      at = end
    }
  }
  return true
}

/** Records inside a line that is not one: each place where an object begins is tried, what reads as a record is taken whole. */
function embedded(text: string, looksLike: (value: JsonObject) => boolean, parse: (text: string) => unknown): JsonObject[] {
  const records: JsonObject[] = []
  let effort = SEARCH_EFFORT * text.length
  for (let start = text.indexOf('{'); start !== -1 && effort > 0; start = text.indexOf('{', start)) {
    const end = objectEnd(text, start)
    effort -= (end === -1 ? text.length : end) - start
    const value = end === -1 ? undefined : attempt(text.slice(start, end), parse)
    if (isObject(value) && !(value instanceof TooDeepError) && looksLike(value)) {
      records.push(value)
      start = end
    } else start++
  }
  return records
}

/** The end of the object that begins at `start`, by its braces; -1 when it does not end. */
function objectEnd(text: string, start: number): number {
  let depth = 0
  let inString = false
  for (let i = start; i < text.length; i++) {
    const c = text.charCodeAt(i)
    if (inString) {
      if (c === 92) i++
      else if (c === 34) inString = false
    } else if (c === 34) inString = true
    else if (c === 123) depth++
    else if (c === 125 && --depth === 0) return i + 1
  }
  return -1
}

/** The value of a text; undefined when it is not JSON, the error itself when it is nested too deep to be anything else. */
function attempt(text: string, parse: (text: string) => unknown): unknown {
  try {
    return parse(text)
  } catch (error) {
    return error instanceof TooDeepError ? error : undefined
  }
}

/** A record whose odd fields were set aside: what can be read still gives its row (rows.md). */
export interface Sound<T> {
  readonly record: T
  /** The fields that were not of the known shape, in words. */
  readonly odd: readonly string[]
}

const NOTHING_ODD: readonly string[] = []
/** Beyond this many odd fields a record is not one of this shape. */
const MOST_ODD = 20

/** Checks a record against its schema; a field of another shape counts as absent and is named. */
export function sound<T>(schema: z.ZodType<T>, value: unknown): Sound<T> | undefined {
  if (quickCheck(schema)(value)) return { record: value as T, odd: NOTHING_ODD }
  const first = schema.safeParse(value)
  if (first.success) return { record: first.data, odd: NOTHING_ODD }
  const copy = structuredCloneOf(value)
  const odd: string[] = []
  let error: z.ZodError = first.error
  for (let round = 0; round < MOST_ODD; round++) {
    for (const issue of error.issues) {
      const where = issue.path.join('.')
      if (issue.path.length === 0 || !remove(copy, issue.path)) return undefined
      odd.push(`field ${where} ${oddity(value, issue.path)}`)
    }
    const again = schema.safeParse(copy)
    if (again.success) return { record: again.data, odd: [...new Set(odd)] }
    error = again.error
  }
  return undefined
}

function structuredCloneOf(value: unknown): unknown {
  return Array.isArray(value)
    ? value.map(structuredCloneOf)
    : isObject(value)
      ? Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, structuredCloneOf(inner)]))
      : value
}

function remove(root: unknown, path: readonly PropertyKey[]): boolean {
  let holder = root as Record<PropertyKey, unknown>
  for (const key of path.slice(0, -1)) holder = holder?.[key] as Record<PropertyKey, unknown>
  const last = path.at(-1)!
  if (holder === null || typeof holder !== 'object' || !Object.hasOwn(holder, last)) return false
  if (Array.isArray(holder)) holder[Number(last)] = null
  else delete holder[last]
  return true
}

function oddity(root: unknown, path: readonly PropertyKey[]): string {
  let value = root
  for (const key of path) value = (value as Record<PropertyKey, unknown> | undefined)?.[key]
  const kind = value === null ? 'null' : Array.isArray(value) ? 'a list' : isObject(value) ? 'an object' : `a ${typeof value}`
  return `is ${kind}, not of the known shape; read without it`
}

/** The keys that a schema knows, level by level, for counting fields that are new. */
export interface KnownKeys {
  readonly keys: ReadonlyMap<string, KnownKeys | undefined>
}

/** Reads the known keys off a schema of objects, arrays, unions and optionals; undefined where any key may stand. */
export function knownKeys(schema: z.ZodType): KnownKeys | undefined {
  if (schema instanceof z.ZodObject) {
    return { keys: new Map(Object.entries(schema.shape as Record<string, z.ZodType>).map(([key, inner]) => [key, knownKeys(inner)])) }
  }
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return knownKeys(schema.unwrap() as z.ZodType)
  if (schema instanceof z.ZodArray) return knownKeys(schema.element as z.ZodType)
  if (schema instanceof z.ZodUnion) {
    const options = (schema.options as z.ZodType[]).map(knownKeys).filter((option) => option !== undefined)
    return options.length === 0 ? undefined : { keys: new Map(options.flatMap((option) => [...option.keys])) }
  }
  return undefined
}

/** Calls back for each field that the schema does not know: `message.usage.reasoning`. */
export function unknownFields(value: unknown, known: KnownKeys | undefined, found: (field: string) => void, prefix = ''): void {
  if (!known || typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    for (const item of value) unknownFields(item, known, found, prefix)
    return
  }
  for (const key in value) {
    if (!known.keys.has(key)) found(prefix + key)
    else {
      const inner = known.keys.get(key)
      if (inner) unknownFields((value as JsonObject)[key], inner, found, `${prefix}${key}.`)
    }
  }
}
