import { z } from 'zod'
import type { Line } from '../../evidence/index.js'
import { phrases, recordedTime, type Row } from '../../rows/index.js'
import { columnText } from '../columns.js'
import type { FileRows, Moment, Turn } from '../file-rows.js'
import { isObject, losslessAt, type JsonObject } from '../json.js'
import { assistantTurns, Message, ModelTrack, toolResultTurns, uiTurns, userTurns, type Turns } from '../pi/messages.js'
import { optionalId, optionalText, optionalTime } from '../shapes.js'
import type { Fold, JsonlStore, Read } from '../store.js'
import type { Knowledge } from './knowledge.js'
import { identityOf, type Identity, type OriginalMessage, type Originals } from './originals.js'
import { Snapshots } from './snapshots.js'

/**
 * messages.jsonl of the local backend, and its backups from before a migration (letta-stores 4.4; seen in 0.25.9 to 0.32.18). A line is
 * an entry (`session`, `message`, `compaction`) or, in schema 1 and older, a bare message; both can stand in one file.
 */
const Entry = Message.extend({
  type: optionalText,
  parentId: z.unknown().optional(),
  version: z.unknown().optional(),
  cwd: optionalText,
  message: Message.nullish(),
  summary: z.unknown().optional(),
  firstKeptEntryId: z.unknown().optional(),
  tokensBefore: z.unknown().optional(),
  details: z.unknown().optional(),
  id: optionalId,
  timestamp: optionalTime,
})
type Entry = z.infer<typeof Entry>

/** Which conversation a file belongs to, as far as its directory and conversation.json tell. */
export interface LocalConversation {
  /** Empty when nothing names it. */
  readonly agentId: string
  readonly conversationId: string
}

/** What an earlier look at the same file found out. */
export interface EarlierLook {
  /** Lines that a later snapshot of the same message replaces. */
  readonly superseded: ReadonlySet<number>
  /** For the line of each last snapshot: the lines that it replaces. */
  readonly replaces: ReadonlyMap<number, readonly number[]>
  /** For lines that recorded a counter: the time of the transcript line that repeats them. */
  readonly times: ReadonlyMap<number, string>
}

export interface MessagesOptions {
  readonly conversation: LocalConversation
  readonly knowledge: Knowledge
  /** The messages of earlier conversations of the store; absent where nothing can be a copy. */
  readonly originals?: Originals
  readonly earlier?: EarlierLook
}

export function messages(options: MessagesOptions): JsonlStore<Entry> & { readonly folded: () => MessagesFold } {
  let fold: MessagesFold | undefined
  return {
    id: 'messages',
    record: Entry,
    looksLike: (value) => typeof value.type === 'string' || typeof value.role === 'string',
    sessionOf: () => options.conversation.conversationId,
    fold: (rows) => (fold = new MessagesFold(rows, options)),
    folded: () => fold!,
  }
}

/** The clock of old releases counted messages from the start of 2026 (letta-stores 4.14; 0.24.13 to 0.25.9). */
const COUNTER = /^2026-01-01T00:\d\d:\d\d\.000Z$/

interface When {
  readonly moment: Moment
  /** The time as recorded, a counter perhaps; empty when there is none. */
  readonly recorded: string
}

/** A `message.timestamp` that is no counter; empty when there is none. */
function realTime(message: Message): string {
  const { iso } = recordedTime(message.timestamp)
  return COUNTER.test(iso) ? '' : iso
}

export class MessagesFold implements Fold<Entry> {
  /** Some message recorded only a counter for its time. */
  lacksTime = false
  readonly #models = new ModelTrack()
  readonly #snapshots = new Snapshots()
  #sessionId: string
  #cwd = ''

  constructor(
    readonly rows: FileRows,
    readonly options: MessagesOptions,
  ) {
    this.#sessionId = options.conversation.conversationId
  }

  /** Whether some message was appended again as a later snapshot. */
  get hasSnapshots(): boolean {
    return this.#snapshots.found
  }

  /** The snapshots found: which lines are replaced, and by which. */
  snapshots(): Pick<EarlierLook, 'superseded' | 'replaces'> {
    const replaces = this.#snapshots.replaces()
    return { superseded: new Set([...replaces.values()].flat()), replaces }
  }

  line({ record, complain }: Read<Entry>, line: Line): Row[] {
    if (record.type === 'session') return this.#header(record)
    const message = record.type === 'message' || record.type === 'compaction' ? record.message : record
    if (record.type === 'compaction') return this.#compaction(record, message ?? undefined, line)
    if (isMissing(record.type) || record.type === 'message') {
      if (message && typeof message.role === 'string') return this.#message(record, message, line, complain)
      complain('no message in the record')
    } else complain(`an entry of an unknown type (${columnText(record.type)})`)
    return []
  }

  #header(record: Entry): Row[] {
    this.rows.tally.headers++
    this.#sessionId = columnText(record.id) || this.#sessionId
    this.#cwd = columnText(record.cwd)
    this.options.knowledge.noteProject(this.#cwd)
    return []
  }

  #message(entry: Entry, message: Message, line: Line, complain: (problem: string) => void): Row[] {
    if (this.#isSuperseded(message, line)) return []
    if (isObject(message.metadata?.compaction)) {
      const { summary, stats } = message.metadata.compaction
      const when = this.#when(entry, message, line, alertTime(message))
      return this.#emit([compactionTurn(stats?.context_tokens_before, undefined, summary)], message, when, line)
    }
    const { turns, empty, odd } = this.#turns(message, entry === message, line)
    const nothing = turns.length === 0 && empty === 0 && odd.length === 0
    this.rows.tally.empty += nothing ? 1 : empty
    odd.forEach(complain)
    return turns.length === 0 ? [] : this.#emit(turns, message, this.#when(entry, message, line), line)
  }

  #turns(message: Message, bare: boolean, line: Line): Turns {
    const at = bare ? [] : ['message']
    const losslessPart = (list: 'content' | 'parts', key: 'arguments' | 'input') => (part: number) =>
      losslessAt(line.text, [...at, list, part, key])
    if (message.parts && !message.content) return uiTurns(message, losslessPart('parts', 'input'))
    switch (message.role) {
      case 'user':
        return userTurns(message)
      case 'assistant':
        return assistantTurns(message, this.#models, losslessPart('content', 'arguments'))
      case 'toolResult':
        return toolResultTurns(message)
      default:
        return { turns: [], empty: 0, odd: [`a message of an unknown role (${columnText(message.role)})`] }
    }
  }

  #compaction(entry: Entry, message: Message | undefined, line: Line): Row[] {
    if (message && this.#isSuperseded(message, line)) return []
    const when = this.#when(entry, message ?? {}, line, message && alertTime(message))
    return this.#emit(
      [compactionTurn(entry.tokensBefore, entry.firstKeptEntryId, entry.summary)],
      message ?? { role: 'compaction', content: columnText(entry.summary) },
      when,
      line,
    )
  }

  #emit(turns: readonly Turn[], message: Message, when: When, line: Line): Row[] {
    const { originals } = this.options
    const identity = originals && identityOf(message, when.recorded, realTime(message))
    const original = identity && originals.find(identity)
    const moment = original ? atOriginal(original, when.moment) : when.moment
    const { project_path, from } = this.#project(isCounterTime(moment) ? '' : moment.timestamp_utc)
    const shared = this.#shared(original, from, line)
    const place = { session_id: this.#sessionId, project_path, source_line: line.number }
    const rows = turns.map((turn) => this.rows.turn(moment, turn, place, shared))
    if (original) this.rows.tally.copied += rows.length
    else if (identity) originals.add(identity, this.#original(identity, moment, line))
    return rows
  }

  /** The details that all rows of a message share; mostly none. */
  #shared(original: OriginalMessage | undefined, project_from: string | undefined, line: Line): JsonObject | undefined {
    const replaced = this.options.earlier?.replaces.get(line.number)
    if (!original && !replaced && project_from === undefined) return undefined
    const shared: JsonObject = {}
    if (replaced) shared.replaced = replaced
    if (original)
      shared.copied_from = { session_id: original.session_id, source_file: original.source_file, source_line: original.source_line }
    if (project_from !== undefined) shared.project_from = project_from
    return shared
  }

  #original({ real }: Identity, { timestamp_utc }: Moment, line: Line): OriginalMessage {
    return { session_id: this.#sessionId, source_file: this.rows.file.path, source_line: line.number, timestamp_utc, real }
  }

  #project(at: string): { readonly project_path: string; readonly from?: string } {
    if (this.#cwd !== '') return { project_path: this.#cwd }
    return this.options.knowledge.projectOf(this.options.conversation.agentId, this.options.conversation.conversationId, at)
  }

  /**
   * A message's time: as recorded; where that is a counter, a real `message.timestamp`, else the time of the transcript line that repeats
   * it, else what the message itself tells, else the counter (rows.md, messages.jsonl).
   */
  #when(entry: Entry, message: Message, line: Line, alert = ''): When {
    const isBare = isMissing(entry.type)
    const moment = this.#recordedMoment(isBare ? message.metadata?.created_at : entry.timestamp, message.timestamp)
    const recorded = moment.timestamp_utc
    if (!COUNTER.test(recorded)) return { moment, recorded }
    const at = (timestamp_utc: string, time_source: 'record' | 'transcript') => ({
      moment: { timestamp_utc, details: { time_source, time_synthetic: recorded } },
      recorded,
    })
    const real = realTime(message)
    if (real !== '') return at(real, 'record')
    const paired = this.options.earlier?.times.get(line.number)
    if (paired !== undefined) return at(paired, 'transcript')
    if (alert !== '') return at(alert, 'record')
    this.lacksTime = true
    return at(recorded, 'record')
  }

  /** At the first of two recorded times that can be read. */
  #recordedMoment(first: unknown, second: unknown): Moment {
    const moment = this.rows.atRecord(first)
    if (moment.timestamp_utc !== '') return moment
    const fallback = this.rows.atRecord(second)
    return { timestamp_utc: fallback.timestamp_utc, details: { ...moment.details, ...fallback.details } }
  }

  /** Whether a later line holds a newer snapshot of the same message; noted on the first look, known on the second. */
  #isSuperseded(message: Message, line: Line): boolean {
    if (this.options.earlier) {
      if (!this.options.earlier.superseded.has(line.number)) return false
      this.rows.tally.replaced++
      return true
    }
    this.#snapshots.note(columnText(message.id), line.number)
    return false
  }
}

function compactionTurn(tokens_before: unknown, first_kept: unknown, summary: unknown): Turn {
  const values = { tokens_before, first_kept, summary }
  return { turn_type: 'system', text: phrases.compaction.say(values), details: { kind: 'compaction', ...values } }
}

function atOriginal(original: OriginalMessage, own: Moment): Moment {
  const { time_synthetic } = own.details
  return {
    timestamp_utc: original.timestamp_utc,
    details: { time_source: 'original', ...(time_synthetic === undefined ? {} : { time_synthetic }) },
  }
}

/** A row that stands at a counter has no time that could tell its project. */
function isCounterTime({ timestamp_utc, details }: Moment): boolean {
  return timestamp_utc === details.time_synthetic
}

/** The text of a compaction message is an alert in JSON that carries its own time. */
function alertTime(message: Message): string {
  const [part] = Array.isArray(message.content) ? message.content : []
  const text = isObject(part) ? part.text : message.content
  if (typeof text !== 'string') return ''
  try {
    const alert: unknown = JSON.parse(text)
    return isObject(alert) ? recordedTime(alert.time).iso : ''
  } catch {
    return ''
  }
}

function isMissing(value: unknown): boolean {
  return value === undefined || value === null
}
