import { describe, expect, test } from '@jest/globals'
import {
  AGENT,
  assistant,
  at,
  call,
  conversation,
  directoryOf,
  entry,
  shown,
  START,
  toolResult,
  transcriptOf,
  turns,
  user,
} from '../../helpers/conversations.js'
import { jsonLines, makeHome, parse } from '../../helpers/fixtures.js'

const run = async (files: Record<string, string>, options = {}) => parse({ homes: [makeHome(files)] }, options)
const rowsOf = async (files: Record<string, string>, options = {}) => (await run(files, options)).rows
const one = async (...entries: object[]) => rowsOf(conversation('local-conv-1', {}, ...entries))
const FILE = `${directoryOf('local-conv-1')}/messages.jsonl`

describe('a message', () => {
  test('has the session and the project of the header, the time of its entry, and its line', async () => {
    const [row] = await one(user('hi', { s: 2.5, stamp: START }))
    expect(row).toMatchObject({
      turn_type: 'user',
      text: 'hi',
      session_id: 'local-conv-1',
      project_path: '/home/alice/work',
      timestamp_utc: at(2.5),
      source_file: FILE,
      source_line: 2,
      model: '',
    })
    expect(row!.details).toMatchObject({ store: 'messages', time_source: 'record' })
  })

  test("without an entry's time has its own", async () => {
    const [row] = await one(user('hi', { timestamp: null, stamp: START + 7000 }))
    expect([row!.timestamp_utc, row!.details.time_source]).toEqual([at(7), 'record'])
  })

  test('of the program with text, thinking and calls gives one row a part, in order', async () => {
    const rows = await one(
      assistant([
        { type: 'thinking', thinking: 'hm' },
        { type: 'text', text: 'I will look.' },
        call('call_1', { command: 'ls' }),
        { type: 'thinking', thinking: 'x', redacted: true },
        { type: 'text', text: 'Done.' },
      ]),
    )
    expect(rows.map((row) => [row.turn_type, row.text, row.tool_name, row.tool_use_id, row.model])).toEqual([
      ['system', 'model: m-1 provider=prov', '', '', 'm-1'],
      ['thinking', 'hm', '', '', 'm-1'],
      ['assistant', 'I will look.', '', '', 'm-1'],
      ['tool_use', 'ls', 'Bash', 'call_1', 'm-1'],
      ['thinking', '[redacted thinking]', '', '', 'm-1'],
      ['assistant', 'Done.', '', '', 'm-1'],
    ])
  })

  test('with empty text and thinking gives no row for them, and counts them', async () => {
    const { rows, runs } = await run(
      conversation(
        'local-conv-1',
        {},
        assistant([
          { type: 'text', text: '' },
          { type: 'thinking', thinking: '' },
          { type: 'text', text: 'x' },
        ]),
      ),
    )
    expect(turns(rows)).toEqual([['assistant', 'x']])
    expect(runs[0]!.run.tallies.get('messages')!.empty).toBe(2)
  })

  test('with a part of an unknown kind names it, and the other parts stay', async () => {
    const rows = await one(assistant([{ type: 'hologram' }, 7 as unknown as object, { type: 'text', text: 'x' }]))
    expect(
      turns(rows)
        .map(([kind]) => kind)
        .sort(),
    ).toEqual(['assistant', 'parser'])
    expect(rows.find((row) => row.details.kind === 'parser')!.text).toMatch(/messages\.jsonl:2 .*hologram/)
  })

  test.each([
    ['an error', 'error', 'HTTP 500', 'error: HTTP 500'],
    ['an abort', 'aborted', undefined, 'error: -'],
  ])('that ended in %s has a row that says so, behind its parts', async (_, stopReason, errorMessage, text) => {
    const rows = await one(
      assistant('partial', { with: { stopReason, errorMessage } }),
      assistant([], { with: { stopReason, errorMessage } }),
    )
    expect(turns(rows)).toEqual([
      ['assistant', 'partial'],
      ['error', text],
      ['error', text],
    ])
  })

  test('that is a tool result has its call, and says whether it was executed', async () => {
    const rows = await one(
      toolResult(
        'call_1',
        [
          { type: 'text', text: 'a' },
          { type: 'image', mimeType: 'image/png', data: 'SECRETDATA' },
          { type: 'text', text: 'b' },
        ],
        { isError: true },
      ),
      toolResult('call_2', ''),
    )
    expect(rows.map((row) => [row.turn_type, row.tool_name, row.tool_use_id, row.text, row.details.is_error])).toEqual([
      ['tool_result', 'Bash', 'call_1', 'a\n[image image/png]\nb', true],
      ['tool_result', 'Bash', 'call_2', '', false],
    ])
    expect(JSON.stringify(rows)).not.toContain('SECRETDATA')
  })

  test('of an unknown role, and an entry of an unknown type, are named at their lines', async () => {
    const rows = await one(entry({ role: 'oracle', content: 'x' }), { type: 'label', id: 'l', timestamp: at(1) }, user('y'))
    expect(rows.filter((row) => row.details.kind === 'parser').map((row) => [row.source_line, row.session_id])).toEqual([
      [2, 'local-conv-1'],
      [3, 'local-conv-1'],
    ])
    expect(rows.filter((row) => row.turn_type === 'user')).toHaveLength(1)
  })
})

describe('the arguments of a call', () => {
  const summary = async (args: unknown) => {
    const rows = await one(assistant([call('c', args)]))
    return rows.find((row) => row.turn_type === 'tool_use')!.text
  }

  test.each([
    [{ command: 'rm', file_path: '/a' }, '/a'],
    [{ description: 'd', command: 'ls' }, 'ls'],
    [{ path: '/p', pattern: 'x' }, 'x'],
    [{ prompt: 'p', url: 'u' }, 'u'],
    [{ command: '', cmd: 'c' }, 'c'],
    [{ command: ['git', 'log'], workdir: '/w' }, 'git log'],
    [{ command: ['a', 1], name: 'n' }, 'n'],
    [{ file_path: 7, other: 'first text', more: 'x' }, 'first text'],
    [{ todos: [{ a: 1 }] }, '{"todos":[{"a":1}]}'],
    [{}, ''],
    [' text\n', ' text\n'],
    ['{"command":"ls"}', 'ls'],
    [[1, 2], '[1,2]'],
    [{ command: '  ls\n  -la ' }, '  ls\n  -la '],
  ])('%j are summed up as %j', async (args, text) => {
    expect(await summary(args)).toBe(text)
  })

  test('without a telling text are printed with their digits and key order', async () => {
    const line = JSON.stringify(assistant([call('c', 'ARGS')])).replace('"ARGS"', '{"n":1.0,"10":12345678901234567890,"9":[]}')
    const rows = await rowsOf({ [FILE]: `${line}\n` })
    expect(rows.find((row) => row.turn_type === 'tool_use')!.text).toBe('{"n":1.0,"10":12345678901234567890,"9":[]}')
  })

  test.each([
    ['a fragment before it', (line: string) => `{"type":"message","id":"cut","mess${line}`],
    ['NUL bytes around it', (line: string) => `\0\0${line}\0`],
    ['another record behind it', (line: string) => line + JSON.stringify(user('y'))],
  ])('without a telling text, in a record with %s, end no run', async (_, damage) => {
    const line = JSON.stringify(assistant([call('c', { todos: [1] })]))
    const rows = await rowsOf({ [FILE]: `${damage(line)}\n` })
    expect(rows.find((row) => row.turn_type === 'tool_use')!.text).toBe('{"todos":[1]}')
  })
})

describe('what stands as a user message', () => {
  const context = '<system-reminder>\ncwd: /x\n</system-reminder>'

  test('loses the context that the program injected, which gets a row of its own', async () => {
    const rows = await one(
      user([
        { type: 'text', text: context },
        { type: 'text', text: 'hi' },
      ]),
    )
    expect(shown(rows)).toEqual([
      ['injected-context', context],
      ['user', 'hi'],
    ])
    expect(rows[0]).toMatchObject({ turn_type: 'system', source_line: 2 })
  })

  test('in one part: everything up to the last end of a reminder is context', async () => {
    expect(shown(await one(user(`${context}\n${context}\n\nhi\n<b>`)))).toEqual([
      ['injected-context', `${context}\n${context}`],
      ['user', 'hi\n<b>'],
    ])
  })

  test('of context alone gives no user row', async () => {
    expect(shown(await one(user(context)))).toEqual([['injected-context', context]])
  })

  test.each([['about <system-reminder>x</system-reminder>'], ['<system-reminder>never ended'], ['</system-reminder> x']])(
    'that only mentions a reminder stays whole: %j',
    async (text) => {
      expect(shown(await one(user(text)))).toEqual([['user', text]])
    },
  )

  test('joins its parts, drops those of white space only, names images', async () => {
    const rows = await one(
      user([
        { type: 'text', text: 'a' },
        { type: 'text', text: ' \n' },
        { type: 'image', mimeType: 'image/jpeg', data: 'x' },
        { type: 'text', text: 'b ' },
      ]),
    )
    expect(shown(rows)).toEqual([['user', 'a\n[image image/jpeg]\nb ']])
  })

  test('of white space only gives no row', async () => {
    expect(await one(user(' \n'), user([]))).toEqual([])
  })

  test('as a string is read, too', async () => {
    expect(shown(await one(entry({ role: 'user', content: 'plain' })))).toEqual([['user', 'plain']])
  })

  test.each([
    ['<task-notification>\n<id>1</id>\n</task-notification>', 'task-notification'],
    ['Scheduled task "nightly" is firing.\nTimezone: UTC\nPrompt: x', 'scheduled-task'],
    ['<channel-notification source="slack">x</channel-notification>', 'channel'],
    ['<claude_code_session_update>x</claude_code_session_update>', 'claude-subconscious'],
    ['I saw <task-notification> today', undefined],
    ['Scheduled task is firing', undefined],
  ])('%j has the origin %p', async (text, origin) => {
    const [row] = await one(user(text))
    expect(row!.details.origin).toBe(origin)
  })

  test("is a machine's only when all of it is", async () => {
    const machine = { type: 'text', text: '<task-notification>x</task-notification>' }
    const [both] = await one(user([machine, { type: 'text', text: 'and I say' }]))
    expect(both!.details.origin).toBeUndefined()
    const behind = await one(user([{ type: 'text', text: context }, machine]))
    expect(behind.find((row) => row.turn_type === 'user')!.details.origin).toBe('task-notification')
  })
})

describe('the model', () => {
  const models = (rows: Awaited<ReturnType<typeof one>>) =>
    rows.filter((row) => row.details.kind === 'model').map((row) => [row.source_line, row.text, row.model])
  const by = (model: string, more = {}) => assistant('x', { with: { model, ...more } })

  test('has a row at the first answer and at each change', async () => {
    expect(models(await one(by('a'), by('a'), by('b', { provider: 'q' }), by('a', { provider: '' })))).toEqual([
      [2, 'model: a provider=prov', 'a'],
      [4, 'model: a -> b provider=q', 'b'],
      [5, 'model: b -> a provider=-', 'a'],
    ])
  })

  test('that is only a placeholder has none; the column keeps it', async () => {
    const rows = await one(by('local'), by('a'), by('legacy-local'), by('a'))
    expect(models(rows)).toEqual([[3, 'model: a provider=prov', 'a']])
    expect(rows.filter((row) => row.turn_type === 'assistant').map((row) => row.model)).toEqual(['local', 'a', 'legacy-local', 'a'])
  })

  test('that answered stands in the column, that was asked in the model row', async () => {
    const rows = await one(by('asked', { responseModel: 'answered' }))
    expect(models(rows)).toEqual([[2, 'model: asked provider=prov', 'asked']])
    expect(rows.find((row) => row.turn_type === 'assistant')!.model).toBe('answered')
  })

  test('is followed in each conversation by itself', async () => {
    const rows = await rowsOf({
      ...conversation('local-conv-1', {}, by('a')),
      ...conversation('local-conv-2', { created: at(1) }, by('a')),
    })
    expect(models(rows)).toHaveLength(2)
  })
})

describe('snapshots of one message', () => {
  const parts = (...texts: string[]) => texts.map((text) => ({ type: 'text', text }))

  test('the last counts, at its own line and time, and names those it replaces', async () => {
    const { rows, runs } = await run(
      conversation(
        'local-conv-1',
        {},
        user('q', { id: 'ui-msg-1' }),
        assistant(parts('a'), { s: 1, id: 'ui-msg-2' }),
        assistant(parts('a', 'b'), { s: 2, id: 'ui-msg-2' }),
        user('between', { s: 3, id: 'ui-msg-3' }),
        assistant(parts('a', 'b', 'c'), { s: 4, id: 'ui-msg-2' }),
      ),
    )
    expect(rows.map((row) => [row.source_line, row.text, row.timestamp_utc, row.details.replaced])).toEqual([
      [2, 'q', at(0), undefined],
      [5, 'between', at(3), undefined],
      [6, 'model: m-1 provider=prov', at(4), [3, 4]],
      [6, 'a', at(4), [3, 4]],
      [6, 'b', at(4), [3, 4]],
      [6, 'c', at(4), [3, 4]],
    ])
    expect(runs[0]!.run.tallies.get('messages')).toMatchObject({ replaced: 2, rows: 6 })
  })

  test('a model that only a replaced snapshot named makes no row, and no change', async () => {
    const rows = await one(
      assistant('x', { id: 'ui-msg-1', with: { model: 'a' } }),
      assistant('y', { id: 'ui-msg-2', with: { model: 'intermediate' } }),
      assistant('y', { id: 'ui-msg-2', with: { model: 'a' } }),
    )
    expect(rows.filter((row) => row.details.kind === 'model').map((row) => row.text)).toEqual(['model: a provider=prov'])
  })

  test('ids are those of one file: the same id elsewhere is another message', async () => {
    const rows = await rowsOf({
      ...conversation('local-conv-1', {}, user('one', { id: 'ui-msg-1' })),
      ...conversation('local-conv-2', { created: at(1) }, user('two', { id: 'ui-msg-1', s: 1 })),
    })
    expect(rows.map((row) => row.text)).toEqual(['one', 'two'])
  })

  test('messages without ids are no snapshots of each other', async () => {
    const rows = await rowsOf({
      [FILE]: jsonLines({ role: 'user', content: 'a', timestamp: START }, { role: 'user', content: 'b', timestamp: START }),
    })
    expect(rows.map((row) => row.text)).toEqual(['a', 'b'])
  })

  test('a bad line of a file with snapshots is named once', async () => {
    const files = conversation('local-conv-1', {}, assistant('a', { id: 'm' }), assistant('b', { id: 'm' }))
    const rows = await rowsOf({ ...files, [FILE]: `${files[FILE]}{"cut` })
    expect(rows.filter((row) => row.details.kind === 'parser')).toHaveLength(1)
  })
})

describe('compaction', () => {
  test('is a row, and the synthetic message in it is no user turn', async () => {
    const rows = await one({
      type: 'compaction',
      id: 'c1',
      parentId: null,
      timestamp: at(9),
      summary: 'all\ndone',
      firstKeptEntryId: null,
      tokensBefore: 4394,
      message: { role: 'user', content: [{ type: 'text', text: '{"type":"system_alert"}' }] },
    })
    expect(rows.map((row) => [row.text, row.timestamp_utc, row.details.kind])).toEqual([
      ['compaction: tokens_before=4394 first_kept=- summary: all\ndone', at(9), 'compaction'],
    ])
    expect(rows[0]!.details).toMatchObject({ tokens_before: 4394, first_kept: null, summary: 'all\ndone' })
  })

  test('names the first entry that it kept', async () => {
    const [row] = await one({ type: 'compaction', id: 'c', timestamp: at(1), summary: 's', firstKeptEntryId: 'e7', tokensBefore: 0 })
    expect(row!.text).toBe('compaction: tokens_before=0 first_kept=e7 summary: s')
  })

  test("in a user message's metadata is one, too; where only a counter is recorded, at the alert's own time", async () => {
    const alert = { type: 'system_alert', message: 'hidden', time: at(60) }
    const compaction = { summary: 'S', stats: { context_tokens_before: 10 } }
    const message = {
      id: 'ui-msg-1',
      role: 'user',
      metadata: { created_at: '2026-01-01T00:00:23.000Z', compaction },
      content: [{ type: 'text', text: JSON.stringify(alert) }],
      timestamp: Date.parse('2026-01-01T00:00:23.000Z'),
    }
    const rows = await rowsOf({ [FILE]: jsonLines(message) })
    expect(rows.map((row) => [row.text, row.timestamp_utc, row.details.time_synthetic])).toEqual([
      ['compaction: tokens_before=10 first_kept=- summary: S', at(60), '2026-01-01T00:00:23.000Z'],
    ])
  })
})

describe('older forms', () => {
  const bare = (message: object) => ({ id: 'ui-msg-1', metadata: { created_at: at(3) }, ...message })

  test('schema 1: bare messages without a header give the same rows', async () => {
    const record = { id: 'local-conv-1', agent_id: AGENT, created_at: at(0) }
    const rows = await rowsOf({
      [FILE]: jsonLines(
        bare({ role: 'user', content: [{ type: 'text', text: 'hi' }] }),
        bare({ id: 'ui-msg-2', role: 'toolResult', toolCallId: 'c', toolName: 'T', content: [{ type: 'text', text: 'r' }] }),
      ),
      [`${directoryOf('local-conv-1')}/conversation.json`]: JSON.stringify(record),
      '.letta/sessions.jsonl': jsonLines({
        agent_id: AGENT,
        session_id: 's',
        timestamp: START + 9000,
        project: '/srv/p',
        message_count: 1,
      }),
    })
    const own = rows.filter((row) => row.details.store === 'messages')
    expect(
      own.map((row) => [row.turn_type, row.text, row.timestamp_utc, row.session_id, row.project_path, row.details.project_from]),
    ).toEqual([
      ['user', 'hi', at(3), 'local-conv-1', '/srv/p', 'sessions.jsonl'],
      ['tool_result', 'r', at(3), 'local-conv-1', '/srv/p', 'sessions.jsonl'],
    ])
  })

  test('without a header or conversation.json the session comes from the directory', async () => {
    const line = jsonLines(bare({ role: 'user', content: 'hi' }))
    const rows = await rowsOf({ [FILE]: line, [`${directoryOf('default', 'agent-local-2')}/messages.jsonl`]: line })
    expect(rows.map((row) => row.session_id).sort()).toEqual(['default', 'local-conv-1'])
  })

  test('UI messages: parts are turns, a call has its result beside it', async () => {
    const rows = await rowsOf({
      [FILE]: jsonLines(
        bare({ role: 'user', parts: [{ type: 'text', text: 'hi' }] }),
        bare({
          id: 'ui-msg-2',
          role: 'assistant',
          parts: [
            { type: 'step-start' },
            { type: 'reasoning', text: 'hm' },
            { type: 'tool-Bash', toolCallId: 'c1', state: 'output-available', input: { command: 'ls' }, output: 'a.txt' },
            { type: 'tool-Bash', toolCallId: 'c2', state: 'output-error', input: { command: 'x' }, errorText: 'boom' },
            { type: 'tool-Bash', toolCallId: 'c3', state: 'output-denied', input: { command: 'rm' } },
            { type: 'tool-Bash', toolCallId: 'c4', state: 'input-available', input: { command: 'y' } },
            { type: 'text', text: 'done' },
          ],
        }),
      ),
    })
    expect(rows.map((row) => [row.turn_type, row.text, row.tool_name, row.tool_use_id, row.details.is_error, row.timestamp_utc])).toEqual([
      ['user', 'hi', '', '', undefined, at(3)],
      ['thinking', 'hm', '', '', undefined, at(3)],
      ['tool_use', 'ls', 'Bash', 'c1', undefined, at(3)],
      ['tool_result', 'a.txt', 'Bash', 'c1', false, at(3)],
      ['tool_use', 'x', 'Bash', 'c2', undefined, at(3)],
      ['tool_result', 'boom', 'Bash', 'c2', true, at(3)],
      ['tool_use', 'rm', 'Bash', 'c3', undefined, at(3)],
      ['tool_result', '', 'Bash', 'c3', true, at(3)],
      ['tool_use', 'y', 'Bash', 'c4', undefined, at(3)],
      ['assistant', 'done', '', '', undefined, at(3)],
    ])
  })
})

describe('a counter in the place of a time', () => {
  const COUNTER = '2026-01-01T00:00:07.000Z'
  const counted = (text: string, timestamp: unknown = Date.parse(COUNTER)) => ({
    id: 'ui-msg-1',
    role: 'user',
    metadata: { created_at: COUNTER },
    content: [{ type: 'text', text }],
    timestamp,
  })
  const times = (rows: Awaited<ReturnType<typeof one>>) =>
    rows.map((row) => [row.text, row.timestamp_utc, row.details.time_source, row.details.time_synthetic])
  const line = (more: object) => jsonLines({ kind: 'user', text: 'hi', captured_at: at(30), ...more })

  test("gives way to a real time of the message's own", async () => {
    expect(times(await rowsOf({ [FILE]: jsonLines(counted('hi', START)) }))).toEqual([['hi', at(0), 'record', COUNTER]])
  })

  test('gives way to the time of the transcript line that repeats the message', async () => {
    const rows = await rowsOf({ [FILE]: jsonLines(counted('hi')), [transcriptOf('local-conv-1')]: line({}) })
    expect(times(rows)).toEqual([['hi', at(30), 'transcript', COUNTER]])
  })

  test('for a prompt typed in the terminal, to the time of its submission', async () => {
    const rows = await rowsOf({
      [FILE]: jsonLines(counted('hi')),
      [transcriptOf('local-conv-1')]: line({ source_line_id: `user-${(START + 20_000).toString(36)}-abcdef` }),
    })
    expect(times(rows)).toEqual([['hi', at(20), 'transcript', COUNTER]])
  })

  test('moves all rows of the message', async () => {
    const message = {
      id: 'ui-msg-1',
      role: 'assistant',
      metadata: { created_at: COUNTER },
      content: [{ type: 'thinking', thinking: 'hm' }, { type: 'text', text: 'hello' }, call('c', { command: 'ls' })],
      model: 'm',
      provider: 'p',
      timestamp: Date.parse(COUNTER),
    }
    const rows = await rowsOf({
      [FILE]: jsonLines(message),
      [transcriptOf('local-conv-1')]: jsonLines({ kind: 'assistant', text: 'hello', captured_at: at(30) }),
    })
    expect(rows).toHaveLength(4)
    expect(new Set(rows.map((row) => row.timestamp_utc))).toEqual(new Set([at(30)]))
  })

  test('stands as recorded where nothing better is known', async () => {
    expect(times(await rowsOf({ [FILE]: jsonLines(counted('hi')) }))).toEqual([['hi', COUNTER, 'record', COUNTER]])
  })

  test('of New Year 2026 in an entry of schema 2 is a counter, too', async () => {
    const rows = await one(user('hi', { timestamp: COUNTER, stamp: START }))
    expect(times(rows)).toEqual([['hi', at(0), 'record', COUNTER]])
  })

  test.each(['2026-01-01T00:00:07.123Z', '2026-01-01T01:00:07.000Z', '2026-01-02T00:00:07.000Z'])('%s is a time', async (timestamp) => {
    const [row] = await one(user('hi', { timestamp, stamp: START }))
    expect([row!.timestamp_utc, row!.details.time_synthetic]).toEqual([timestamp, undefined])
  })
})

describe('forks', () => {
  const history = [
    user('q', { id: 'ui-msg-1', s: 1 }),
    assistant('a', { id: 'ui-msg-2', s: 2 }),
    toolResult('call_1', 'r', { id: 'ui-msg-3', s: 3 }),
  ]
  const again = (entries: readonly object[], first: number) =>
    entries.map((one, i) => {
      const { message, ...rest } = one as { message: object }
      return { ...rest, id: `f${i}`, message: { ...message, id: `ui-msg-${first + i}` } }
    })
  const forked = {
    ...conversation('local-conv-1', { created: at(0) }, ...history),
    ...conversation('local-conv-2', { created: at(10) }, ...again(history, 10), user('new', { id: 'ui-msg-20', s: 11 })),
  }
  const FORK = `${directoryOf('local-conv-2')}/messages.jsonl`

  test('copies stay, marked with their original and its time', async () => {
    const copies = (await rowsOf(forked)).filter((row) => row.source_file === FORK && row.details.copied_from)
    expect(copies.map((row) => [row.text, row.timestamp_utc, row.details.time_source, row.details.copied_from])).toEqual([
      ['q', at(1), 'original', { session_id: 'local-conv-1', source_file: FILE, source_line: 2 }],
      ['model: m-1 provider=prov', at(2), 'original', { session_id: 'local-conv-1', source_file: FILE, source_line: 3 }],
      ['a', at(2), 'original', { session_id: 'local-conv-1', source_file: FILE, source_line: 3 }],
      ['r', at(3), 'original', { session_id: 'local-conv-1', source_file: FILE, source_line: 4 }],
    ])
  })

  test('what is new in a fork, and the original, are not marked', async () => {
    const rows = await rowsOf(forked)
    expect(rows.filter((row) => row.details.copied_from === undefined).map((row) => [row.source_file === FORK, row.text])).toEqual([
      [false, 'q'],
      [false, 'model: m-1 provider=prov'],
      [false, 'a'],
      [false, 'r'],
      [true, 'new'],
    ])
  })

  test('with --originals-only copies go, and are counted', async () => {
    const { rows, runs } = await run(forked, { originalsOnly: true })
    expect(rows.map((row) => row.text)).toEqual(['q', 'model: m-1 provider=prov', 'a', 'r', 'new'])
    expect(runs[0]!.run.tallies.get('messages')).toMatchObject({ rows: 5, dropped: 4 })
  })

  test('of forks point to the earliest', async () => {
    const rows = await rowsOf({ ...forked, ...conversation('local-conv-3', { created: at(20) }, ...again(history, 30)) })
    const third = rows.filter((row) => row.session_id === 'local-conv-3')
    expect(new Set(third.map((row) => (row.details.copied_from as { session_id: string }).session_id))).toEqual(new Set(['local-conv-1']))
  })

  test.each([
    ['another text', { content: [{ type: 'text', text: 'other' }] }, {}],
    ['another time', { timestamp: START + 500 }, { timestamp: at(0.5) }],
    ['another role', { role: 'assistant' }, {}],
  ])('a message with %s is no copy', async (_, message, outer) => {
    const first = again(history, 10)[0]!
    const rows = await rowsOf({
      ...conversation('local-conv-1', { created: at(0) }, ...history),
      ...conversation('local-conv-2', { created: at(10) }, { ...first, ...outer, message: { ...first.message, ...message } }),
    })
    expect(rows.filter((row) => row.source_file === FORK && row.details.copied_from)).toEqual([])
  })

  test('results of two calls with one text are no copies of each other', async () => {
    const rows = await rowsOf({
      ...conversation('local-conv-1', { created: at(0) }, toolResult('call_1', 'ok', { s: 1 })),
      ...conversation('local-conv-2', { created: at(10) }, toolResult('call_2', 'ok', { s: 1 })),
    })
    expect(rows.filter((row) => row.details.copied_from)).toEqual([])
  })

  test('a conversation holds no copies of itself', async () => {
    const rows = await rowsOf({
      ...conversation('local-conv-1', { created: at(0) }, user('yes', { id: 'a', s: 1 }), user('yes', { id: 'b', s: 1 })),
      ...conversation('local-conv-2', { created: at(10) }),
    })
    expect(rows.filter((row) => row.details.copied_from)).toEqual([])
  })

  test('which conversation is the original is told by its creation, not by its name', async () => {
    const rows = await rowsOf({
      ...conversation('local-conv-1', { created: at(10) }, ...history),
      ...conversation('local-conv-2', { created: at(0) }, ...again(history, 10)),
    })
    expect(rows.filter((row) => row.details.copied_from).every((row) => row.session_id === 'local-conv-1')).toBe(true)
    expect(rows.filter((row) => row.details.copied_from)).toHaveLength(4)
  })
})

describe('two default conversations', () => {
  test('of two agents are two', async () => {
    const rows = await rowsOf({
      ...conversation('default', { agent: 'agent-local-1' }, user('one', { s: 1 })),
      ...conversation('default', { agent: 'agent-local-2' }, user('two', { s: 1 })),
      [transcriptOf('default', 'agent-local-2')]: jsonLines({ kind: 'user', text: 'one', captured_at: at(5) }),
    })
    expect(rows.map((row) => [row.text, row.session_id, row.details.store])).toEqual([
      ['one', 'default', 'messages'],
      ['two', 'default', 'messages'],
      ['one', 'default', 'transcripts'],
    ])
  })
})
