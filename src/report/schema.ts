import { z } from 'zod'
import { OUTCOMES } from './outcome.js'

const Count = z.number().int()

/** A row as findings and tables point at it. */
const RowRef = z.strictObject({
  row: Count.describe('position in the order of `parse` with the same filters, from 1'),
  locator: z.string().describe('what `explain --row` takes'),
  time: z.string(),
  turn_type: z.string(),
  session: z.string().describe('conversation or session id'),
  outcome: z.enum(OUTCOMES).optional().describe('of a call, as far as its result says'),
  quote: z.string().describe('the beginning of its text, secrets masked'),
})

/** A list that is cut for size says how many it leaves out. */
const listed = <T extends z.ZodType>(item: T) => z.strictObject({ items: z.array(item), more: Count })

const Seen = { count: Count, first: z.string(), last: z.string(), row: RowRef.optional() }

/** The triage report as JSON. Rows themselves are what `parse` writes; the report points at them. */
export const Report = z.strictObject({
  report: z.literal('agent-forensics report'),
  head: z.strictObject({
    case: z.string().nullable(),
    examiner: z.string().nullable(),
    made: z.string(),
    tool: z.strictObject({ name: z.string(), version: z.string() }),
    arguments: z.array(z.string()),
    plugins: z.array(
      z.strictObject({ agent: z.string(), title: z.string(), plugin: z.string(), version: z.string(), catalog: z.string() }),
    ),
    redacted: z.boolean().describe('whether users, hosts and home paths are pseudonyms'),
    evidence: z.array(
      z.strictObject({
        user: z.string(),
        host: z.string(),
        directory: z.string(),
        agent: z.string(),
        files: Count,
        bytes: Count,
        rows: Count,
      }),
    ),
    packages: z.array(z.strictObject({ package: z.string(), manifest_sha256: z.string() })),
    rows: Count,
    rows_without_time: Count,
    copied_rows: Count,
    first: z.string(),
    last: z.string(),
    turn_types: z.record(z.string(), Count),
    read: z.array(
      z.strictObject({
        user: z.string(),
        agent: z.string(),
        store: z.string(),
        title: z.string(),
        proves: z.string(),
        files: Count,
        rows: Count,
        dropped: Count,
        replaced: Count,
        unreadable: Count,
      }),
    ),
    not_read: z.array(z.strictObject({ id: z.string(), statement: z.string(), ...listed(z.string()).shape })),
    caveats: z.array(z.string()),
  }),
  findings: z.array(
    z.strictObject({
      id: z.string(),
      rank: z.union([z.literal(1), z.literal(2), z.literal(3)]).describe('1 look here first, 2 look here too, 3 good to know'),
      title: z.string(),
      says: z.string().describe('what the record shows'),
      reason: z.string(),
      caveat: z.string(),
      count: Count,
      rows: listed(RowRef),
    }),
  ),
  sessions: z.array(
    z.strictObject({
      id: z.string(),
      host: z.string(),
      user: z.string(),
      agent: z.string(),
      agent_id: z.string(),
      projects: z.array(z.string()),
      models: z.array(z.string()),
      first: z.string(),
      last: z.string(),
      rows: Count,
      turns: Count.describe('prompts, copies left out'),
      machine_turns: Count.describe('prompts that a program wrote: tasks, channels, notifications'),
      tool_calls: Count,
      errors: Count.describe('failed calls and errors of the model'),
      stopped: Count.describe('denied, cancelled and interrupted calls'),
      copied: Count.describe('rows that a fork copied'),
      exit: z.string().describe('how the program run ended in which the last row stands, by time and agent; empty when unknown'),
      opening: z.string().describe('the beginning of the first prompt'),
      files: z.array(z.string()),
    }),
  ),
  program_runs: z.array(
    z.strictObject({
      session: z.string(),
      user: z.string(),
      agent_id: z.string(),
      start: z.string(),
      end: z.string(),
      exit: z.string(),
      messages: z.string(),
      tool_calls: z.string(),
      row: RowRef,
    }),
  ),
  activity: z.array(z.strictObject({ day: z.string(), turns: z.record(z.string(), Count) })),
  tools: z.array(z.strictObject({ name: z.string(), calls: Count, outcomes: z.partialRecord(z.enum(OUTCOMES), Count) })),
  commands: listed(z.strictObject({ text: z.string(), tool: z.string(), outcomes: z.partialRecord(z.enum(OUTCOMES), Count), ...Seen })),
  paths: listed(z.strictObject({ path: z.string(), tools: z.array(z.string()), ...Seen })),
  directories: listed(z.strictObject({ path: z.string(), ...Seen })),
  hosts: listed(z.strictObject({ host: z.string(), urls: z.array(z.string()), ...Seen })),
  permissions: z.array(
    z.strictObject({ scope: z.string(), user: z.string(), key: z.string(), value: z.string(), time: z.string(), row: RowRef }),
  ),
  modes: z.array(z.strictObject({ mode: z.string(), session: z.string(), ...Seen })),
  credentials: listed(
    z.strictObject({ user: z.string(), path: z.string(), title: z.string(), handling: z.string(), keys: z.array(z.string()) }),
  ),
  tasks: z.array(
    z.strictObject({
      id: z.string(),
      name: z.string(),
      status: z.string(),
      when: z.string(),
      prompt: z.string(),
      runs: Count,
      last_run: z.string(),
      row: RowRef.optional(),
    }),
  ),
  channels: z.array(
    z.strictObject({
      channel: z.string(),
      chat: z.string(),
      account: z.string(),
      agent_id: z.string(),
      session: z.string(),
      enabled: z.string(),
      row: RowRef,
    }),
  ),
  agents: z.array(
    z.strictObject({
      agent: z.string(),
      agent_id: z.string(),
      user: z.string(),
      sessions: Count,
      rows: Count,
      first: z.string(),
      last: z.string(),
    }),
  ),
  unreadable: listed(RowRef),
})
export type Report = z.infer<typeof Report>
export type Finding = Report['findings'][number]
export type Session = Report['sessions'][number]
export type RowRef = z.infer<typeof RowRef>
export interface Listed<T> {
  items: T[]
  more: number
}
