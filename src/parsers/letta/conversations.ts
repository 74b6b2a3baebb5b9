import { z } from 'zod'
import { lines, type EvidenceFile, type Home } from '../../evidence/index.js'
import { byCodeUnit, recordedTime, type Row } from '../../rows/index.js'
import { FileRows } from '../file-rows.js'
import { isObject } from '../json.js'
import type { Batch, ParserRun } from '../parser.js'
import { known, optionalText, optionalTime } from '../shapes.js'
import { jsonStore, parseJson, parseJsonl, type JsonlStore } from '../store.js'
import type { Knowledge } from './knowledge.js'
import { messages, type EarlierLook, type LocalConversation } from './messages.js'
import { Originals } from './originals.js'
import { EventIndex, isEvent, pair, type Event } from './secondary.js'
import { conversationOf, transcripts } from './transcripts.js'

/** conversation.json beside messages.jsonl: whose conversation it is, and when it began (letta-stores 4.5). No rows of its own. */
const ConversationRecord = z.looseObject({
  id: optionalText,
  agent_id: optionalText,
  created_at: optionalTime,
  ...known(`archived archived_at updated_at last_message_at summary in_context_message_ids model model_settings context_window_limit
    hidden tags`),
})

/** One conversation directory of the local backend. */
interface StoredConversation extends LocalConversation {
  /** In the row form, empty when nothing says: forks are told from originals by it. */
  readonly created: string
  readonly directory: string
  readonly messages: EvidenceFile | undefined
  /** Newest first. */
  readonly backups: readonly EvidenceFile[]
}

/** The rows of an interrupted turn's record: the tool results among them may stand in messages.jsonl too. */
export interface ListenerRows extends LocalConversation {
  readonly rows: FileRows
  readonly found: readonly Row[]
}

/** What the conversations of a home are read from. */
export interface ConversationFiles {
  readonly messages: readonly EvidenceFile[]
  readonly backups: readonly EvidenceFile[]
  readonly records: readonly EvidenceFile[]
  readonly transcripts: readonly EvidenceFile[]
  readonly listeners: readonly ListenerRows[]
}

interface Context {
  readonly home: Home
  readonly run: ParserRun
  readonly agent: string
  readonly knowledge: Knowledge
}

/**
 * The conversations of a home: messages.jsonl is the primary source; what transcripts, backups and listener records repeat of it is
 * dropped; what only they hold stays (rows.md, Secondary sources).
 */
export async function* parseConversations(files: ConversationFiles, context: Context): AsyncGenerator<Batch> {
  const stored: StoredConversation[] = []
  for (const group of groupByDirectory(files)) stored.push(yield* describe(group, context))
  stored.sort((a, b) => byCreation(a, b))

  const originals = stored.filter((conversation) => conversation.messages).length > 1 ? new Originals() : undefined
  const transcriptsLeft = new Unclaimed(files.transcripts, conversationOf)
  const listenersLeft = new Unclaimed(files.listeners, (listener) => listener)
  for (const conversation of stored) {
    const mine = transcriptsLeft.claim(conversation)
    const listeners = listenersLeft.claim(conversation)
    yield* new ConversationParse(conversation, mine, listeners, originals, context).batches()
    originals?.endOfConversation()
  }
  for (const file of transcriptsLeft.rest()) yield* parseJsonl(transcripts(context.knowledge), fileRows(file, context))
  for (const listener of listenersLeft.rest()) yield listener.found
}

interface Group {
  readonly directory: string
  messages?: EvidenceFile
  record?: EvidenceFile
  readonly backups: EvidenceFile[]
}

function groupByDirectory(files: ConversationFiles): Group[] {
  const groups = new Map<string, Group>()
  const groupOf = (file: EvidenceFile): Group => {
    const directory = file.path.slice(0, file.path.lastIndexOf('/'))
    let group = groups.get(directory)
    if (!group) groups.set(directory, (group = { directory, backups: [] }))
    return group
  }
  for (const file of files.messages) groupOf(file).messages = file
  for (const file of files.backups) groupOf(file).backups.unshift(file)
  for (const file of files.records) groupOf(file).record = file
  return [...groups.values()]
}

/** Reads what names the conversation: conversation.json, else the directory name, else the header's time. */
async function* describe(group: Group, context: Context): AsyncGenerator<Batch, StoredConversation> {
  const decoded = decodeDirectory(group.directory.slice(group.directory.lastIndexOf('/') + 1))
  let record: z.infer<typeof ConversationRecord> = {}
  if (group.record) {
    const found = await parseJson(
      conversationRecord((given) => (record = given)),
      fileRows(group.record, context),
    )
    if (found.length > 0) yield found
  }
  const created = recordedTime(record.created_at).iso || (group.messages ? await headerTime(group.messages) : '')
  return {
    agentId: record.agent_id || decoded.agentId,
    conversationId: record.id || decoded.conversationId,
    created,
    directory: group.directory,
    messages: group.messages,
    backups: group.backups,
  }
}

const conversationRecord = (found: (record: z.infer<typeof ConversationRecord>) => void) =>
  jsonStore({
    id: 'conversation-records',
    record: ConversationRecord,
    rows({ record }, rows) {
      rows.tally.headers++
      found(record)
      return []
    },
  })

/** A directory name is base64url of `conversation:<id>` or `default:<agent id>` (letta-stores 5.1). */
function decodeDirectory(name: string): LocalConversation {
  const [, kind, id] = /^(conversation|default):(.+)$/s.exec(Buffer.from(name, 'base64url').toString('utf8')) ?? []
  if (kind === 'default') return { agentId: id!, conversationId: 'default' }
  return { agentId: '', conversationId: id ?? name }
}

/** When the conversation began, by the first line of its messages; empty when that does not say. */
async function headerTime(file: EvidenceFile): Promise<string> {
  try {
    for await (const batch of lines(file.tree.read(file.at, file.listing))) {
      const header: unknown = JSON.parse(batch[0]?.text ?? '')
      return isObject(header) && header.type === 'session' ? recordedTime(header.timestamp).iso : ''
    }
  } catch {
    // What cannot be read is named when the file itself is read.
  }
  return ''
}

function byCreation(a: StoredConversation, b: StoredConversation): number {
  if (a.created !== b.created) return a.created === '' ? 1 : b.created === '' ? -1 : byCodeUnit(a.created, b.created)
  return byCodeUnit(a.directory, b.directory)
}

/** Secondary files that no conversation has claimed yet. */
class Unclaimed<T> {
  readonly #byConversation = new Map<string, { readonly item: T; readonly agent: string }[]>()

  constructor(items: readonly T[], of: (item: T) => LocalConversation) {
    for (const item of items) {
      const { agentId, conversationId } = of(item)
      const key = sanitised(conversationId)
      const sharing = this.#byConversation.get(key) ?? []
      sharing.push({ item, agent: sanitised(agentId) })
      this.#byConversation.set(key, sharing)
    }
  }

  /** Those of one conversation; an agent that nothing names matches any. */
  claim({ agentId, conversationId }: LocalConversation): T[] {
    const key = sanitised(conversationId)
    const sharing = this.#byConversation.get(key) ?? []
    const mine = sharing.filter(({ agent }) => agentId === '' || agent === sanitised(agentId))
    this.#byConversation.set(
      key,
      sharing.filter((one) => !mine.includes(one)),
    )
    return mine.map(({ item }) => item)
  }

  rest(): T[] {
    return [...this.#byConversation.values()].flat().map(({ item }) => item)
  }
}

/** Ids as transcript directories spell them (letta-stores 5.1). */
function sanitised(id: string): string {
  return id.replace(/[^a-zA-Z0-9._-]/g, '_')
}

function fileRows(file: EvidenceFile, { home, agent, run }: Context): FileRows {
  return new FileRows(home, agent, file, run)
}

const NOTHING_KNOWN: EarlierLook = { superseded: new Set(), replaces: new Map(), times: new Map() }

/** One conversation with everything that repeats it. */
class ConversationParse {
  constructor(
    readonly conversation: StoredConversation,
    readonly transcripts: readonly EvidenceFile[],
    readonly listeners: readonly ListenerRows[],
    readonly originals: Originals | undefined,
    readonly context: Context,
  ) {}

  async *batches(): AsyncGenerator<Batch> {
    const { backups } = this.conversation
    const primary: Event[] = []
    const main = this.conversation.messages && this.#source(this.conversation.messages)
    if (main) yield* this.#firstLook(main, primary)

    const kept: Source[] = main ? [main] : []
    for (const file of backups) {
      const backup = await this.#survey(this.#source(file))
      backup.drop(pair(primary, backup.events))
      primary.push(...backup.stays())
      kept.push(backup)
    }
    const times = new Map<Event, string>()
    const copies: Source[] = []
    for (const file of this.transcripts) {
      const copy = await this.#survey(new Source(fileRows(file, this.context), () => transcripts(this.context.knowledge)))
      const pairs = pair(primary, copy.events)
      for (const [b, a] of pairs) if (!Number.isNaN(b.ms)) noteEarliest(times, a, new Date(b.ms).toISOString())
      copy.drop(pairs)
      copies.push(copy)
    }
    if (main?.withdrawn || (main?.fold?.lacksTime && times.size > 0)) yield* this.#secondLook(main, times)
    for (const backup of kept) if (backup !== main) yield* this.#emit(backup.again(times), backup)
    for (const copy of copies) yield* this.#emit(copy.again(times), copy)
    for (const listener of this.listeners) yield this.#listenerRows(listener, primary)
  }

  #source(file: EvidenceFile): Source {
    const rows = fileRows(file, this.context)
    const originals = file === this.conversation.messages ? this.originals : undefined
    return new Source(rows, (earlier) =>
      messages({ conversation: this.conversation, knowledge: this.context.knowledge, originals, earlier }),
    )
  }

  /** Yields rows as they are read, in the hope that nothing later in the file changes them; what does withdraws them. */
  async *#firstLook(main: Source, primary: Event[]): AsyncGenerator<Batch> {
    const index = new EventIndex()
    const compares = this.transcripts.length + this.conversation.backups.length + this.listeners.length > 0
    for await (const batch of main.first()) {
      if (compares) for (const row of batch) if (isEvent(row)) index.add(row)
      if (!main.fold!.hasSnapshots) yield this.#wanted(batch, main)
    }
    const { superseded } = main.fold!.snapshots()
    main.events = index.events.filter((event) => !superseded.has(event.source_line))
    primary.push(...main.events)
    if (main.fold!.hasSnapshots) main.withdrawn = true
  }

  async *#secondLook(main: Source, times: ReadonlyMap<Event, string>): AsyncGenerator<Batch> {
    yield { withdraw: main.rows.file.path }
    main.undo()
    this.originals?.forget()
    for await (const batch of main.again(times)) yield this.#wanted(batch, main)
  }

  async #survey(source: Source): Promise<Source> {
    const index = new EventIndex()
    for await (const batch of source.first()) for (const row of batch) if (isEvent(row)) index.add(row)
    const superseded = source.fold?.snapshots().superseded
    source.undo()
    source.events = superseded ? index.events.filter((event) => !superseded.has(event.source_line)) : index.events
    return source
  }

  async *#emit(batches: AsyncIterable<Row[]>, source: Source): AsyncGenerator<Batch> {
    let ordinal = -1
    const dropped = source.droppedOrdinals()
    for await (const batch of batches) yield batch.filter((row) => !isEvent(row) || !dropped.has(++ordinal) || this.#drop(source.rows))
  }

  /** Rows of copies go when only originals are wanted. */
  #wanted(batch: readonly Row[], source: Source): readonly Row[] {
    if (!this.context.run.options.originalsOnly) return batch
    return batch.filter((row) => row.details.copied_from === undefined || this.#drop(source.rows, true))
  }

  #drop({ tally }: FileRows, always = false): boolean {
    if (this.context.run.options.allSources && !always) return true
    tally.rows--
    tally.dropped++
    return false
  }

  #listenerRows(listener: ListenerRows, primary: readonly Event[]): readonly Row[] {
    const index = new EventIndex()
    const events = listener.found.filter(isEvent)
    for (const row of events) index.add(row)
    const repeated = new Set([...pair(primary, index.events).keys()].map((event) => events[event.ordinal]))
    return listener.found.filter((row) => !repeated.has(row) || this.#drop(listener.rows))
  }
}

/** Several transcript lines can repeat one message: the earliest of their times is its own. */
function noteEarliest(times: Map<Event, string>, event: Event, at: string): void {
  const before = times.get(event)
  if (before === undefined || at < before) times.set(event, at)
}

type MessagesStore = ReturnType<typeof messages>
type AnyStore = MessagesStore | ReturnType<typeof transcripts>

/** A file that may be read twice: once to see what it holds, once to give its rows. */
class Source {
  events: readonly Event[] = []
  withdrawn = false
  #store: AnyStore | undefined
  #undo: () => void = () => {}
  #dropped: ReadonlySet<Event> = new Set()

  constructor(
    readonly rows: FileRows,
    readonly storeFor: (earlier?: EarlierLook) => AnyStore,
  ) {}

  get fold() {
    return this.#store && 'folded' in this.#store ? this.#store.folded() : undefined
  }

  first(): AsyncGenerator<Row[]> {
    this.#undo = this.rows.tally.mark()
    this.#store = this.storeFor()
    return parseJsonl(this.#store as JsonlStore<unknown>, this.rows)
  }

  /** Takes the first reading out of the counts: the second one counts. */
  undo(): void {
    this.#undo()
  }

  again(times: ReadonlyMap<Event, string>): AsyncGenerator<Row[]> {
    const earlier = this.fold ? { ...NOTHING_KNOWN, ...this.fold.snapshots(), times: this.#byLine(times) } : undefined
    return parseJsonl(this.storeFor(earlier) as JsonlStore<unknown>, this.rows)
  }

  drop(pairs: ReadonlyMap<Event, Event>): void {
    this.#dropped = new Set(pairs.keys())
  }

  stays(): Event[] {
    return this.events.filter((event) => !this.#dropped.has(event))
  }

  /** By place among the rows that the second reading gives, in which superseded snapshots are missing. */
  droppedOrdinals(): Set<number> {
    return new Set([...this.events.keys()].filter((i) => this.#dropped.has(this.events[i]!)))
  }

  #byLine(times: ReadonlyMap<Event, string>): Map<number, string> {
    const byLine = new Map<number, string>()
    for (const event of this.events) {
      const at = times.get(event)
      const before = byLine.get(event.source_line)
      if (at !== undefined && (before === undefined || at < before)) byLine.set(event.source_line, at)
    }
    return byLine
  }
}
