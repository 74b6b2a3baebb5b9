import { z } from 'zod'
import { columnRule, ColumnRule, Meaning, meaning, type CatalogEntry, type RowFacts, type Store } from '../../catalog/index.js'
import { EvidenceTrouble } from '../../evidence/index.js'
import type { SuppliedParser } from '../../parsers/index.js'
import { COLUMNS, phrases, Row, type Column, type Phrase } from '../../rows/index.js'
import { noMasks, type Masks } from './masks.js'
import { fileRecord, lineRecord, RawRecord } from './record.js'
import { isPrimary, Trace, type OpenEvidence, type Traced, type TracedFile } from './trace.js'

const SourceRef = z.strictObject({ user: z.string(), source_file: z.string(), source_line: z.number().int().nullable(), text: z.string() })

const ExplainedColumn = ColumnRule.extend({ value: z.unknown() }).strict()

const TracedRow = z.strictObject({
  row: Row,
  /** `dropped`: another row shows the same event, and only that one is in the timeline (unless --all-sources). */
  status: z.enum(['kept', 'dropped']),
  /** The row that a dropped one repeats; null when it is kept, or when no row could be told. */
  repeats: SourceRef.nullable(),
  columns: z.array(ExplainedColumn),
  meaning: Meaning.nullable(),
})

/** The result of `explain --row`. */
export const ExplainedRow = z.strictObject({
  explained: z.literal('row'),
  source: z.strictObject({
    user: z.string(),
    host: z.string(),
    file: z.string(),
    line: z.number().int().nullable(),
    size: z.number().int(),
    mtime: z.string(),
    mtime_from: z.string(),
    /** Of the whole file. */
    sha256: z.string().nullable(),
  }),
  store: z
    .strictObject({ id: z.string(), title: z.string(), proves: z.string(), time_source: z.string(), caveats: z.array(z.string()) })
    .nullable(),
  record: RawRecord.nullable(),
  /** Why there is no record, in words; null when there is one. */
  unreadable: z.string().nullable(),
  rows: z.array(TracedRow),
  /** Rows that other lines of the file give. */
  other_rows: z.number().int(),
  fields_not_known: z.array(z.strictObject({ field: z.string(), count: z.number().int() })),
  notes: z.array(z.string()),
})
export type ExplainedRow = z.infer<typeof ExplainedRow>

/** What a person named cannot be found in the evidence; the message says what is there. */
export class NotInEvidence extends Error {
  override name = 'NotInEvidence'
}

/** `[USER:]FILE[:LINE]`, taken apart in every way that it can be. */
export interface RowAddress {
  readonly user?: string
  readonly file: string
  readonly line: number | null
}

export function rowAddresses(text: string): RowAddress[] {
  const [, file, line] = /^(.+):([1-9]\d*)$/s.exec(text) ?? []
  const forms: RowAddress[] = file === undefined || line === undefined ? [] : [{ file, line: Number(line) }]
  forms.push({ file: text, line: null })
  return forms.flatMap((form) => {
    const colon = form.file.indexOf(':')
    const withUser = colon > 0 ? [{ ...form, user: form.file.slice(0, colon), file: form.file.slice(colon + 1) }] : []
    return [form, ...withUser].map((one) => ({ ...one, file: slashes(one.file) }))
  })
}

/** `source_file` has `/` on every system, and begins below the home. */
function slashes(file: string): string {
  return (/^[A-Za-z]:[\\/]|^\.?[\w.-]+\\/.test(file) ? file.replaceAll('\\', '/') : file).replace(/^(~|\.)\//, '')
}

export interface RowOptions {
  readonly masks?: Masks
  readonly entries: readonly CatalogEntry[]
}

/** Reads the evidence for one row: the rows of its file, and those that a dropped copy may repeat. */
export async function traceFor(text: string, open: OpenEvidence, parsers: readonly SuppliedParser[]): Promise<Trace> {
  const files = new Set(rowAddresses(text).map(({ file }) => file))
  const trace = await Trace.read(open, parsers, (row) => files.has(row.source_file))
  const dropped = trace.files.flatMap(({ rows }) => rows.filter((one) => one.dropped).map(({ row }) => row))
  if (dropped.length === 0) return trace
  const sessions = new Set(dropped.map(({ session_id }) => session_id))
  return Trace.read(open, parsers, (row) => files.has(row.source_file) || (isPrimary(row) && sessions.has(row.session_id)))
}

/** The record behind a row, its bytes, every row made from it, and where each column comes from. */
export async function explainRow(text: string, trace: Trace, options: RowOptions): Promise<ExplainedRow> {
  const { found, line } = locate(text, trace)
  const { file, home } = found
  const masks = options.masks ?? noMasks
  const mine =
    line === null ? found.rows.filter(({ row }) => row.source_line === null) : found.rows.filter(({ row }) => row.source_line === line)
  const faulty = mine.some(({ row }) => row.details.kind === 'parser')
  const record = await recordOf(found, line, masks, faulty)
  const store = storeOf(found, options.entries)
  return {
    explained: 'row',
    source: {
      user: home.user,
      host: home.host,
      file: file.path,
      line,
      size: file.listing.size,
      mtime: file.mtime,
      mtime_from: file.listing.mtimeFrom,
      sha256: file.wasRead?.sha256 ?? null,
    },
    store: store && { id: store.id, title: store.title, proves: store.proves, time_source: store.time_source, caveats: [...store.caveats] },
    ...record,
    rows: mine.map((one) => explainOne(one, found, trace, masks)),
    other_rows: found.rows.length - mine.length,
    fields_not_known: [...found.unknownFields].map(([field, count]) => ({ field, count })),
    notes: [...notesOn(found, line, mine), ...twinNote(found, trace)],
  }
}

function locate(text: string, trace: Trace): { found: TracedFile; line: number | null } {
  for (const { user, file, line } of rowAddresses(text)) {
    const found = trace.file(file, user)
    if (found.length > 1) {
      throw new NotInEvidence(`${file} stands in several homes: say whose, ${found.map(({ home }) => `${home.user}:${file}`).join(' or ')}`)
    }
    if (found[0]) return { found: found[0], line }
  }
  throw new NotInEvidence(
    `no file of the evidence that was read has the path ${text}; write it as in the column source_file, with :LINE behind it`,
  )
}

async function recordOf(
  { file }: TracedFile,
  line: number | null,
  masks: Masks,
  faulty: boolean,
): Promise<Pick<ExplainedRow, 'record' | 'unreadable'>> {
  try {
    const record = line === null ? await fileRecord(file, { masks, faulty }) : await lineRecord(file, line, { masks, faulty })
    if (!record) throw new NotInEvidence(`${file.path} has no line ${line}`)
    return { record, unreadable: null }
  } catch (error) {
    if (error instanceof EvidenceTrouble) return { record: null, unreadable: error.problem }
    throw error
  }
}

function storeOf({ file }: TracedFile, entries: readonly CatalogEntry[]): Store | null {
  return entries.flatMap(({ stores }) => stores).find(({ id }) => id === file.store) ?? null
}

function explainOne(one: Traced, file: TracedFile, trace: Trace, masks: Masks): z.infer<typeof TracedRow> {
  const repeated = one.dropped ? trace.repeatedBy(file, one.row) : undefined
  const row = maskedValue(one.row, masks) as Row
  const facts = factsOf(one.row)
  return {
    row,
    status: one.dropped ? 'dropped' : 'kept',
    repeats: repeated
      ? { user: repeated.user, source_file: repeated.source_file, source_line: repeated.source_line, text: masks.text(repeated.text).text }
      : null,
    columns: COLUMNS.map((column) => ({ ...columnRule(column, { ...facts, empty: isEmpty(one.row, column) }), value: row[column] })),
    meaning: meaningOf(one.row) ?? null,
  }
}

function isEmpty(row: Row, column: Column): boolean {
  return row[column] === '' || row[column] === null
}

function factsOf({ agent, turn_type, details }: Row): Omit<RowFacts, 'empty'> {
  return {
    agent,
    store: details.store,
    turn_type,
    kind: details.kind,
    time_source: details.time_source,
    project_from: details.project_from,
  }
}

/** Kinds whose rows can have one of several texts. */
const TEXTS_OF_KIND: Readonly<Record<string, readonly string[]>> = {
  model: ['model-change', 'model'],
  'permission-decision': ['permission-decision', 'permission-outcome'],
  'session-synced': ['session-synced-conversation', 'session-synced-last-session', 'session-synced-route', 'session-synced-harness'],
}
const written: readonly Phrase[] = Object.values(phrases)

/** What a row proves, by its kind; where a kind has several texts, by its text. */
export function meaningOf({ turn_type, text, details }: Row): Meaning | undefined {
  const { kind, store } = details
  if (kind === undefined) return meaning(turn_type)
  if (kind === 'error' && store === 'transcripts') return meaning('transcript-error')
  const id = TEXTS_OF_KIND[kind]?.find((one) => written.some((phrase) => phrase.id === one && phrase.read(text).length > 0))
  return meaning(id ?? kind.replace(/^[a-z0-9-]+:/, ''))
}

/** A value with the secrets in all its strings masked; keys stay. */
export function maskedValue(value: unknown, masks: Masks): unknown {
  if (typeof value === 'string') return masks.text(value).text
  if (Array.isArray(value)) return value.map((item) => maskedValue(item, masks))
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, maskedValue(inner, masks)]))
}

/** A file that was being renamed stands under both names, and is read once. */
function twinNote({ file, home, rows }: TracedFile, trace: Trace): string[] {
  const sha256 = file.wasRead?.sha256
  if (rows.length > 0 || sha256 === undefined || file.listing.size === 0) return []
  const twin = trace.files.find(
    (one) => one.file !== file && one.home.user === home.user && one.file.store === file.store && one.file.wasRead?.sha256 === sha256,
  )
  return twin ? [`The same bytes stand in ${twin.file.path}: its rows are those of this file.`] : []
}

function notesOn({ file, rows }: TracedFile, line: number | null, mine: readonly Traced[]): string[] {
  const notes: string[] = []
  if (line === null && rows.some(({ row }) => row.source_line !== null))
    notes.push('The file has a record on each line: name a line for its rows.')
  if (mine.length === 0 && line !== null)
    notes.push(
      'This line gives no row: it describes the file, is blank, is replaced by a later snapshot of the same message, or has no text.',
    )
  if (mine.length === 0 && line === null && rows.length === 0)
    notes.push('This file gives no row of its own; other rows can take values from it.')
  if (mine.some(({ dropped }) => dropped)) notes.push('A dropped row is in the timeline only with --all-sources.')
  if (file.listing.kind !== 'file') notes.push('The path is not a regular file that could be read.')
  return notes
}
