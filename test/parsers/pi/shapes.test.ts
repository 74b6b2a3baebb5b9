import { describe, expect, test } from '@jest/globals'
import { pi } from '../../../src/catalog/index.js'
import { PiParser } from '../../../src/parsers/pi/index.js'
import { jsonLines, makeHome, parse } from '../../helpers/fixtures.js'

const T = (second: number) => `2026-01-02T03:04:${String(second).padStart(2, '0')}.000Z`
const SESSION = '.pi/agent/sessions/--srv-work--/2026-01-02T03-04-00-000Z_s-1.jsonl'
const header = { type: 'session', version: 3, id: 's-1', timestamp: T(0), cwd: '/srv/work' }
const user = (second: number, text: string, more = {}) => ({
  type: 'message',
  timestamp: T(second),
  message: { role: 'user', content: text, timestamp: Date.parse(T(second)) },
  ...more,
})

async function rowsOf(files: Record<string, string>) {
  return parse({ homes: [makeHome(files)] }, {}, new PiParser(pi))
}
const textsOf = async (...entries: unknown[]) => (await rowsOf({ [SESSION]: jsonLines(header, ...entries) })).rows.map(({ text }) => text)

describe('header versions', () => {
  test('version 1 is a chain in file order, and counts lines in place of naming the kept entry', async () => {
    const { rows } = await rowsOf({
      [SESSION]: jsonLines(
        { type: 'session', id: 's-1', timestamp: T(0), cwd: '/srv/work', provider: 'p', modelId: 'm', thinkingLevel: 'off' },
        user(1, 'one'),
        { type: 'compaction', timestamp: T(2), summary: 'S', firstKeptEntryIndex: 1, tokensBefore: 9 },
        user(3, 'two'),
      ),
    })
    expect(rows.map(({ text, details }) => [text, details.branch])).toEqual([
      ['one', undefined],
      ['compaction: tokens_before=9 first_kept=1 summary: S', undefined],
      ['two', undefined],
    ])
  })

  test('version 2 calls the text of an extension hookMessage', async () => {
    const hook = {
      type: 'message',
      id: 'a',
      parentId: null,
      timestamp: T(1),
      message: { role: 'hookMessage', customType: 'h', content: [{ type: 'text', text: 'from a hook' }], display: true },
    }
    const { rows } = await rowsOf({ [SESSION]: jsonLines({ ...header, version: 2 }, hook) })
    expect(rows.map(({ turn_type, text, details }) => [turn_type, text, details.kind])).toEqual([
      ['system', 'from a hook', 'custom-message'],
    ])
  })

  test('a larger version is read the same way, and said to be', async () => {
    expect(await textsOf()).toEqual([])
    const { rows } = await rowsOf({ [SESSION]: jsonLines({ ...header, version: 4 }, user(1, 'hi', { id: 'a', parentId: null })) })
    expect(rows.map(({ text }) => text)).toEqual([
      'hi',
      `parser: ${SESSION}:1 header version 4 is newer than the known ones; read as version 3`,
    ])
  })
})

describe('entries', () => {
  test('each that is seldom seen has its text', async () => {
    expect(
      await textsOf(
        { type: 'label', id: 'a', parentId: null, timestamp: T(1), targetId: 'x' },
        { type: 'session_info', id: 'b', parentId: 'a', timestamp: T(2), name: '' },
        { type: 'context_edit', id: 'c', parentId: 'b', timestamp: T(3), targetId: 'x', replacement: { role: 'user', content: 'y' } },
        { type: 'usage', id: 'd', parentId: 'c', timestamp: T(4), kind: 'cache_warm', provider: 'p', model: 'm', usage: {} },
        {
          type: 'message',
          id: 'e',
          parentId: 'd',
          timestamp: T(5),
          message: {
            role: 'system',
            content: 'BODY',
            sections: { cwd: 'BODY', gone: null },
            toolsAdded: [{ name: 't', description: 'BODY' }],
            toolsRemoved: ['u'],
          },
        },
        {
          type: 'message',
          id: 'f',
          parentId: 'e',
          timestamp: T(6),
          message: { role: 'bashExecution', command: 'ls', output: '', exitCode: null, cancelled: true, excludeFromContext: false },
        },
      ),
    ).toEqual([
      'label: - on x',
      'session name: -',
      'context edit: x replaced',
      'system prompt: sections=cwd,gone tools_added=t tools_removed=u',
      '!ls',
      '',
    ])
  })

  test('an unknown type or role is named, and does not look like a branch', async () => {
    const { rows } = await rowsOf({
      [SESSION]: jsonLines(
        header,
        { type: 'hologram', id: 'a', parentId: null, timestamp: T(1) },
        user(2, 'hi', { id: 'b', parentId: 'a' }),
        {
          type: 'message',
          id: 'c',
          parentId: 'b',
          timestamp: T(3),
          message: { role: 'oracle', content: 'x' },
        },
      ),
    })
    expect(rows.map(({ text, details }) => [text, details.branch])).toEqual([
      ['hi', undefined],
      [`parser: ${SESSION}:2 an entry of an unknown type (hologram)`, undefined],
      [`parser: ${SESSION}:4 a message of an unknown role (oracle)`, undefined],
    ])
  })

  test('calls that a tool made by itself are tool calls, before its result', async () => {
    const message = {
      role: 'toolResult',
      toolCallId: 'outer',
      toolName: 'codemode',
      content: [{ type: 'text', text: 'done' }],
      isError: false,
      nestedCalls: { calls: [{ id: 'n1', name: 'bash', arguments: { command: 'rm -rf build' }, status: 'ok' }], complete: true },
    }
    const { rows } = await rowsOf({ [SESSION]: jsonLines(header, { type: 'message', id: 'a', parentId: null, timestamp: T(1), message }) })
    expect(rows.map(({ turn_type, tool_name, tool_use_id, text }) => [turn_type, tool_name, tool_use_id, text])).toEqual([
      ['tool_use', 'bash', 'n1', 'rm -rf build'],
      ['tool_result', 'codemode', 'outer', 'done'],
    ])
    expect(rows[0]!.details).toMatchObject({ nested_in: 'outer', status: 'ok' })
  })

  test('a line that pi skips is named; a time that is missing is borrowed from the message only', async () => {
    const file = `${jsonLines(header)}{"type":"mess\n${jsonLines({ ...user(2, 'late', { id: 'b', parentId: 'lost' }), timestamp: undefined }, user(0, 'never', { id: 'c', parentId: 'b', timestamp: null, message: { role: 'user', content: 'never' } }))}`
    const { rows } = await rowsOf({ [SESSION]: file })
    expect(rows.map(({ text, timestamp_utc, session_id, details }) => [text, timestamp_utc, session_id, details.branch])).toEqual([
      ['late', T(2), 's-1', undefined],
      [`parser: ${SESSION}:2 not valid JSON`, '', 's-1', undefined],
      ['never', '', 's-1', undefined],
    ])
  })

  test('arguments without a telling key print as recorded, digits and key order kept', async () => {
    const call =
      '{"type":"message","id":"a","parentId":null,"timestamp":"2026-01-02T03:04:01.000Z","message":{"role":"assistant","content":[{"type":"toolCall","id":"t","name":"x","arguments":{"b":1.0,"2":true,"1":12345678901234567890}}],"provider":"p","model":"m"}}'
    const { rows } = await rowsOf({ [SESSION]: `${jsonLines(header)}${call}\n` })
    expect(rows.map(({ text }) => text)).toEqual(['model: m provider=p', '{"b":1.0,"2":true,"1":12345678901234567890}'])
  })

  test('beside a fragment such a call still gives its row', async () => {
    const call = {
      type: 'message',
      id: 'a',
      parentId: null,
      timestamp: T(1),
      message: { role: 'assistant', content: [{ type: 'toolCall', id: 't', name: 'x', arguments: { n: 1 } }], provider: 'p', model: 'm' },
    }
    const { rows } = await rowsOf({ [SESSION]: `${jsonLines(header)}{"type":"mes${JSON.stringify(call)}\n` })
    expect(rows.map(({ text }) => text)).toEqual([
      'model: m provider=p',
      '{"n":1}',
      `parser: ${SESSION}:2 a record stands beside a fragment that is not a record`,
    ])
  })
})

describe('forks', () => {
  const earlier = '.pi/agent/sessions/--srv-work--/first.jsonl'
  const later = '.pi/agent/sessions/second.jsonl'

  test('before 0.31 copy lines without ids: the same line is the same event', async () => {
    const line = user(1, 'one')
    const { rows } = await rowsOf({
      [earlier]: jsonLines({ ...header, version: undefined }, line),
      [later]: jsonLines(
        { type: 'session', id: 's-2', timestamp: T(9), cwd: '/srv/work', branchedFrom: '/x/first.jsonl' },
        line,
        user(10, 'own'),
      ),
    })
    expect(rows.map(({ session_id, text, details }) => [session_id, text, details.copied_from ?? null])).toEqual([
      ['s-1', 'one', null],
      ['s-2', 'one', { session_id: 's-1', source_file: earlier, source_line: 2 }],
      ['s-2', 'own', null],
    ])
  })

  test('a label is written anew in the copy: target and time tell that it is one', async () => {
    const label = (id: string) => ({ type: 'label', id, parentId: null, timestamp: T(2), targetId: 'x', label: 'L' })
    const { rows } = await rowsOf({
      [earlier]: jsonLines(header, label('a')),
      [later]: jsonLines({ ...header, id: 's-2', timestamp: T(9), parentSession: '/gone.jsonl' }, label('b')),
    })
    expect(rows.map(({ details }) => details.copied_from !== undefined)).toEqual([false, true])
  })

  test('the same id in a file that is no fork is an event of its own', async () => {
    const entry = user(1, 'one', { id: 'a', parentId: null })
    const { rows } = await rowsOf({
      [earlier]: jsonLines(header, entry),
      [later]: jsonLines({ ...header, id: 's-2', timestamp: T(9) }, entry),
    })
    expect(rows.filter(({ details }) => details.copied_from !== undefined)).toEqual([])
  })
})

test('sessions that were kept elsewhere are read under their usual path', async () => {
  const moved = makeHome({ 'a_s-9.jsonl': jsonLines({ ...header, id: 's-9' }, user(1, 'hi')) }, { at: 'elsewhere' })
  const home = makeHome({})
  const moves = pi.environment.find(({ flag }) => flag === 'pi-session-dir')!.moves!
  const { rows } = await parse({ homes: [home], moved: [{ directory: moved, ...moves }] }, {}, new PiParser(pi))
  expect(rows.map(({ session_id, source_file }) => [session_id, source_file])).toEqual([['s-9', '.pi/agent/sessions/a_s-9.jsonl']])
})

test('settings that move the sessions are named, since nothing stands at the usual place', async () => {
  const { rows } = await rowsOf({
    '.pi/agent/settings.json': JSON.stringify({ sessionDir: '/srv/pi-sessions' }),
    [SESSION]: jsonLines({ ...header, cwd: '/home/alice/work' }, user(1, 'hi')),
    'work/.pi/settings.json': JSON.stringify({ sessionDir: 'log' }),
  })
  expect(
    rows
      .filter(({ details }) => details.kind === 'parser')
      .map(({ text }) => text)
      .sort(),
  ).toEqual([
    'parser: .pi/agent/settings.json keeps sessions in /srv/pi-sessions: --pi-session-dir reads them from there',
    'parser: /home/alice/work/.pi/settings.json keeps sessions in log: --pi-session-dir reads them from there',
  ])
})

test('what credentials hold reaches no row', async () => {
  const secret = 'sk-of-nobody'
  const { rows, runs } = await rowsOf({
    '.pi/agent/auth.json': JSON.stringify({ openai: { type: 'api_key', key: secret } }),
    '.pi/agent/models.json': JSON.stringify({ providers: { p: { apiKey: secret } } }),
    [SESSION]: jsonLines(header, user(1, 'hi')),
  })
  expect(JSON.stringify(rows)).not.toContain(secret)
  expect([...runs[0]!.run.files].map(({ path }) => path)).toEqual([SESSION])
})
