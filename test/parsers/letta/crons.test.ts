import fs from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { jsonLines, makeHome, parse } from '../../helpers/fixtures.js'

const MTIME = 1796061332.062
const ISO = '2026-11-30T17:55:32.062Z'

async function rowsOf(files: Record<string, string>) {
  const home = makeHome(files)
  for (const name of Object.keys(files)) fs.utimesSync(path.join(home, name), MTIME, MTIME)
  return (await parse({ homes: [home] })).rows
}
const crons = (...tasks: unknown[]) => ({ '.letta/crons.json': JSON.stringify({ version: 1, scheduler_owner: null, tasks }) })
const task = {
  id: 'af03e823',
  agent_id: 'agent-1',
  conversation_id: 'conv-1',
  name: 'weekly',
  description: 'of the week',
  cron: '0 9 * * 1',
  timezone: 'Europe/Berlin',
  recurring: true,
  prompt: 'report\nin two lines',
  status: 'active',
  created_at: '2026-11-01T10:00:00.000+01:00',
  fire_count: 2,
  cancel_reason: null,
  last_fired_at: '2026-11-23T09:00:00.1239Z',
  last_run_at: '2026-11-23T10:00:00+01:00',
  last_run_outcome: 'queued',
  last_run_reason: 'scheduled_time_matched',
  last_run_error: null,
  scheduled_for: null,
}

describe('crons.json', () => {
  test('a task is a row at its creation, its times in UTC cut to milliseconds', async () => {
    const [row, ...others] = await rowsOf(crons(task))
    expect(others).toEqual([])
    expect(row!.text).toBe(
      'scheduled task: af03e823 name=weekly status=active cron=0 9 * * 1 timezone=Europe/Berlin recurring=true scheduled_for=- agent=agent-1 conversation=conv-1 fire_count=2 last_fired=2026-11-23T09:00:00.123Z last_run=2026-11-23T09:00:00.000Z outcome=queued reason=scheduled_time_matched error=- cancel_reason=- (from .letta/crons.json, created_at) description: of the week prompt: report\nin two lines',
    )
    expect(row).toMatchObject({ timestamp_utc: '2026-11-01T09:00:00.000Z', session_id: 'conv-1', source_line: null })
    expect(row!.details).toMatchObject({
      store: 'crons',
      kind: 'scheduled-task',
      time_source: 'record',
      id: 'af03e823',
      fire_count: 2,
      recurring: true,
    })
  })

  test.each([[undefined], [null], ['soon']])('created at %p it stands at the time of the file, and says so', async (created_at) => {
    const [row] = await rowsOf(crons({ ...task, created_at }))
    expect(row!.text).toContain('(from .letta/crons.json, file mtime) description:')
    expect(row!.timestamp_utc).toBe(ISO)
    expect([row!.details.time_source, row!.details.bad_time]).toEqual(['file-mtime', created_at === 'soon' ? 'soon' : undefined])
  })

  test('for a new conversation it names none', async () => {
    const [row] = await rowsOf(crons({ ...task, conversation_id: 'new' }))
    expect([row!.session_id, row!.text.includes('conversation=new')]).toEqual(['', true])
  })

  test('a time in its text that cannot be read is -, and on record', async () => {
    const [row] = await rowsOf(crons({ ...task, last_fired_at: 'tomorrow' }))
    expect(row!.text).toContain('last_fired=- ')
    expect(row!.details.bad_time).toBe('tomorrow')
  })

  test('an entry that is no task is named, the others stay', async () => {
    const rows = await rowsOf(crons(task, 7, { ...task, id: 'b' }))
    expect(rows.map((row) => row.details.kind).sort()).toEqual(['parser', 'scheduled-task', 'scheduled-task'])
  })

  test.each(['{}', '{"tasks":null}', '{"tasks":{}}', '[]'])(
    '%s has no list of tasks: a parser row at the time of the file',
    async (text) => {
      const rows = await rowsOf({ '.letta/crons.json': text })
      expect(rows.map((row) => [row.details.kind, row.timestamp_utc])).toEqual([['parser', ISO]])
    },
  )
})

describe('runs/<task id>.jsonl', () => {
  const run = {
    ts: 1796061332062,
    jobId: 'af03e823',
    action: 'finished',
    status: 'ok',
    outcome: 'queued',
    reason: 'scheduled_time_matched',
    agentId: 'agent-1',
    conversationId: 'local-conv-2',
    runId: 'run-1',
    scheduledFor: '2026-11-30T17:55:00.000Z',
    firedAt: 1796061332000,
    missedCount: 0,
    summary: '',
  }

  test('a line is a row at its time', async () => {
    const [row, ...others] = await rowsOf({ '.letta/runs/af03e823.jsonl': jsonLines(run) })
    expect(others).toEqual([])
    expect(row!.text).toBe(
      'scheduled task run: af03e823 action=finished status=ok outcome=queued reason=scheduled_time_matched agent=agent-1 conversation=local-conv-2 run=run-1 scheduled_for=2026-11-30T17:55:00.000Z fired=2026-11-30T17:55:32.000Z missed=0 summary=- error=- (from .letta/runs/af03e823.jsonl, ts)',
    )
    expect(row).toMatchObject({ timestamp_utc: ISO, session_id: 'local-conv-2', source_line: 1 })
    expect(row!.details).toMatchObject({ store: 'runs', kind: 'scheduled-task-run', job_id: 'af03e823', missed_count: 0 })
  })

  test('for a new conversation it names none; without a time it has none', async () => {
    const rows = await rowsOf({ '.letta/runs/a.jsonl': jsonLines({ ...run, conversationId: 'new', ts: undefined }) })
    expect(rows.map((row) => [row.session_id, row.timestamp_utc, row.details.time_source])).toEqual([['', '', 'none']])
  })

  test('a cut last line, as trimming leaves it, is named', async () => {
    const rows = await rowsOf({ '.letta/runs/a.jsonl': `${jsonLines(run)}{"ts":17960613` })
    expect(rows.map((row) => [row.details.kind, row.source_line])).toEqual([
      ['scheduled-task-run', 1],
      ['parser', 2],
    ])
  })
})
