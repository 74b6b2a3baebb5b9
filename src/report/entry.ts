import type { Row } from '../rows/index.js'
import { outcomeOf, type Outcome } from './outcome.js'

/** A row as the report shows it: secrets masked, names redacted where asked. */
export interface Entry {
  /** Position in the order of `parse`, from 0. */
  readonly index: number
  readonly row: Row
  /** What `explain --row` takes: `[USER:]FILE[:LINE]`. */
  readonly locator: string
  /** Which conversation it belongs to; empty for rows of none. */
  readonly session: string
  /** Rules that found a secret in its text. */
  readonly secrets: readonly string[]
}

/** A tool call with its result. */
export interface Call {
  readonly use: Entry
  readonly result?: Entry
  readonly outcome: Outcome
}

/** The rows of a report, with what rules and tables ask of them. */
export interface Evidence {
  readonly entries: readonly Entry[]
  readonly calls: readonly Call[]
  /** By the index of the call's row, and by that of its result. */
  readonly callAt: ReadonlyMap<number, Call>
}

/** A fork's copy of an event that stands in another conversation too: shown, but counted once. */
export function isCopy({ row }: Entry): boolean {
  return row.details.copied_from !== undefined
}

export function kindOf({ row }: Entry): string {
  return row.details.kind ?? ''
}

/** A value of a system row's text, as recorded; `-` is the absent one. */
export function value({ row }: Entry, name: string): string {
  const given = (row.details as Record<string, unknown>)[name]
  if (given === undefined || given === null) return ''
  return typeof given === 'string' ? given : JSON.stringify(given)
}

export function locator(row: Row, withUser: boolean): string {
  return `${withUser ? `${row.user}:` : ''}${row.source_file}${row.source_line === null ? '' : `:${row.source_line}`}`
}

/**
 * Rows of one conversation share a key. The id `default` stands for each agent's own default conversation (letta-stores 5.5), so there the
 * file, or the agent that the record names, belongs to the key.
 */
export function sessionKey(row: Row): string {
  if (row.session_id === '') return ''
  const agent = row.session_id === 'default' ? agentOf(row) : ''
  return [row.host, row.user, row.agent, row.session_id, agent].join('\u0000')
}

const TRANSCRIPT = /(?:^|\/)transcripts\/([^/]+)\/[^/]+\/transcript\.jsonl$/
const CONVERSATION = /(?:^|\/)conversations\/([A-Za-z0-9_-]+)\/messages\.jsonl/

/** The agent of a row, from its record or from the path of its file; empty when neither names one. */
export function agentOf(row: Row): string {
  const { agent_id } = row.details as { agent_id?: unknown }
  if (typeof agent_id === 'string' && agent_id !== '') return agent_id
  const transcript = TRANSCRIPT.exec(row.source_file)?.[1]
  if (transcript !== undefined) return transcript
  const encoded = CONVERSATION.exec(row.source_file)?.[1]
  const name = encoded === undefined ? '' : Buffer.from(encoded, 'base64url').toString('utf8')
  return name.startsWith('default:') ? name.slice('default:'.length) : ''
}

/** Puts calls and results together: by call id within a conversation, else by the line that holds both. */
export function pairCalls(entries: readonly Entry[]): Pick<Evidence, 'calls' | 'callAt'> {
  const results = new Map<string, Entry[]>()
  for (const entry of entries) {
    if (entry.row.turn_type !== 'tool_result') continue
    const key = callKey(entry)
    const waiting = results.get(key)
    if (waiting) waiting.push(entry)
    else results.set(key, [entry])
  }
  const calls: Call[] = []
  const callAt = new Map<number, Call>()
  for (const use of entries) {
    if (use.row.turn_type !== 'tool_use') continue
    const result = results.get(callKey(use))?.shift()
    const call: Call = { use, result, outcome: result ? outcomeOf(result.row) : 'not recorded' }
    calls.push(call)
    callAt.set(use.index, call)
    if (result) callAt.set(result.index, call)
  }
  return { calls, callAt }
}

function callKey({ session, row }: Entry): string {
  return row.tool_use_id === '' ? `line ${row.user} ${row.source_file}:${row.source_line}` : `id ${session} ${row.tool_use_id}`
}
