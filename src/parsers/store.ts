import { isUtf8 } from 'node:buffer'
import type { z } from 'zod'
import { EvidenceTrouble, lines, type EvidenceFile, type Line } from '../evidence/index.js'
import type { Row } from '../rows/index.js'
import type { FileRows } from './file-rows.js'
import { isObject, parseLossless, type JsonObject } from './json.js'
import { knownKeys, readLine, REPLACED, sound, unknownFields, withoutBom, type KnownKeys } from './record.js'

/** A record as read: checked against its schema, and raw, for texts that print values as recorded whatever their shape. */
export interface Read<T> {
  readonly record: T
  readonly raw: JsonObject
  /** Adds to what the line's one `parser:` row says. */
  readonly complain: (problem: string) => void
}

/** One line of a line-based file with what it gave. */
export interface ReadLine<T> {
  readonly line: Line
  readonly reads: readonly Read<T>[]
  /** What was wrong with the line, in words; together they give one `parser:` row. */
  readonly problems: string[]
}

/** How a line-based store's records look. */
export interface RecordShape<T> {
  readonly record: z.ZodType<T>
  /** Whether an object is a record of this store: for records beside fragments. */
  readonly looksLike: (value: JsonObject) => boolean
  readonly lossless?: boolean
}

/** Turns one file's records, in order, into rows; state lives here. `end` gives what only the whole file can tell. */
export interface Fold<T> {
  line(read: Read<T>, line: Line): Row[]
  end?(): Row[]
}

/** A store of one record a line; `fold` is called once a file. */
export interface JsonlStore<T> extends RecordShape<T> {
  readonly id: string
  readonly fold: (rows: FileRows) => Fold<T>
  /** The session that a line which cannot be read belongs to, as far as the path tells. */
  readonly sessionOf?: (file: EvidenceFile) => string
}

/** A store of one JSON object a file. */
export interface JsonStore<T> {
  readonly id: string
  readonly record: z.ZodType<T>
  readonly rows: (read: Read<T>, rows: FileRows) => Row[]
}

/** Identity, for the types: a store reads as one plain value. */
export const jsonlStore = <T>(store: JsonlStore<T>): JsonlStore<T> => store
export const jsonStore = <T>(store: JsonStore<T>): JsonStore<T> => store

const known = new WeakMap<z.ZodType, KnownKeys | undefined>()

function knownKeysOf(schema: z.ZodType): KnownKeys | undefined {
  if (!known.has(schema)) known.set(schema, knownKeys(schema))
  return known.get(schema)
}

/** Stage one: bytes to records, without state. Blank lines are left out. */
export async function* readRecords<T>(rows: FileRows, shape: RecordShape<T>): AsyncGenerator<ReadLine<T>[]> {
  rows.tally.files++
  const keys = knownKeysOf(shape.record)
  for await (const batch of lines(rows.file.chunks(), rows.run.options.lineLimit)) {
    const found: ReadLine<T>[] = []
    for (const line of batch) {
      const read = readOne(rows, shape, line, keys)
      if (read) found.push(read)
      rows.tally.bytes += line.length + (line.unterminated ? 0 : 1)
    }
    if (found.length > 0) yield found
  }
  rows.run.files.add(rows.file)
}

function readOne<T>(rows: FileRows, shape: RecordShape<T>, line: Line, keys: KnownKeys | undefined): ReadLine<T> | undefined {
  const reading = readLine(line, shape)
  if (reading.records.length === 0 && reading.problem === undefined) return undefined
  const reads: Read<T>[] = []
  const problems = reading.problem === undefined ? [] : [reading.problem]
  for (const raw of reading.records) {
    rows.tally.records++
    const checked = sound(shape.record, raw)
    if (!checked) {
      problems.push('a record of an unknown shape')
      continue
    }
    problems.push(...checked.odd)
    unknownFields(raw, keys, (field) => rows.tally.unknownField(field))
    reads.push({ record: checked.record, raw, complain: (problem) => problems.push(problem) })
  }
  return { line, reads, problems }
}

/** Both stages for a line-based store: the rows of one file, in the order of the file. */
export async function* parseJsonl<T>(store: JsonlStore<T>, rows: FileRows): AsyncGenerator<Row[]> {
  const fold = store.fold(rows)
  const session = store.sessionOf?.(rows.file) ?? ''
  try {
    for await (const batch of readRecords(rows, store)) {
      const found: Row[] = []
      for (const { line, reads, problems } of batch) {
        for (const read of reads) found.push(...marked(fold.line(read, line), line))
        if (problems.length > 0) found.push(rows.problem(problems.join('; '), line, session))
      }
      if (found.length > 0) yield found
    }
  } catch (error) {
    if (!(error instanceof EvidenceTrouble)) throw error
    yield [rows.unreadable(error, session)]
  }
  const last = fold.end?.() ?? []
  if (last.length > 0) yield last
}

/** Rows of a line whose bytes were not all UTF-8 say so. */
export function marked(rows: Row[], line: Line): Row[] {
  if (line.invalidUtf8) for (const row of rows) row.details.invalid_utf8 = true
  return rows
}

/** A whole-file store over this size is named, not read. */
const WHOLE_FILE_LIMIT = 64 * 1024 * 1024

/** The rows of a whole-file store. */
export async function parseJson<T>(store: JsonStore<T>, rows: FileRows): Promise<Row[]> {
  const document = await wholeFile(rows)
  if ('unreadable' in document) return [document.unreadable]
  const raw = parsed(document.text)
  if (!isObject(raw)) return [rows.problem(raw === undefined ? 'not valid JSON' : 'not a JSON object')]
  rows.tally.records++
  const checked = sound(store.record, raw)
  if (!checked) return [rows.problem('a record of an unknown shape')]
  unknownFields(raw, knownKeysOf(store.record), (field) => rows.tally.unknownField(field))
  const problems = [...(document.invalidUtf8 ? [REPLACED] : []), ...checked.odd]
  const given = store.rows({ record: checked.record, raw, complain: (problem) => problems.push(problem) }, rows)
  if (document.invalidUtf8) for (const row of given) row.details.invalid_utf8 = true
  return problems.length === 0 ? given : [...given, rows.problem(problems.join('; '))]
}

export type WholeFile = { readonly text: string; readonly invalidUtf8: boolean } | { readonly unreadable: Row }

/** A file's text as a whole, or the row that says why there is none. */
export async function wholeFile(rows: FileRows): Promise<WholeFile> {
  rows.tally.files++
  try {
    const { size } = rows.file.listing
    if (size > WHOLE_FILE_LIMIT) throw new EvidenceTrouble(rows.file.path, `is ${size} bytes, over the limit; it was not read`)
    const parts: Buffer[] = []
    for await (const chunk of rows.file.chunks()) parts.push(Buffer.from(chunk))
    rows.run.files.add(rows.file)
    const bytes = Buffer.concat(parts)
    rows.tally.bytes += bytes.length
    return { text: withoutBom(bytes.toString('utf8')), invalidUtf8: !isUtf8(bytes) }
  } catch (error) {
    if (!(error instanceof EvidenceTrouble)) throw error
    return { unreadable: rows.unreadable(error) }
  }
}

function parsed(text: string): unknown {
  try {
    return parseLossless(text)
  } catch {
    return undefined
  }
}
