import { z } from 'zod'
import type { EvidenceFile, Line } from '../../evidence/index.js'
import { phrases, recordedTime, type Row } from '../../rows/index.js'
import { columnText } from '../columns.js'
import { NO_TIME, type FileRows, type Moment } from '../file-rows.js'
import type { JsonObject } from '../json.js'
import { originOf } from '../pi/messages.js'
import { argumentSummary } from '../pi/summary.js'
import { optionalFlag, optionalText, optionalTime } from '../shapes.js'
import { jsonlStore, type Fold, type Read } from '../store.js'
import { lookUp } from '../table.js'
import type { Knowledge } from './knowledge.js'

/**
 * transcripts/<agent>/<conversation>/transcript.jsonl: the copy of each completed turn that reflection works from, all lines of a turn
 * stamped with the time of the append (letta-stores 4.1, 5.2, 5.3; seen in 0.25.9 to 0.32.18). The absence of tool lines proves nothing:
 * only the terminal interface writes those of local tools.
 */
const TranscriptLine = z.looseObject({
  kind: optionalText,
  text: optionalText,
  name: optionalText,
  argsText: optionalText,
  resultText: optionalText,
  resultOk: optionalFlag,
  captured_at: optionalTime,
  source_line_id: optionalText,
  source_message_id: optionalText,
})
type TranscriptLine = z.infer<typeof TranscriptLine>

/** Agent and conversation as the two directory names give them. */
export interface Conversation {
  readonly agentId: string
  readonly conversationId: string
}

export function conversationOf(file: EvidenceFile): Conversation {
  const [agentId, conversationId] = file.path.split('/').slice(-3, -1)
  return { agentId: agentId ?? '', conversationId: conversationId ?? '' }
}

const LOCAL_AGENT = /^agent-local-/
/** What `letta dream --from` imported from another tool's traces. */
const DREAM_IMPORT = /^from-[a-z]+-[0-9a-f]{12}$/

const TURN_TYPES = { user: 'user', assistant: 'assistant', reasoning: 'thinking', error: 'system' } as const

export const transcripts = (knowledge: Knowledge) =>
  jsonlStore({
    id: 'transcripts',
    record: TranscriptLine,
    looksLike: (value) => typeof value.kind === 'string',
    sessionOf: (file) => conversationOf(file).conversationId,
    fold: (rows) => new TranscriptFold(rows, knowledge),
  })

class TranscriptFold implements Fold<TranscriptLine> {
  readonly #conversation: Conversation
  readonly #imported: boolean
  #namesServer: boolean

  constructor(
    readonly rows: FileRows,
    readonly knowledge: Knowledge,
  ) {
    this.#conversation = conversationOf(rows.file)
    this.#imported = DREAM_IMPORT.test(this.#conversation.conversationId)
    this.#namesServer = !this.#imported && !LOCAL_AGENT.test(this.#conversation.agentId)
  }

  line({ record, raw, complain }: Read<TranscriptLine>, line: Line): Row[] {
    const moment = this.rows.atRecord(raw.captured_at)
    const synced = this.#namesServer && moment.timestamp_utc !== '' ? this.#synced(moment) : []
    return [...synced, ...this.#turns(record, moment, line, complain)]
  }

  end(): Row[] {
    return this.#namesServer ? this.#synced(NO_TIME) : []
  }

  #synced({ timestamp_utc, details }: Moment): Row[] {
    this.#namesServer = false
    const { agentId, conversationId } = this.#conversation
    const values = { conversation_id: conversationId, agent_id: agentId, server: this.knowledge.serverOf(agentId) ?? null }
    const at = { timestamp_utc, details: { time_source: details.time_source } }
    return [this.rows.system(at, 'session-synced', phrases.syncedConversation.say(values), values, { session_id: conversationId })]
  }

  #turns(record: TranscriptLine, moment: Moment, line: Line, complain: (problem: string) => void): Row[] {
    const details = this.#details(record, moment)
    const place = { session_id: this.#conversation.conversationId, project_path: details.project_path, source_line: line.number }
    if (record.kind === 'tool_call') return this.#toolCall(record, moment, place, details.values)
    const turn_type = lookUp<(typeof TURN_TYPES)[keyof typeof TURN_TYPES]>(TURN_TYPES, record.kind)
    if (turn_type === undefined) {
      complain(`a line of an unknown kind (${columnText(record.kind) || '-'})`)
      return []
    }
    const text = columnText(record.text)
    const own = turn_type === 'system' ? { kind: 'error', error_message: text } : turn_type === 'user' ? userDetails(record, text) : {}
    return [this.rows.row(moment, { turn_type, text, ...place, details: { ...own, ...details.values } })]
  }

  #toolCall(record: TranscriptLine, moment: Moment, place: object, values: JsonObject): Row[] {
    const given = { ...place, tool_name: columnText(record.name), details: { ...values, result_ok: record.resultOk ?? null } }
    const call = this.rows.row(moment, { turn_type: 'tool_use', text: argumentSummary(record.argsText ?? undefined), ...given })
    if (isMissing(record.resultText) && isMissing(record.resultOk)) return [call]
    return [call, this.rows.row(moment, { turn_type: 'tool_result', text: columnText(record.resultText), ...given })]
  }

  #details(record: TranscriptLine, moment: Moment): { project_path: string; values: JsonObject } {
    const { agentId, conversationId } = this.#conversation
    const project = this.knowledge.projectOf(agentId, conversationId, moment.timestamp_utc)
    const values: JsonObject = {}
    if (project.from !== undefined) values.project_from = project.from
    if (typeof record.source_line_id === 'string') values.source_line_id = record.source_line_id
    if (typeof record.source_message_id === 'string') values.source_message_id = record.source_message_id
    if (this.#imported) values.origin = 'dream-import'
    return { project_path: project.project_path, values }
  }
}

function userDetails(record: TranscriptLine, text: string): JsonObject {
  const submitted = submittedAt(record.source_line_id)
  return { ...originOf([text]), ...(submitted === undefined ? {} : { submitted_at: submitted }) }
}

/** A terminal user line's id holds the time of submission: `user-<milliseconds in base 36>-<random>` (letta-stores 4.1). */
const SUBMISSION = /^user-([0-9a-z]{8})-[0-9a-z]+$/

export function submittedAt(sourceLineId: unknown): string | undefined {
  const stamp = typeof sourceLineId === 'string' ? SUBMISSION.exec(sourceLineId)?.[1] : undefined
  return stamp === undefined ? undefined : recordedTime(parseInt(stamp, 36)).iso || undefined
}

function isMissing(value: unknown): boolean {
  return value === undefined || value === null
}
