import type { Row } from '../rows/index.js'
import { agentOf, isCopy, kindOf, value, type Entry, type Evidence } from './entry.js'
import { clip, groupBy, refer } from './quote.js'
import type { Report, Session } from './schema.js'

/** Lists inside a session's line stop here. */
const MOST = 20
const STOPPED = ['denied', 'cancelled', 'interrupted', 'closed']

/** The conversations, in order of their first row; rows that only name a conversation make none. */
export function sessionsOf(evidence: Evidence): { sessions: Session[]; keys: string[] } {
  const runs = evidence.entries.filter((entry) => kindOf(entry) === 'session-end')
  const groups = [...groupBy(evidence.entries, ({ session }) => session)].filter(
    ([key, entries]) => key !== '' && entries.some(({ row }) => row.turn_type !== 'system'),
  )
  return { keys: groups.map(([key]) => key), sessions: groups.map(([, entries]) => sessionOf(entries, evidence, runs)) }
}

function sessionOf(entries: readonly Entry[], { callAt }: Evidence, runs: readonly Entry[]): Session {
  const { row } = entries[0]!
  const times = entries.map((entry) => entry.row.timestamp_utc).filter((time) => time !== '')
  const ours = entries.filter((entry) => !isCopy(entry))
  const prompts = ours.filter((entry) => entry.row.turn_type === 'user')
  const calls = ours.filter((entry) => entry.row.turn_type === 'tool_use').map(({ index }) => callAt.get(index)!)
  const last = times.at(-1) ?? ''
  const agent_id = entries.map((entry) => agentOf(entry.row)).find((id) => id !== '') ?? ''
  const typed = prompts.find((entry) => entry.row.details.origin === undefined) ?? prompts[0]
  return {
    id: clip(row.session_id),
    host: row.host,
    user: row.user,
    agent: row.agent,
    agent_id: clip(agent_id),
    projects: distinct(entries, 'project_path'),
    models: distinct(entries, 'model'),
    first: times[0] ?? '',
    last,
    rows: entries.length,
    turns: prompts.length,
    machine_turns: prompts.filter((entry) => entry.row.details.origin !== undefined).length,
    tool_calls: calls.length,
    errors: calls.filter(({ outcome }) => outcome === 'failed').length + ours.filter((entry) => kindOf(entry) === 'error').length,
    stopped: calls.filter(({ outcome }) => STOPPED.includes(outcome)).length,
    copied: entries.length - ours.length,
    exit: exitOf(row, last, agent_id, runs),
    opening: clip(typed?.row.text ?? '', 160),
    files: distinct(entries, 'source_file'),
  }
}

function distinct(entries: readonly Entry[], column: 'project_path' | 'model' | 'source_file'): string[] {
  const values = new Set<string>()
  for (const { row } of entries) if (row[column] !== '' && values.size < MOST) values.add(clip(row[column]))
  return [...values]
}

/** A program run and its conversations share no id: the run that the last row falls into, of the same agent where both name one. */
function exitOf(row: Row, last: string, agent: string, runs: readonly Entry[]): string {
  const around = runs.filter(
    (run) =>
      run.row.user === row.user &&
      run.row.host === row.host &&
      (agent === '' || value(run, 'agent_id') === agent) &&
      startOf(run) <= last &&
      last <= run.row.timestamp_utc,
  )
  const [only] = around
  return only && around.length === 1 ? value(only, 'exit_reason') : ''
}

function startOf(run: Entry): string {
  const ms = Number(value(run, 'wall_ms'))
  const end = Date.parse(run.row.timestamp_utc)
  const start = end - ms
  return Number.isFinite(start) && start > 0 && ms >= 0 ? new Date(start).toISOString() : ''
}

export function programRuns(evidence: Evidence): Report['program_runs'] {
  return evidence.entries
    .filter((entry) => kindOf(entry) === 'session-end')
    .map((entry) => ({
      session: clip(entry.row.session_id),
      user: entry.row.user,
      agent_id: clip(value(entry, 'agent_id')),
      start: startOf(entry),
      end: entry.row.timestamp_utc,
      exit: clip(value(entry, 'exit_reason')),
      messages: clip(value(entry, 'message_count')),
      tool_calls: clip(value(entry, 'tool_call_count')),
      row: refer(entry, evidence),
    }))
}

export function agentsOf(evidence: Evidence): Report['agents'] {
  const named = evidence.entries.filter((entry) => agentOf(entry.row) !== '')
  return [...groupBy(named, ({ row }) => [row.user, row.agent, agentOf(row)].join('\u0000')).values()].map((entries) => {
    const { row } = entries[0]!
    const times = entries.map((entry) => entry.row.timestamp_utc).filter((time) => time !== '')
    return {
      agent: row.agent,
      agent_id: clip(agentOf(row)),
      user: row.user,
      sessions: new Set(entries.filter((entry) => entry.session !== '' && kindOf(entry) !== 'session-end').map(({ session }) => session))
        .size,
      rows: entries.length,
      first: times[0] ?? '',
      last: times.at(-1) ?? '',
    }
  })
}
