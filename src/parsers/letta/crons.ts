import { z } from 'zod'
import { phrases, recordedTime, type Row } from '../../rows/index.js'
import { columnText } from '../columns.js'
import type { FileRows, Moment } from '../file-rows.js'
import { isObject, type JsonObject } from '../json.js'
import { optionalText, optionalTime } from '../shapes.js'
import { jsonlStore, jsonStore } from '../store.js'

/** crons.json: the local scheduled tasks; fired, missed and cancelled ones leave the file after a day (letta-stores 4.10; seen in 0.32.18). */
const CronFile = z.looseObject({
  version: z.unknown().optional(),
  scheduler_owner: z.unknown().optional(),
  scheduler_owners: z.unknown().optional(),
  tasks: z.unknown().optional(),
})

export const crons = jsonStore({
  id: 'crons',
  record: CronFile,
  rows({ record }, rows) {
    const tasks: unknown = record.tasks
    if (!Array.isArray(tasks)) return [rows.problem('no list of tasks')]
    return tasks.map((task: unknown, i) => (isObject(task) ? scheduled(task, rows) : rows.problem(`field tasks.${i} is not an object`)))
  },
})

/** The task's values that a row shows, under the record's own names. */
const SHOWN = [
  'id',
  'name',
  'description',
  'cron',
  'timezone',
  'recurring',
  'prompt',
  'status',
  'agent_id',
  'conversation_id',
  'fire_count',
  'cancel_reason',
  'last_run_outcome',
  'last_run_reason',
  'last_run_error',
]
const SHOWN_TIMES = ['scheduled_for', 'last_fired_at', 'last_run_at']

function scheduled(task: JsonObject, rows: FileRows): Row {
  const moment = withBadTimes(
    rows.atRecordOrMtime(task.created_at, 'created_at'),
    SHOWN_TIMES.map((name) => task[name]),
  )
  const values = {
    ...Object.fromEntries(SHOWN.map((name) => [name, task[name]])),
    ...Object.fromEntries(SHOWN_TIMES.map((name) => [name, utc(task[name])])),
    file: rows.file.shortPath,
    time_from: moment.from,
  }
  return rows.system(moment, 'scheduled-task', phrases.scheduledTask.say(values), values, {
    session_id: conversation(task.conversation_id),
  })
}

/** runs/<task id>.jsonl: one line per time that a task came due; outlasts the task (letta-stores 4.10; seen in 0.32.18). */
const RunLine = z.looseObject({
  ts: optionalTime,
  jobId: optionalText,
  action: optionalText,
  status: optionalText,
  outcome: optionalText,
  reason: optionalText,
  error: optionalText,
  summary: optionalText,
  agentId: optionalText,
  conversationId: optionalText,
  runId: optionalText,
  runAtMs: optionalTime,
  queueItemId: optionalText,
  scheduledFor: optionalTime,
  firedAt: optionalTime,
  missedCount: z.unknown().optional(),
  windowStart: optionalTime,
  windowEnd: optionalTime,
})

export const runs = jsonlStore({
  id: 'runs',
  record: RunLine,
  lossless: true,
  looksLike: (value) => 'jobId' in value || 'ts' in value,
  fold: (rows) => ({ line: ({ raw }, { number }) => [run(raw, number, rows)] }),
})

function run(raw: JsonObject, source_line: number, rows: FileRows): Row {
  const moment = withBadTimes(rows.atRecord(raw.ts), [raw.scheduledFor, raw.firedAt])
  const values = {
    job_id: raw.jobId,
    action: raw.action,
    status: raw.status,
    outcome: raw.outcome,
    reason: raw.reason,
    agent_id: raw.agentId,
    conversation_id: raw.conversationId,
    run_id: raw.runId,
    scheduled_for: utc(raw.scheduledFor),
    fired_at: utc(raw.firedAt),
    missed_count: raw.missedCount,
    summary: raw.summary,
    error: raw.error,
    file: rows.file.shortPath,
    time_from: 'ts',
  }
  const place = { session_id: conversation(raw.conversationId), source_line }
  return rows.system(moment, 'scheduled-task-run', phrases.scheduledTaskRun.say(values), values, place)
}

/** A task for `new` starts a fresh conversation each time: it names none. */
function conversation(recorded: unknown): string {
  return recorded === 'new' ? '' : columnText(recorded)
}

/** Puts the first time that could not be read on record: the row's own, else one that its text shows. */
function withBadTimes<M extends Moment>(moment: M, shown: readonly unknown[]): M {
  const bad_time = moment.details.bad_time ?? shown.map((value) => recordedTime(value).bad).find((bad) => bad !== undefined)
  return bad_time === undefined ? moment : { ...moment, details: { ...moment.details, bad_time } }
}

function utc(value: unknown): string | null {
  return recordedTime(value).iso || null
}
