import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { EvidenceFile, Line } from '../../evidence/index.js'
import { isAbsent, phrases, recordedKeys, type Row } from '../../rows/index.js'
import { columnText } from '../columns.js'
import { atOriginal, type Copies } from '../copies.js'
import type { FileRows, Turn } from '../file-rows.js'
import { isObject, losslessAt, type JsonObject } from '../json.js'
import type { Projects } from '../projects.js'
import { known, optionalFlag, optionalId, optionalText, optionalTime } from '../shapes.js'
import type { Fold, JsonlStore, Read } from '../store.js'
import { lookUp } from '../table.js'
import { Branches, type Place } from './branches.js'
import { assistantTurns, Message, ModelTrack, plainText, toolResultTurns, type Turns } from './messages.js'
import { argumentSummary } from './summary.js'

/** What pi adds to the messages of pi-ai (pi-and-claude-code 1.5; seen in 0.73.1 and 1.6.0). */
const PiMessage = Message.extend({
  command: optionalText,
  output: optionalText,
  exitCode: z.unknown().optional(),
  cancelled: optionalFlag,
  truncated: optionalFlag,
  fullOutputPath: optionalText,
  excludeFromContext: optionalFlag,
  customType: optionalText,
  sections: z.record(z.string(), z.unknown()).nullish(),
  toolsAdded: z.array(z.unknown()).nullish(),
  toolsRemoved: z.array(z.unknown()).nullish(),
  nestedCalls: z.looseObject({ calls: z.array(z.unknown()).nullish(), complete: optionalFlag }).nullish(),
  summary: z.unknown().optional(),
  fromId: z.unknown().optional(),
  tokensBefore: z.unknown().optional(),
  ...known('details display rawStopReason durationMs thinkingLevel providerThinkingLevel deferred endTurn'),
})
type PiMessage = z.infer<typeof PiMessage>

/** One line of a session file: the header, or an entry of its tree (pi-and-claude-code 1.3, 1.4; seen in 0.73.1 and 1.6.0). */
const Entry = z.looseObject({
  type: optionalText,
  id: optionalId,
  parentId: optionalId,
  timestamp: optionalTime,
  version: z.unknown().optional(),
  cwd: optionalText,
  parentSession: optionalText,
  branchedFrom: optionalText,
  message: PiMessage.nullish(),
  summary: z.unknown().optional(),
  firstKeptEntryId: z.unknown().optional(),
  firstKeptEntryIndex: z.unknown().optional(),
  tokensBefore: z.unknown().optional(),
  fromId: z.unknown().optional(),
  targetId: z.unknown().optional(),
  label: z.unknown().optional(),
  name: z.unknown().optional(),
  thinkingLevel: z.unknown().optional(),
  customType: optionalText,
  content: z.union([z.string(), z.array(z.unknown())]).nullish(),
  replacement: z.unknown().optional(),
  ...known('provider modelId model details fromHook usage systemMessage data display kind'),
})
type Entry = z.infer<typeof Entry>

/** The newest header version whose files were seen; larger ones are read in the same way, and said to be. */
const NEWEST_VERSION = 3

export interface SessionContext {
  readonly projects: Projects
  /** Absent where no file of the home is a fork. */
  readonly copies?: Copies
}

/** sessions/**: one file for each session, a header and the entries of a tree in the order in which they were appended. */
export const sessions = (context: SessionContext): JsonlStore<Entry> => ({
  id: 'sessions',
  record: Entry,
  looksLike: (value) => typeof value.type === 'string' && ('timestamp' in value || 'id' in value),
  sessionOf,
  fold: (rows) => new SessionFold(rows, context),
})

/** `<start>_<id>.jsonl`; very old builds and callers name files as they like. */
function sessionOf({ path }: EvidenceFile): string {
  const name = path.slice(path.lastIndexOf('/') + 1).replace(/\.jsonl$/, '')
  return /^\d{4}-\d\d-\d\dT[^_]*_(.+)$/s.exec(name)?.[1] ?? name
}

/** What one entry gives: turns, or nothing to show. */
type Given = Turns
const NOTHING: Given = { turns: [], empty: 1, odd: [] }

class SessionFold implements Fold<Entry> {
  readonly #models = new ModelTrack()
  readonly #branches = new Branches()
  #sessionId: string
  #cwd = ''
  #isFork = false

  constructor(
    readonly rows: FileRows,
    readonly context: SessionContext,
  ) {
    this.#sessionId = sessionOf(rows.file)
  }

  line({ record, complain }: Read<Entry>, line: Line): Row[] {
    if (record.type === 'session') return this.#header(record, complain)
    const place = this.#branches.place(record.id, record.parentId)
    const reader = lookUp(ENTRIES, record.type)
    if (!reader) {
      complain(`an entry of an unknown type (${columnText(record.type) || '-'})`)
      return []
    }
    const { turns, empty, odd } = reader(record, this.#models, line)
    this.rows.tally.empty += empty
    odd.forEach(complain)
    return this.#emit(turns, record, place, line)
  }

  end(): Row[] {
    this.context.copies?.endOfFile()
    return []
  }

  #header(header: Entry, complain: (problem: string) => void): Row[] {
    this.rows.tally.headers++
    this.#sessionId = columnText(header.id) || this.#sessionId
    this.#cwd = columnText(header.cwd)
    this.#isFork = columnText(header.parentSession) !== '' || columnText(header.branchedFrom) !== ''
    this.context.projects.name(this.#cwd)
    if (Number(header.version ?? 1) > NEWEST_VERSION)
      complain(`header version ${columnText(header.version)} is newer than the known ones; read as version ${NEWEST_VERSION}`)
    return []
  }

  #emit(turns: readonly Turn[], entry: Entry, place: Place, line: Line): Row[] {
    const recorded = this.rows.atRecord(isAbsent(entry.timestamp) ? entry.message?.timestamp : entry.timestamp)
    const original = this.#original(entry, line)
    const moment = original ? atOriginal(recorded) : recorded
    const shared: JsonObject = { ...place }
    if (!isAbsent(entry.id)) shared.entry_id = columnText(entry.id)
    if (original) shared.copied_from = original
    const where = { session_id: this.#sessionId, project_path: this.#cwd, source_line: line.number }
    const rows = turns.map(({ details, ...turn }) => this.rows.row(moment, { ...turn, ...where, details: { ...details, ...shared } }))
    if (!original) return rows
    this.rows.tally.copied += rows.length
    if (!this.rows.run.options.originalsOnly) return rows
    this.rows.tally.rows -= rows.length
    this.rows.tally.dropped += rows.length
    return []
  }

  /** In a fork: where the same entry stood before. Entries that stand here first are remembered. */
  #original(entry: Entry, line: Line) {
    const { copies } = this.context
    if (!copies) return undefined
    const key = keyOf(entry, line)
    const original = this.#isFork ? copies.find(key) : undefined
    if (!original) copies.add(key, { session_id: this.#sessionId, source_file: this.rows.file.path, source_line: line.number })
    return original
  }
}

/** What a copy keeps: id and time; a label, which is written anew, its target and time; without ids, the whole line. */
function keyOf({ type, id, targetId, timestamp }: Entry, line: Line): string {
  if (type === 'label') return `label ${columnText(targetId)} ${columnText(timestamp)}`
  if (!isAbsent(id)) return `${columnText(id)} ${columnText(timestamp)}`
  return createHash('sha256').update(line.text).digest('base64')
}

type EntryReader = (entry: Entry, models: ModelTrack, line: Line) => Given

/** Every type of entry, and the turns that it gives (pi-and-claude-code 1.7). */
const ENTRIES: Record<string, EntryReader> = {
  message: (entry, models, line) => (entry.message ? messageTurns(entry.message, models, line) : odd('no message in the record')),
  compaction: (entry) => one(compaction(entry)),
  branch_summary: (entry) => one(branchSummary(entry)),
  custom_message: (entry) => customMessage(entry.customType, entry.content),
  session_info: ({ name }) => one(system('session-name', phrases.sessionName.say({ name }), { name })),
  label: ({ label, targetId }) => {
    const values = { label, target_id: targetId }
    return one(system('label', phrases.label.say(values), values))
  },
  thinking_level_change: ({ thinkingLevel: level }) => one(system('thinking-level', phrases.thinkingLevel.say({ level }), { level })),
  context_edit: ({ targetId, replacement }) => {
    const values = { target_id: targetId, edit: isAbsent(replacement) ? 'omitted' : 'replaced' }
    return one(system('context-edit', phrases.contextEdit.say(values), values))
  },
  model_change: () => NOTHING,
  usage: () => NOTHING,
  custom: () => NOTHING,
}

type MessageReader = (message: PiMessage, models: ModelTrack, line: Line) => Given

/** Every role of a message. The last two stand in memory only, as far as is known. */
const ROLES: Record<string, MessageReader> = {
  user: (message) => {
    const { text, odd } = plainText(message.content)
    return text.trim() === '' ? { ...NOTHING, odd } : { turns: [{ turn_type: 'user', text }], empty: 0, odd }
  },
  assistant: (message, models, line) =>
    assistantTurns(message, models, (part) => losslessAt(line.text, ['message', 'content', part, 'arguments'])),
  toolResult: (message) => {
    const { turns, ...rest } = toolResultTurns(message)
    return { ...rest, turns: [...nestedCalls(message), ...turns] }
  },
  bashExecution: bashTurns,
  custom: (message) => customMessage(message.customType, message.content),
  hookMessage: (message) => customMessage(message.customType, message.content),
  system: systemPrompt,
  branchSummary: (message) => one(branchSummary(message)),
  compactionSummary: (message) => one(compaction(message)),
}

function messageTurns(message: PiMessage, models: ModelTrack, line: Line): Given {
  const reader = lookUp(ROLES, message.role)
  return reader ? reader(message, models, line) : odd(`a message of an unknown role (${columnText(message.role) || '-'})`)
}

function one(turn: Turn): Given {
  return { turns: [turn], empty: 0, odd: [] }
}

function odd(problem: string): Given {
  return { turns: [], empty: 0, odd: [problem] }
}

function system(kind: string, text: string, values: JsonObject): Turn {
  return { turn_type: 'system', text, details: { kind, ...values } }
}

/** Version 1 counts lines in place of naming the entry. */
function compaction(entry: Pick<Entry, 'summary' | 'tokensBefore' | 'firstKeptEntryId' | 'firstKeptEntryIndex'>): Turn {
  const first_kept = entry.firstKeptEntryId ?? entry.firstKeptEntryIndex
  const values = { tokens_before: entry.tokensBefore, first_kept, summary: entry.summary }
  return system('compaction', phrases.compaction.say(values), values)
}

function branchSummary({ fromId, summary }: Pick<Entry, 'fromId' | 'summary'>): Turn {
  const values = { from_id: fromId, summary }
  return system('branch-summary', phrases.branchSummary.say(values), values)
}

/** Text that an extension put into the conversation. */
function customMessage(custom_type: unknown, content: Entry['content']): Given {
  const { text, odd } = plainText(content)
  return text === '' ? { ...NOTHING, odd } : { turns: [system('custom-message', text, { custom_type })], empty: 0, odd }
}

/** The user's own command: `!` sends its output to the model, `!!` keeps it. */
function bashTurns(message: PiMessage): Given {
  const excluded = message.excludeFromContext === true
  const text = `${excluded ? '!!' : '!'}${columnText(message.command)}`
  const details: JsonObject = { exit_code: message.exitCode ?? null, cancelled: message.cancelled ?? null, exclude_from_context: excluded }
  if (message.truncated === true) details.truncated = true
  if (!isAbsent(message.fullOutputPath)) details.full_output_path = message.fullOutputPath
  return {
    turns: [
      { turn_type: 'user', text, details: { exclude_from_context: excluded } },
      { turn_type: 'tool_result', text: columnText(message.output), tool_name: 'bash', details },
    ],
    empty: 0,
    odd: [],
  }
}

/** Which parts of the instructions were set and which tools came and went; the body is large and the program's own. */
function systemPrompt(message: PiMessage): Given {
  const sections = message.sections ? [...recordedKeys(message.sections)] : []
  const values = { sections, tools_added: namesOf(message.toolsAdded), tools_removed: namesOf(message.toolsRemoved) }
  const text = phrases.systemPrompt.say({
    sections: sections.join(','),
    tools_added: values.tools_added.join(','),
    tools_removed: values.tools_removed.join(','),
  })
  return one(system('system-prompt', text, values))
}

function namesOf(tools: readonly unknown[] | null | undefined): string[] {
  return (tools ?? []).map((tool) => columnText(isObject(tool) ? tool.name : tool))
}

/** Calls that a tool made by itself (1.x): recorded with its result only (source read, not observed). */
function nestedCalls(message: PiMessage): Turn[] {
  return (message.nestedCalls?.calls ?? []).filter(isObject).map((call) => ({
    turn_type: 'tool_use',
    text: argumentSummary(call.arguments),
    tool_name: columnText(call.name),
    tool_use_id: columnText(call.id),
    details: { nested_in: columnText(message.toolCallId), status: call.status ?? null, error: call.error ?? null },
  }))
}
