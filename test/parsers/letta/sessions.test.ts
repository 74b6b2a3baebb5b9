import { describe, expect, test } from '@jest/globals'
import { jsonLines, makeHome, parse } from '../../helpers/fixtures.js'

const AT = 1796061332062
const ISO = '2026-11-30T17:55:32.062Z'
const ended = {
  agent_id: 'agent-1',
  session_id: 's-1',
  timestamp: AT,
  project: '/srv/p',
  model: 'm-1',
  provider: 'prov',
  duration: { api_ms: 1, wall_ms: 60000.5 },
  message_count: 4,
  tool_call_count: 1,
  exit_reason: 'exit_command',
}

async function rowsOf(...lines: (object | string)[]) {
  const text = lines.map((line) => (typeof line === 'string' ? `${line}\n` : jsonLines(line))).join('')
  const { rows, runs } = await parse({ homes: [makeHome({ '.letta/sessions.jsonl': text })] })
  return { rows, tally: runs[0]!.run.tallies.get('sessions')! }
}
const texts = (rows: readonly { readonly text: string }[]) => rows.map((row) => row.text)

describe('sessions.jsonl', () => {
  test('a line is a session end, with its model behind it', async () => {
    const { rows, tally } = await rowsOf(ended)
    expect(rows.map((row) => [row.text, row.timestamp_utc, row.session_id, row.project_path, row.model, row.source_line])).toEqual([
      ['letta session end: agent=agent-1 exit_reason=exit_command messages=4 tool_calls=1 wall_ms=60000.5', ISO, 's-1', '/srv/p', '', 1],
      ['model: m-1 provider=prov', ISO, 's-1', '/srv/p', 'm-1', 1],
    ])
    expect(rows[0]!.details).toMatchObject({
      store: 'sessions',
      time_source: 'record',
      kind: 'session-end',
      agent_id: 'agent-1',
      exit_reason: 'exit_command',
      message_count: 4,
      tool_call_count: 1,
      wall_ms: 60000.5,
    })
    expect(rows[1]!.details).toMatchObject({ kind: 'model', model: 'm-1', provider: 'prov' })
    expect(tally).toMatchObject({ records: 1, rows: 2, bad: 0 })
  })

  test('without an exit reason and without a count of messages it is a start', async () => {
    const { rows } = await rowsOf({ ...ended, exit_reason: undefined, message_count: undefined })
    expect(rows[0]!.text).toBe('letta session start: agent=agent-1 provider=prov model=m-1 project=/srv/p')
    expect(rows[0]!.details.kind).toBe('session-start')
  })

  test.each([
    ['a count of 0 messages', { exit_reason: undefined, message_count: 0 }, 'exit_reason=- messages=0'],
    ['only an exit reason', { message_count: undefined }, 'exit_reason=exit_command messages=-'],
    ['an empty exit reason and a count', { exit_reason: '' }, 'exit_reason=- messages=4'],
  ])('with %s it is an end', async (_, change, words) => {
    expect((await rowsOf({ ...ended, ...change })).rows[0]!.text).toContain(words)
  })

  test('an empty provider, as releases write it, is -', async () => {
    expect((await rowsOf({ ...ended, provider: '' })).rows[1]!.text).toBe('model: m-1 provider=-')
  })

  test('another model in a later line of the session is a change; the same one is not, nor is another session', async () => {
    const { rows } = await rowsOf(
      ended,
      { ...ended, timestamp: AT + 1 },
      { ...ended, timestamp: AT + 2, model: 'm-2', provider: 'q' },
      { ...ended, timestamp: AT + 3, session_id: 's-2', model: 'm-2' },
      { ...ended, timestamp: AT + 4, model: 'm-1' },
      { ...ended, timestamp: AT + 5, model: '' },
      { ...ended, timestamp: AT + 6, model: 'm-1' },
    )
    expect(rows.filter((row) => row.details.kind === 'model').map((row) => [row.source_line, row.text, row.model])).toEqual([
      [1, 'model: m-1 provider=prov', 'm-1'],
      [3, 'model: m-1 -> m-2 provider=q', 'm-2'],
      [4, 'model: m-2 provider=prov', 'm-2'],
      [5, 'model: m-2 -> m-1 provider=prov', 'm-1'],
    ])
  })

  test('the first line that names a model may be a later one', async () => {
    const { rows } = await rowsOf({ ...ended, model: undefined }, { ...ended, timestamp: AT + 1 })
    expect(rows.filter((row) => row.details.kind === 'model').map((row) => row.source_line)).toEqual([2])
  })

  test('numbers print with the digits that they were recorded with', async () => {
    const { rows } = await rowsOf(
      '{"agent_id":"a","session_id":"s","timestamp":1796061332062.0,"message_count":1.0,"tool_call_count":1e3,"duration":{"wall_ms":12345678901234567890},"exit_reason":"x"}',
    )
    expect(texts(rows)).toEqual(['letta session end: agent=a exit_reason=x messages=1.0 tool_calls=1e3 wall_ms=12345678901234567890'])
    expect(rows[0]!.timestamp_utc).toBe(ISO)
  })

  test('an odd field is named and costs only itself', async () => {
    const { rows, tally } = await rowsOf({ ...ended, duration: 'long', cost: 7 })
    expect(texts(rows.slice(0, 1))).toEqual(['letta session end: agent=agent-1 exit_reason=exit_command messages=4 tool_calls=1 wall_ms=-'])
    const [problem, ...others] = rows.filter((row) => row.details.kind === 'parser')
    expect(others).toEqual([])
    expect(problem!.text).toMatch(/^parser: \.letta\/sessions\.jsonl:1 .*duration.*cost/)
    expect([problem!.timestamp_utc, problem!.source_line, tally.bad]).toEqual(['', 1, 1])
  })

  test('a field that is new is counted, not named', async () => {
    const { rows, tally } = await rowsOf({ ...ended, colour: 'red' }, { ...ended, colour: 'blue', nested: { x: 1 } })
    expect(rows.some((row) => row.details.kind === 'parser')).toBe(false)
    expect(Object.fromEntries(tally.unknownFields)).toEqual({ colour: 2, nested: 1 })
  })

  test.each([
    ['a cut last line', '{"agent_id":"a","session_id":"s","timest'],
    ['a number', '17'],
    ['a list', '[{"session_id":"s"}]'],
    ['text', 'not json'],
    ['null', 'null'],
  ])('%s gives a parser row at its line, and the lines around it their own', async (_, line) => {
    const { rows } = await rowsOf(ended, line, { ...ended, session_id: 's-2' })
    expect(rows.filter((row) => row.details.kind === 'session-end').map((row) => row.source_line)).toEqual([1, 3])
    expect(rows.filter((row) => row.details.kind === 'parser').map((row) => row.source_line)).toEqual([2])
  })

  test('blank lines are silent, and are counted as lines', async () => {
    const { rows } = await rowsOf('', '   ', ended, '\t')
    expect(rows.map((row) => row.source_line)).toEqual([3, 3])
  })

  test('a byte order mark and CRLF line ends are no trouble', async () => {
    const { rows } = await rowsOf(`\ufeff${JSON.stringify(ended)}\r`, `${JSON.stringify(ended)}\r`)
    expect(rows.map((row) => row.details.kind)).toEqual(['session-end', 'model', 'session-end'])
  })

  test('two records on one line, and NUL bytes around one, are read, and the line is named', async () => {
    const one = JSON.stringify(ended)
    const { rows } = await rowsOf(`${one}${JSON.stringify({ ...ended, session_id: 's-2' })}`, `\0\0${one}\0`)
    expect(rows.filter((row) => row.details.kind === 'session-end').map((row) => [row.session_id, row.source_line])).toEqual([
      ['s-1', 1],
      ['s-2', 1],
      ['s-1', 2],
    ])
    expect(rows.filter((row) => row.details.kind === 'parser').map((row) => row.source_line)).toEqual([1, 2])
  })

  test('keys that JavaScript objects have are data', async () => {
    const { rows } = await rowsOf(
      '{"__proto__":{"exit_reason":"polluted"},"constructor":1,"session_id":"s","timestamp":0,"message_count":1}',
    )
    expect(texts(rows)).toEqual(['letta session end: agent=- exit_reason=- messages=1 tool_calls=- wall_ms=-'])
    expect(({} as Record<string, unknown>).exit_reason).toBeUndefined()
  })
})
