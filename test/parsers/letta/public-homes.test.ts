import fs from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { turns } from '../../helpers/conversations.js'
import { parse, SHARED } from '../../helpers/fixtures.js'
import { scratch, skipLoudly } from '../../helpers/places.js'

const PUBLIC = path.join(SHARED, 'evidence/public')
const found = fs.existsSync(PUBLIC)
if (!found) skipLoudly(`the public home samples are not at ${PUBLIC}`)

/** Home folders from test suites and repositories of others; what each holds is told in their CASES.md. */
;(found ? describe : describe.skip)('the public home', () => {
  const copies = scratch('public-homes')
  const read = async (name: string) => {
    const home = path.join(copies, name, 'home/alice')
    fs.cpSync(path.join(PUBLIC, name), home, { recursive: true })
    return (await parse({ homes: [home] })).rows
  }
  const problems = (rows: Awaited<ReturnType<typeof read>>) =>
    rows.filter((row) => row.details.kind === 'parser').map((row) => [row.source_line, row.session_id])

  test('01, user settings of defaults only, gives no row', async () => {
    expect(await read('home-01')).toEqual([])
  })

  test('02, schema 1 without a header, gives its message, in the session of conversation.json', async () => {
    const rows = await read('home-02')
    expect(rows.map((row) => [row.turn_type, row.text, row.session_id, row.timestamp_utc, row.source_line])).toEqual([
      ['user', 'schema one row', 'default', '2000-01-01T00:00:00.000Z', 1],
    ])
  })

  test('03, with words for ids and a fixed clock, gives its message', async () => {
    const rows = await read('home-03')
    expect(rows.map((row) => [row.text, row.session_id, row.project_path])).toEqual([
      ['current state', 'conversation-fixture', '/work/fixture'],
    ])
  })

  test('04 gives every line, two of them of one server message, and the synced row', async () => {
    const rows = await read('home-04')
    expect(turns(rows)).toEqual([
      [
        'session-synced',
        'session synced: server conversation default agent agent-7c1d server - (from .letta/transcripts path, first captured_at)',
      ],
      ['user', 'Inspect the entry point.'],
      ['thinking', 'I should read the file first.'],
      ['assistant', 'I will inspect it now.'],
      ['tool_use', 'src/app.ts'],
      ['tool_result', 'export const value = 1;'],
      ['assistant', 'The entry point exports value 1.'],
    ])
    expect(rows.filter((row) => row.details.source_message_id === 'message-assistant-1')).toHaveLength(2)
  })

  test('06 gives what can be read of a transcript whose first line is not JSON and whose fourth is of an unknown kind', async () => {
    const rows = await read('home-06')
    expect(problems(rows)).toEqual([
      [1, 'conv-22'],
      [4, 'conv-22'],
    ])
    expect(turns(rows.filter((row) => row.source_line !== null && row.details.kind !== 'parser'))).toEqual([
      ['user', 'Run the check.'],
      ['error', 'temporary stream warning'],
      ['tool_use', 'bun test'],
      ['tool_result', 'command failed'],
      ['tool_use', 'pending.txt'],
      ['assistant', 'The check failed; the read is still pending.'],
    ])
  })

  test('07 gives a compaction in the middle as one row, never as a turn', async () => {
    const rows = await read('home-07')
    expect(rows.map((row) => [row.details.kind ?? row.turn_type, row.text, row.timestamp_utc])).toEqual([
      ['user', 'Inspect the local entry point.', '2026-07-02T10:00:01.000Z'],
      ['model', 'model: letta/auto provider=-', '2026-07-02T10:00:02.000Z'],
      ['thinking', 'I should read the file.', '2026-07-02T10:00:02.000Z'],
      ['tool_use', 'src/app.ts', '2026-07-02T10:00:02.000Z'],
      ['tool_result', 'export const value = 1;', '2026-07-02T10:00:03.000Z'],
      [
        'compaction',
        'compaction: tokens_before=1000 first_kept=entry-2 summary: Synthetic context summary that must not become a conversation turn.',
        '2026-07-02T10:00:03.500Z',
      ],
      ['assistant', 'The entry point exports value 1.', '2026-07-02T10:00:04.000Z'],
    ])
  })

  test('09, whose last append was cut, gives what stands before it and names line 3', async () => {
    const rows = await read('home-09')
    expect(turns(rows.filter((row) => row.details.kind !== 'parser'))).toEqual([['user', 'prefix kept']])
    expect(problems(rows)).toEqual([[3, 'default']])
  })
})
