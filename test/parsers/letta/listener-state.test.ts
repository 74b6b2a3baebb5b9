import fs from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { makeHome, parse } from '../../helpers/fixtures.js'

const FILE = '.letta/listener-state/0123456789abcdef01234567/agent-1_conv-1.json'
const ISO = '2026-11-30T17:55:32.062Z'
const record = {
  agentId: 'agent-1',
  conversationId: 'conv-1',
  runId: 'run-1',
  toolCallIds: ['call_1', 'call_2'],
  results: [] as unknown[],
  requestOtid: 'o',
  actingUserId: 'user-9',
  workingDirectory: '/srv/p',
  revision: 'r',
}

async function rowsOf(value: unknown) {
  const home = makeHome({ [FILE]: JSON.stringify(value) })
  fs.utimesSync(path.join(home, FILE), 1796061332.062, 1796061332.062)
  return (await parse({ homes: [home] })).rows
}
const turn = (words: string) => `interrupted turn: agent agent-1 conversation conv-1 ${words} (from ${FILE}, file mtime)`

describe('an interrupted turn', () => {
  test('is a row at the time of its file', async () => {
    const rows = await rowsOf(record)
    expect(rows.map((row) => row.text)).toEqual([
      turn('run run-1 tool_calls=call_1,call_2 unstarted=- results=0 working_directory=/srv/p acting_user=user-9'),
    ])
    expect(rows[0]).toMatchObject({
      timestamp_utc: ISO,
      session_id: 'conv-1',
      project_path: '/srv/p',
      source_line: null,
      source_file: FILE,
    })
    expect(rows[0]!.details).toMatchObject({
      store: 'listener-state',
      kind: 'interrupted-turn',
      time_source: 'file-mtime',
      tool_call_ids: ['call_1', 'call_2'],
      results: 0,
    })
  })

  test('gives each result: a denial as a decision, a return as a tool result', async () => {
    const rows = await rowsOf({
      ...record,
      results: [
        { type: 'approval', approve: false, tool_call_id: 'call_1', reason: 'not on main, "please"' },
        { type: 'approval', approve: true, tool_call_id: 'call_2' },
        { type: 'tool', tool_call_id: 'call_3', tool_return: 'ok', status: 'success' },
        { type: 'tool', tool_call_id: 'call_4', tool_return: 'boom', status: 'error' },
        {
          type: 'tool',
          tool_call_id: 'call_5',
          status: 'success',
          tool_return: [
            { type: 'text', text: 'a' },
            { type: 'image', data: 'SGk=' },
            { type: 'text', text: 'b' },
          ],
        },
      ],
    })
    expect(rows.slice(1).map((row) => [row.turn_type, row.tool_use_id, row.text])).toEqual([
      ['system', 'call_1', `permission decision: deny reason=not on main, "please" (from ${FILE}, interrupted turn, file mtime)`],
      ['system', 'call_2', `permission decision: approve reason=- (from ${FILE}, interrupted turn, file mtime)`],
      ['tool_result', 'call_3', 'ok'],
      ['tool_result', 'call_4', '[error] boom'],
      ['tool_result', 'call_5', 'a\nb'],
    ])
    expect(rows[0]!.text).toContain('results=5')
    expect(rows[1]!.details).toMatchObject({ kind: 'permission-decision', decision: 'deny' })
  })

  test('a result of another kind is named, and costs no other', async () => {
    const rows = await rowsOf({ ...record, results: [7, { type: 'later' }, { type: 'tool', tool_call_id: 'c', tool_return: 'x' }] })
    expect(rows.map((row) => row.details.kind ?? row.turn_type).sort()).toEqual(['interrupted-turn', 'parser', 'parser', 'tool_result'])
  })

  test('without its lists is still a row', async () => {
    const rows = await rowsOf({ agentId: 'agent-1', conversationId: 'conv-1' })
    expect(rows.map((row) => row.text)).toEqual([turn('run - tool_calls=- unstarted=- results=- working_directory=- acting_user=-')])
  })
})
