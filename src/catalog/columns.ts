import { z } from 'zod'
import { Confidence } from './schema.js'

/** Where a column's value comes from: the rule, where it can be checked, and how sure it is. */
export const ColumnRule = z.strictObject({
  column: z.string(),
  rule: z.string(),
  citation: z.array(z.string().min(1)).min(1),
  confidence: Confidence,
})
export type ColumnRule = z.output<typeof ColumnRule>

/** What of a row decides which rule holds for a column. */
export interface RowFacts {
  readonly agent: string
  readonly store: string
  readonly turn_type: string
  readonly kind: string | undefined
  readonly time_source: string
  readonly project_from: string | undefined
  /** Whether the column is empty. */
  readonly empty: boolean
}

interface Case extends Omit<ColumnRule, 'column'> {
  readonly when?: Partial<{ readonly [K in keyof RowFacts]: RowFacts[K] | readonly RowFacts[K][] }>
}

const CONVERSATIONS = ['messages', 'messages-backup'] as const
const TRANSCRIPT_CODE = 'letta-code 0.30.29 src/cli/helpers/reflection-transcript.ts:957'
const MESSAGES_CODE = 'letta-code 0.30.29 src/backend/local/local-store.ts:520-550'
const SEEN_LOCAL = 'observed 0.25.9, 0.30.28, 0.32.18'
const SEEN = 'observed 0.32.18'

const observed = (rule: string, ...citation: string[]): Omit<Case, 'when'> => ({ rule, citation, confidence: 'observed' })
const source = (rule: string, ...citation: string[]): Omit<Case, 'when'> => ({ rule, citation, confidence: 'source' })
const guess = (rule: string, ...citation: string[]): Omit<Case, 'when'> => ({ rule, citation, confidence: 'not-determined' })

/** For each column the cases, the special ones first; the first that fits holds. The last of each fits always. */
const cases: Readonly<Record<string, readonly Case[]>> = {
  timestamp_utc: [
    {
      when: { time_source: 'none' },
      ...observed('Empty: the record has no time, or one that cannot be read (details.bad_time).', 'rows, Columns'),
    },
    {
      when: { time_source: 'file-mtime' },
      ...observed(
        'The modification time of the file, since the record has none. Any change to the file moves it; details.mtime_from says who vouches for it.',
        'rows, Columns',
        'letta-stores 4.7',
        'letta-stores 4.11',
      ),
    },
    {
      when: { time_source: 'transcript' },
      ...observed(
        'The time of the transcript line that repeats the message, since the message itself holds only a counter (details.time_synthetic).',
        'rows, messages.jsonl',
        'letta-stores 4.14',
        'observed 0.25.9',
      ),
    },
    {
      when: { time_source: 'original' },
      ...observed(
        'The time of the message of which a fork made this copy (details.copied_from).',
        'rows, messages.jsonl',
        'letta-stores 5.4',
        SEEN,
      ),
    },
    {
      when: { store: 'transcripts', kind: 'session-synced' },
      ...observed('The first captured_at of the transcript that can be read.', 'rows, transcripts', 'letta-stores 4.1', SEEN),
    },
    {
      when: { store: 'transcripts' },
      ...observed(
        'captured_at: the instant at which the whole turn was appended, the same for all its lines. For a prompt typed in the terminal, details.submitted_at is the time of submission.',
        'letta-stores 4.1',
        'letta-stores 5.3',
        TRANSCRIPT_CODE,
        SEEN_LOCAL,
      ),
    },
    {
      when: { store: CONVERSATIONS },
      ...observed(
        'timestamp of the entry, else message.timestamp: prompt accepted, provider call ended, tool results handed in. In the older forms metadata.created_at.',
        'letta-stores 4.4',
        'letta-stores 5.3',
        MESSAGES_CODE,
        SEEN_LOCAL,
      ),
    },
    {
      when: { store: 'sessions' },
      ...observed(
        'timestamp (milliseconds): the end of the session.',
        'letta-stores 4.6',
        'letta-code 0.30.29 src/agent/session-history.ts:6-35',
        SEEN_LOCAL,
      ),
    },
    { when: { store: 'channels' }, ...observed('createdAt of the route.', 'letta-stores 4.12', SEEN) },
    {
      when: { store: 'crons' },
      ...observed('created_at of the task.', 'letta-stores 4.10', 'letta-code 0.30.29 src/cron/cron-file.ts:24-101', SEEN),
    },
    {
      when: { store: 'runs' },
      ...observed('ts of the line (milliseconds).', 'letta-stores 4.10', 'letta-code 0.30.29 src/cron/run-log.ts:24-47', SEEN),
    },
    {
      when: { store: 'claude-subconscious' },
      ...observed(
        'startedAt of the session file.',
        'letta-stores 7',
        'claude-subconscious 365e7e6 scripts/conversation_utils.ts',
        'observed in public repositories',
      ),
    },
    observed('The time that the record holds, in UTC with milliseconds; finer fractions are cut.', 'rows, Columns'),
  ],
  host: [
    { when: { empty: true }, ...observed('Empty: neither --host nor the evidence names the machine.', 'rows, Columns') },
    observed('--host, or the host that the manifest of the package names.', 'rows, Columns'),
  ],
  user: [observed('The last folder of the path of the home, or --user.', 'rows, Columns')],
  agent: [observed('The catalog entry whose parser read the file.', 'rows, Columns')],
  session_id: [
    {
      when: { store: 'transcripts' },
      ...observed(
        'The name of the conversation directory.',
        'letta-stores 5.1',
        'letta-code 0.30.29 src/utils/transcript-paths.ts:16',
        SEEN_LOCAL,
      ),
    },
    {
      when: { store: CONVERSATIONS },
      ...observed(
        'id of the header line; where there is none, the id in conversation.json, else the decoded name of the directory. default is the id of the default conversation of every agent.',
        'letta-stores 4.4',
        'letta-stores 5.1',
        MESSAGES_CODE,
        SEEN_LOCAL,
      ),
    },
    {
      when: { store: 'sessions' },
      ...observed('session_id: the run of the program, not a conversation.', 'letta-stores 4.6', 'letta-stores 1.3', SEEN_LOCAL),
    },
    {
      when: { store: ['crons', 'runs'] },
      ...observed('The conversation of the task; empty for new, which stands for a fresh one at each run.', 'letta-stores 4.10', SEEN),
    },
    {
      when: { store: ['channels', 'listener-state'] },
      ...observed('conversationId of the record.', 'letta-stores 4.11', 'letta-stores 4.12', SEEN),
    },
    {
      when: { store: 'settings', kind: 'session-synced' },
      ...observed('conversationId of the entry.', 'letta-stores 4.7', SEEN),
    },
    {
      when: { store: ['claude-subconscious', 'subconscious-state'] },
      ...observed(
        'The Letta conversation; details.links names the session of the other agent.',
        'letta-stores 7',
        'observed in public repositories',
      ),
    },
    { when: { empty: true }, ...observed('Empty: the record belongs to no session.', 'rows, Columns') },
    observed('The session that the record names.', 'rows, Columns'),
  ],
  project_path: [
    {
      when: { project_from: ['remote-settings.json', 'cwd-cache.json'] },
      ...observed(
        'The last working directory of the conversation in the working-directory map that details.project_from names.',
        'letta-stores 4.8',
        'letta-code 0.30.29 src/websocket/listener/remote-settings.ts:36-91',
        SEEN,
      ),
    },
    {
      when: { project_from: 'sessions.jsonl' },
      ...guess(
        'A guess by time: the directory of the session of the same agent that ended first at or after this time, else of the latest before it.',
        'rows, transcripts',
        'letta-stores 4.6',
      ),
    },
    {
      when: { store: CONVERSATIONS, empty: false },
      ...observed(
        'cwd of the header line: the directory of the process that first wrote or last rewrote the file.',
        'letta-stores 4.4',
        MESSAGES_CODE,
        SEEN_LOCAL,
      ),
    },
    { when: { store: 'sessions', empty: false }, ...observed('project of the line.', 'letta-stores 4.6', SEEN_LOCAL) },
    { when: { store: 'listener-state', empty: false }, ...observed('workingDirectory of the record.', 'letta-stores 4.11', SEEN) },
    {
      when: { store: ['settings', 'claude-subconscious'], empty: false },
      ...observed('The folder that holds .letta, as the evidence records it.', 'rows, Permission settings', 'letta-stores 4.7', SEEN_LOCAL),
    },
    { when: { empty: true }, ...observed('Empty: neither the record nor its place names a directory.', 'rows, Columns') },
    observed('The working directory that the record names.', 'rows, Columns'),
  ],
  git_branch: [
    { when: { empty: true }, ...observed('Empty: the records of this agent name no branch.', 'rows, Columns') },
    observed('The branch that the record names.', 'rows, Columns'),
  ],
  turn_type: [
    {
      when: { store: 'transcripts', turn_type: ['user', 'assistant', 'thinking'] },
      ...observed('kind of the line: user, assistant, reasoning.', 'letta-stores 4.1', TRANSCRIPT_CODE, SEEN_LOCAL),
    },
    {
      when: { store: 'transcripts', turn_type: ['tool_use', 'tool_result'] },
      ...observed(
        'A line of kind tool_call: the call, and its result when the line has one.',
        'letta-stores 4.1',
        TRANSCRIPT_CODE,
        SEEN_LOCAL,
      ),
    },
    {
      when: { store: CONVERSATIONS, turn_type: ['user', 'assistant', 'thinking', 'tool_use', 'tool_result'] },
      ...observed(
        'role of the message and type of its part.',
        'letta-stores 4.4',
        'letta-code 0.30.29 src/backend/local/local-store.ts:3172-3245',
        SEEN_LOCAL,
      ),
    },
    {
      when: { store: 'listener-state', turn_type: 'tool_result' },
      ...observed('A result of type tool in the record.', 'letta-stores 4.11', SEEN),
    },
    observed('system: the row says something about a session, not something said in it (details.kind).', 'rows, Columns'),
  ],
  model: [
    { when: { empty: true }, ...observed('Empty: records of this kind name no model.', 'rows, Columns') },
    { when: { kind: 'model' }, ...observed('The new model.', 'rows, messages.jsonl', 'letta-stores 4.4', SEEN_LOCAL) },
    observed(
      'responseModel where the provider reported one, else model of the message. local and legacy-local are placeholders.',
      'letta-stores 4.4',
      MESSAGES_CODE,
      SEEN_LOCAL,
    ),
  ],
  tool_name: [
    { when: { empty: true }, ...observed('Empty: no tool, or the record does not name it.', 'rows, Columns') },
    { when: { store: 'transcripts' }, ...observed('name of the tool_call line.', 'letta-stores 4.1', TRANSCRIPT_CODE, SEEN_LOCAL) },
    observed('name of the call; toolName of the result.', 'letta-stores 4.4', SEEN_LOCAL),
  ],
  tool_use_id: [
    {
      when: { store: 'transcripts' },
      ...observed(
        'Empty by rule; in the terminal interface source_line_id (details) is the id of the call.',
        'letta-stores 4.1',
        'rows, transcripts',
        SEEN_LOCAL,
      ),
    },
    { when: { empty: true }, ...observed('Empty: no call, or the record does not name it.', 'rows, Columns') },
    { when: { store: 'listener-state' }, ...observed('tool_call_id of the result.', 'letta-stores 4.11', SEEN) },
    observed('id of the call; toolCallId of the result.', 'letta-stores 4.4', SEEN_LOCAL),
  ],
  text: [
    {
      when: { kind: 'injected-context' },
      ...observed(
        'The text from <system-reminder> to the last </system-reminder> of the part, as recorded.',
        'letta-stores 5.5',
        'rows, messages.jsonl',
        SEEN,
      ),
    },
    {
      when: { kind: 'parser' },
      ...observed('Written by this program: which file and line, and what is wrong with it.', 'rows, What could not be read'),
    },
    { when: { store: 'transcripts', kind: 'error' }, ...observed('text of the line, as recorded.', 'letta-stores 4.1', TRANSCRIPT_CODE) },
    {
      when: { turn_type: 'system' },
      ...observed('Written by this program from the values of the record; details holds each value apart.', 'rows'),
    },
    {
      when: { turn_type: 'tool_use' },
      ...observed(
        'The argument that tells most of what the call is about, by one rule for all tools; the record holds all arguments.',
        'pi-and-claude-code 3',
        'rows, The argument summary',
      ),
    },
    {
      when: { store: 'transcripts', turn_type: 'tool_result' },
      ...observed('resultText, as recorded.', 'letta-stores 4.1', TRANSCRIPT_CODE, SEEN_LOCAL),
    },
    { when: { store: 'transcripts' }, ...observed('text of the line, as recorded.', 'letta-stores 4.1', TRANSCRIPT_CODE, SEEN_LOCAL) },
    {
      when: { store: 'listener-state' },
      ...observed('tool_return, after [error] when its status is error.', 'letta-stores 4.11', 'rows, listener-state', SEEN),
    },
    {
      when: { turn_type: 'user' },
      ...observed(
        'The text parts of the message without the context that the program added, joined with line breaks; an image as [image <type>].',
        'letta-stores 5.5',
        'rows, messages.jsonl',
        SEEN_LOCAL,
      ),
    },
    observed('The text of the part, as recorded; an image as [image <type>].', 'letta-stores 4.4', 'rows, messages.jsonl', SEEN_LOCAL),
  ],
  source_file: [
    {
      when: { store: ['settings', 'claude-subconscious'] },
      ...observed('The file: below its home, or below the recorded path of its project.', 'rows, Columns'),
    },
    observed('The file below its home; a store that had been moved stands under its usual path.', 'rows, Columns'),
  ],
  source_line: [
    { when: { empty: true }, ...observed('Empty: the row comes from the file as a whole.', 'rows, Columns') },
    observed('The line of the file, counted from 1 at each line feed.', 'rows, Columns'),
  ],
  details: [
    {
      when: { store: ['subconscious-state', 'claude-subconscious-config'] },
      ...source("The values of the record, under the record's own names.", 'letta-stores 7'),
    },
    observed("Which store, where the time comes from, and each value of the text under the record's own name.", 'rows, Columns'),
  ],
}

/** The rule behind one column of a row. */
export function columnRule(column: string, facts: RowFacts): ColumnRule {
  const found = cases[column]?.find(({ when = {} }) => fits(when, facts))
  if (!found) throw new Error(`no rule for the column ${column}`)
  return { column, rule: found.rule, citation: [...found.citation], confidence: found.confidence }
}

/** Cases that name a store without an agent are those of Letta Code: other agents have stores of the same name. */
function fits(when: NonNullable<Case['when']>, facts: RowFacts): boolean {
  if (when.store !== undefined && when.agent === undefined && facts.agent !== 'letta') return false
  return Object.entries(when).every(([key, wanted]) => {
    const value = facts[key as keyof RowFacts]
    return Array.isArray(wanted) ? wanted.includes(value) : wanted === value
  })
}
