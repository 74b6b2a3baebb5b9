import { describe, expect, test } from '@jest/globals'
import { at, START, transcriptOf } from '../../helpers/conversations.js'
import { jsonLines, makeHome, parse } from '../../helpers/fixtures.js'

const LOCAL = 'agent-local-1'
const rowsOf = async (files: Record<string, string>, options = {}) => (await parse({ homes: [makeHome(files)], ...options })).rows
const lines = async (...records: object[]) => rowsOf({ [transcriptOf('conv-1')]: jsonLines(...records) })
const captured_at = at(0)
const exit = (s: number, project: string, agent_id = LOCAL) =>
  jsonLines({ agent_id, session_id: `s${s}`, timestamp: START + s * 1000, project, exit_reason: 'exit_command', message_count: 1 })

describe('the lines of a transcript', () => {
  test('give the turns that they record', async () => {
    const rows = await lines(
      { kind: 'user', text: 'hi', captured_at, source_line_id: 'user-mh5m1b2c-x1y2z3' },
      { kind: 'reasoning', text: 'hm', captured_at, source_line_id: 'l', source_message_id: 'ui-msg-2:reasoning:0' },
      { kind: 'assistant', text: 'hello', captured_at, source_message_id: 'ui-msg-2:assistant:1' },
      { kind: 'error', text: 'boom', captured_at },
    )
    expect(rows.map((row) => [row.turn_type, row.text, row.source_line, row.session_id, row.model])).toEqual([
      ['user', 'hi', 1, 'conv-1', ''],
      ['thinking', 'hm', 2, 'conv-1', ''],
      ['assistant', 'hello', 3, 'conv-1', ''],
      ['system', 'boom', 4, 'conv-1', ''],
    ])
    expect(rows.map((row) => row.timestamp_utc)).toEqual([captured_at, captured_at, captured_at, captured_at])
    expect(rows[1]!.details).toMatchObject({
      store: 'transcripts',
      time_source: 'record',
      source_line_id: 'l',
      source_message_id: 'ui-msg-2:reasoning:0',
    })
    expect(rows[3]!.details.kind).toBe('error')
  })

  test("a terminal user line's id holds the time of submission", async () => {
    const [row] = await lines({ kind: 'user', text: 'x', captured_at, source_line_id: `user-${(START - 1795).toString(36)}-a1b2c3` })
    expect([row!.details.submitted_at, row!.timestamp_utc]).toEqual([new Date(START - 1795).toISOString(), captured_at])
  })

  test.each(['user-3c9a7e51-60d8-4b2f-a1f4-5e8d27c6b083', 'otid-1', 'user-zzz-1', ''])(
    'an id in the form %j holds none',
    async (source_line_id) => {
      const [row] = await lines({ kind: 'user', text: 'x', captured_at, source_line_id })
      expect(row!.details.submitted_at).toBeUndefined()
    },
  )

  test('a tool call is a use and a result', async () => {
    const rows = await lines({
      kind: 'tool_call',
      name: 'Bash',
      argsText: '{"command":"ls -la"}',
      resultText: 'a\nb',
      resultOk: false,
      captured_at,
      source_line_id: 'call_1',
    })
    expect(
      rows.map((row) => [row.turn_type, row.tool_name, row.tool_use_id, row.text, row.details.result_ok, row.details.source_line_id]),
    ).toEqual([
      ['tool_use', 'Bash', '', 'ls -la', false, 'call_1'],
      ['tool_result', 'Bash', '', 'a\nb', false, 'call_1'],
    ])
  })

  test('a call without any result has no result row; an empty result or only its success has one', async () => {
    const call = { kind: 'tool_call', name: 'Bash', argsText: '{"command":"x"}', captured_at }
    const rows = await lines(call, { ...call, resultText: '' }, { ...call, resultOk: true }, { ...call, resultText: null, resultOk: null })
    expect(rows.map((row) => [row.source_line, row.turn_type, row.details.result_ok])).toEqual([
      [1, 'tool_use', null],
      [2, 'tool_use', null],
      [2, 'tool_result', null],
      [3, 'tool_use', true],
      [3, 'tool_result', true],
      [4, 'tool_use', null],
    ])
  })

  test.each([
    ['{"command":"cd /x', '{"command":"cd /x'],
    ['{"n":1.0,"10":2,"9":3}', '{"n":1.0,"10":2,"9":3}'],
    ['', ''],
    ['{}', ''],
    ['{"file_path":"/a","content":"b"}', '/a'],
    ['{"zeta":"z","files":["a","b"]}', 'z'],
  ])('the arguments %s are summed up as %j', async (argsText, text) => {
    const [row] = await lines({ kind: 'tool_call', name: 'T', argsText, captured_at })
    expect(row!.text).toBe(text)
  })

  test('an unknown kind is named, and no other line is lost', async () => {
    const rows = await lines({ kind: 'status', text: 'x', captured_at }, { kind: 'user', text: 'y', captured_at })
    expect(rows.map((row) => row.details.kind ?? row.turn_type).sort()).toEqual(['parser', 'user'])
    expect(rows.find((row) => row.details.kind === 'parser')).toMatchObject({ source_line: 1, session_id: 'conv-1', timestamp_utc: '' })
  })

  test('a text that a machine wrote as a whole is marked', async () => {
    const rows = await lines(
      { kind: 'user', text: '<task-notification>\nx\n</task-notification>', captured_at },
      { kind: 'user', text: '<claude_code_session_update>x</claude_code_session_update>', captured_at },
      { kind: 'user', text: 'about <task-notification>', captured_at },
    )
    expect(rows.map((row) => row.details.origin)).toEqual(['task-notification', 'claude-subconscious', undefined])
  })

  test('files beside the transcript, and payloads of several conversations, are not read', async () => {
    const line = jsonLines({ kind: 'user', text: 'x', captured_at })
    const rows = await rowsOf({
      '.letta/transcripts/agent-local-1/conv-1/state.json': '{}',
      '.letta/transcripts/agent-local-1/conv-1/payload-auto-x.json': '[]',
      '.letta/transcripts/agent-local-1/multi-reflection-payloads/payload-multi-x.json': '{}',
      '.letta/transcripts/background/s/x.log': line,
    })
    expect(rows).toEqual([])
  })
})

describe('the project of a transcript', () => {
  const one = (s: number) => jsonLines({ kind: 'user', text: 'x', captured_at: at(s) })
  const projectOf = async (files: Record<string, string>) => {
    const row = (await rowsOf(files)).find((row) => row.details.store === 'transcripts' && row.turn_type === 'user')!
    return [row.project_path, row.details.project_from]
  }

  test('is the directory that remote-settings.json names for the conversation', async () => {
    const cwdMap = { 'conversation:conv-1': '/srv/remote', 'conversation:conv-2': '/srv/other' }
    expect(
      await projectOf({
        [transcriptOf('conv-1')]: one(0),
        '.letta/remote-settings.json': JSON.stringify({ cwdMap }),
        '.letta/cwd-cache.json': JSON.stringify({ 'conversation:conv-1': '/srv/cache' }),
        '.letta/sessions.jsonl': exit(1, '/srv/exit'),
      }),
    ).toEqual(['/srv/remote', 'remote-settings.json'])
  })

  test('else that of cwd-cache.json', async () => {
    const cache = JSON.stringify({ 'conversation:conv-1': '/srv/cache' })
    expect(
      await projectOf({ [transcriptOf('conv-1')]: one(0), '.letta/cwd-cache.json': cache, '.letta/sessions.jsonl': exit(1, '/srv/exit') }),
    ).toEqual(['/srv/cache', 'cwd-cache.json'])
  })

  test('of a default conversation is looked up by its agent', async () => {
    const cwdMap = { 'agent:agent-local-1::conversation:default': '/srv/mine', 'agent:agent-local-2::conversation:default': '/srv/other' }
    expect(await projectOf({ [transcriptOf('default')]: one(0), '.letta/remote-settings.json': JSON.stringify({ cwdMap }) })).toEqual([
      '/srv/mine',
      'remote-settings.json',
    ])
  })

  test.each([
    ['the earliest exit at or after it', [5, 20, 30], 10, '/srv/20'],
    ['an exit at the same time', [5, 10, 30], 10, '/srv/10'],
    ['else the latest before it', [1, 5], 10, '/srv/5'],
  ])('else by %s, of the same agent, in whatever order they stand', async (_, exits, s, project) => {
    const own = [...exits].reverse().map((e) => exit(e, `/srv/${e}`))
    const files = {
      [transcriptOf('conv-1')]: one(s),
      '.letta/sessions.jsonl': [...own, exit(s + 1, '/srv/foreign', 'agent-local-2')].join(''),
    }
    expect(await projectOf(files)).toEqual([project, 'sessions.jsonl'])
  })

  test('else is empty; so is that of a line without a time', async () => {
    expect(await projectOf({ [transcriptOf('conv-1')]: one(0), '.letta/sessions.jsonl': exit(1, '/srv/x', 'agent-local-2') })).toEqual([
      '',
      undefined,
    ])
    const timeless = jsonLines({ kind: 'user', text: 'x' })
    expect(await projectOf({ [transcriptOf('conv-1')]: timeless, '.letta/sessions.jsonl': exit(1, '/srv/x') })).toEqual(['', undefined])
  })
})

describe('a transcript of a server conversation', () => {
  const SERVER = 'agent-7c1d'
  const files = (agent: string, conversation: string, ...records: object[]) => ({
    [transcriptOf(conversation, agent)]: jsonLines(...records),
  })
  const synced = async (given: Record<string, string>) =>
    (await rowsOf(given)).filter((row) => row.details.kind === 'session-synced').map((row) => [row.text, row.timestamp_utc])
  const text = (server: string) =>
    `session synced: server conversation conv-1 agent ${SERVER} server ${server} (from .letta/transcripts path, first captured_at)`
  const line = { kind: 'user', text: 'x', captured_at: at(5) }
  const agents = (...list: object[]) => ({ '.letta/settings.json': JSON.stringify({ agents: list }) })

  test('gives one row at the first time in file order, with no project and no line', async () => {
    const rows = await rowsOf({
      ...files(SERVER, 'conv-1', { ...line, captured_at: 'never' }, line, { ...line, captured_at: at(1) }),
      '.letta/sessions.jsonl': exit(9, '/srv/p', SERVER),
    })
    const [row, ...others] = rows.filter((row) => row.details.kind === 'session-synced')
    expect(others).toEqual([])
    expect(row).toMatchObject({ text: text('-'), timestamp_utc: at(5), session_id: 'conv-1', project_path: '', source_line: null })
  })

  test('without any time gives it without one', async () => {
    expect(await synced(files(SERVER, 'conv-1', { kind: 'user', text: 'x' }))).toEqual([[text('-'), '']])
  })

  test.each([
    ['that of the entry', [{ agentId: SERVER, baseUrl: 'http://localhost:8283' }], 'http://localhost:8283'],
    ['api.letta.com when the entry has none', [{ agentId: SERVER }], 'api.letta.com'],
    ['api.letta.com when the entry has an empty one', [{ agentId: SERVER, baseUrl: '' }], 'api.letta.com'],
    ['that of the entry which has one', [{ agentId: SERVER, baseUrl: 'https://a' }, { agentId: SERVER }], 'https://a'],
    ['that of the entry which has one, behind the other', [{ agentId: SERVER }, { agentId: SERVER, baseUrl: 'https://a' }], 'https://a'],
    ['- when there is no entry', [{ agentId: 'agent-other', baseUrl: 'https://a' }], '-'],
  ])('names the server: %s', async (_, list, server) => {
    expect(await synced({ ...files(SERVER, 'conv-1', line), ...agents(...list) })).toEqual([[text(server), at(5)]])
  })

  test('an odd entry among the agents costs no other', async () => {
    expect(
      await synced({ ...files(SERVER, 'conv-1', line), ...agents({ agentId: 7 }, { agentId: SERVER, baseUrl: 'https://a' }) }),
    ).toEqual([[text('https://a'), at(5)]])
  })

  test('of a local agent gives none', async () => {
    expect(await synced(files('agent-local-9', 'conv-1', line))).toEqual([])
  })

  test('that a dream imported from another tool gives none, and its rows say where they are from', async () => {
    const given = files(SERVER, 'from-openhands-0123456789ab', line)
    expect(await synced(given)).toEqual([])
    expect((await rowsOf(given)).map((row) => row.details.origin)).toEqual(['dream-import'])
  })

  test('whose name only looks like an import is one of the server', async () => {
    expect(await synced(files(SERVER, 'from-openhands-xyz', line))).toHaveLength(1)
  })
})

describe('a moved transcript root', () => {
  test('is named by its usual path', async () => {
    const home = makeHome({ '.letta/settings.json': '{}' })
    const moved = makeHome({ 'agent-local-1/conv-1/transcript.jsonl': jsonLines({ kind: 'user', text: 'moved', captured_at }) })
    const base = '.letta/transcripts'
    const { rows } = await parse({ homes: [home], moved: [{ directory: moved, base, paths: [base] }] })
    expect(rows.map((row) => [row.text, row.source_file])).toEqual([['moved', transcriptOf('conv-1')]])
  })

  test('beside a file at the usual path: the one not read is named', async () => {
    const home = makeHome({ [transcriptOf('conv-1')]: jsonLines({ kind: 'user', text: 'usual', captured_at }) })
    const moved = makeHome({ 'agent-local-1/conv-1/transcript.jsonl': jsonLines({ kind: 'user', text: 'moved', captured_at }) })
    const base = '.letta/transcripts'
    const { rows, runs } = await parse({ homes: [home], moved: [{ directory: moved, base, paths: [base] }] })
    expect(rows.map((row) => row.details.kind ?? row.text).sort()).toEqual(['moved', 'parser'])
    expect([...runs[0]!.run.troubles.keys()]).toEqual([transcriptOf('conv-1')])
  })
})
