import type { Row } from '../../src/rows/index.js'
import { jsonLines } from './fixtures.js'

/** Made-up conversations in the layout of the local backend (letta-stores 4.4, 5.1). */
export const AGENT = 'agent-local-1'
export const START = Date.parse('2026-10-05T09:00:00.000Z')
/** The time `seconds` after the start, as a record has it. */
export const at = (seconds: number) => new Date(START + seconds * 1000).toISOString()

export type Content = string | readonly object[]

interface Placed {
  /** Seconds after the start. */
  readonly s?: number
  /** The entry's own time, where it is another. */
  readonly timestamp?: unknown
  /** `message.timestamp`, where it is another; `null` leaves it out. */
  readonly stamp?: unknown
  readonly id?: string
}

let next = 0

/** A schema 2 entry around a message. */
export function entry(
  message: object,
  { s = 0, timestamp = at(s), stamp = START + s * 1000, id = `ui-msg-${++next}` }: Placed = {},
): object {
  const own = stamp === null ? {} : { timestamp: stamp }
  return { type: 'message', id: `e${next}`, parentId: null, timestamp, message: { id, ...message, ...own } }
}

export const user = (content: Content, placed?: Placed) =>
  entry({ role: 'user', content: typeof content === 'string' ? [{ type: 'text', text: content }] : content }, placed)
export const assistant = (content: Content, placed?: Placed & { readonly with?: object }) =>
  entry(
    {
      role: 'assistant',
      content: typeof content === 'string' ? [{ type: 'text', text: content }] : content,
      provider: 'prov',
      model: 'm-1',
      stopReason: 'stop',
      ...placed?.with,
    },
    placed,
  )
export const toolResult = (toolCallId: string, content: Content, placed?: Placed & { readonly isError?: boolean }) =>
  entry(
    {
      role: 'toolResult',
      toolCallId,
      toolName: 'Bash',
      content: typeof content === 'string' ? [{ type: 'text', text: content }] : content,
      isError: placed?.isError ?? false,
    },
    placed,
  )
export const call = (id: string, args: unknown, name = 'Bash') => ({ type: 'toolCall', id, name, arguments: args })

interface About {
  readonly agent?: string
  readonly created?: string
  readonly cwd?: string
  /** Whether conversation.json stands beside the messages. */
  readonly record?: boolean
}

export const directoryOf = (id: string, agent = AGENT) =>
  `.letta/lc-local-backend/conversations/${Buffer.from(id === 'default' ? `default:${agent}` : `conversation:${id}`).toString('base64url')}`

/** The files of one conversation, its header included. */
export function conversation(id: string, about: About, ...entries: readonly object[]): Record<string, string> {
  const { agent = AGENT, created = at(0), cwd = '/home/alice/work', record = true } = about
  const header = { type: 'session', version: 3, id, timestamp: created, cwd }
  const conversationRecord = { id, agent_id: agent, created_at: created, archived: false }
  return {
    [`${directoryOf(id, agent)}/messages.jsonl`]: jsonLines(header, ...entries),
    ...(record ? { [`${directoryOf(id, agent)}/conversation.json`]: JSON.stringify(conversationRecord) } : {}),
  }
}

export const transcriptOf = (id: string, agent = AGENT) => `.letta/transcripts/${agent}/${id}/transcript.jsonl`

/** What a test of texts looks at. */
export const shown = (rows: readonly Row[]) => rows.map((row) => [row.details.kind ?? row.turn_type, row.text])
/** The same without model rows, which most tests are not about. */
export const turns = (rows: readonly Row[]) => shown(rows.filter((row) => row.details.kind !== 'model'))
