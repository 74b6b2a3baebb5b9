import fs from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from '@jest/globals'
import {
  AGENT,
  assistant,
  at,
  call,
  conversation,
  directoryOf,
  entry,
  START,
  toolResult,
  transcriptOf,
  user,
} from '../../helpers/conversations.js'
import { cases, jsonLines, makeHome, parse } from '../../helpers/fixtures.js'

const ID = 'local-conv-1'
const run = async (files: Record<string, string>, options = {}) => parse({ homes: [makeHome(files)] }, options)

/** The rows of secondary files that stay: store, turn type and text. */
async function stay(files: Record<string, string>, options = {}) {
  const { rows } = await run(files, options)
  return rows.filter((row) => row.details.store !== 'messages').map((row) => [row.details.store, row.turn_type, row.text])
}
const transcript = (...lines: object[]) => ({ [transcriptOf(ID)]: jsonLines(...lines.map((line) => ({ captured_at: at(0), ...line }))) })
const said = (kind: string, text: string, s = 0, more: object = {}) => ({ kind, text, captured_at: at(s), ...more })
const HOUR = 3600

describe('a transcript line that messages.jsonl holds too', () => {
  test('is dropped when turn type, text and conversation agree', async () => {
    const files = {
      ...conversation(
        ID,
        {},
        user('q'),
        assistant(
          [
            { type: 'thinking', thinking: 'hm' },
            { type: 'text', text: 'a' },
          ],
          { s: 1 },
        ),
      ),
      ...transcript(said('user', 'q', 5), said('reasoning', 'hm', 5), said('assistant', 'a', 5)),
    }
    expect(await stay(files)).toEqual([])
    const { runs } = await run(files)
    expect(runs[0]!.run.tallies.get('transcripts')).toMatchObject({ records: 3, rows: 0, dropped: 3 })
  })

  test('stays with --all-sources', async () => {
    const files = { ...conversation(ID, {}, user('q')), ...transcript(said('user', 'q')) }
    expect(await stay(files, { allSources: true })).toEqual([['transcripts', 'user', 'q']])
  })

  test.each([
    ['another text', conversation(ID, {}, user('other'))],
    ['another turn type', conversation(ID, {}, assistant('q'))],
    ['another conversation', conversation('local-conv-2', {}, user('q'))],
    ['another agent', conversation(ID, { agent: 'agent-local-2' }, user('q'))],
  ])('stays when it is of %s', async (_, messages) => {
    expect(await stay({ ...messages, ...transcript(said('user', 'q')) })).toEqual([['transcripts', 'user', 'q']])
  })

  test('matches any agent where nothing names that of the messages', async () => {
    expect(await stay({ ...conversation(ID, { record: false }, user('q')), ...transcript(said('user', 'q')) })).toEqual([])
  })

  test('knows the agent of a default conversation from the name of its directory', async () => {
    const messages = conversation('default', { record: false }, user('q'))
    const lines = jsonLines(said('user', 'q'))
    expect(await stay({ ...messages, [transcriptOf('default')]: lines })).toEqual([])
    expect(await stay({ ...messages, [transcriptOf('default', 'agent-local-2')]: lines })).toHaveLength(1)
  })

  test('compares a prompt with the message without its injected context, white space collapsed', async () => {
    const files = {
      ...conversation(
        ID,
        {},
        user([
          { type: 'text', text: '<system-reminder>x</system-reminder>' },
          { type: 'text', text: 'a  b' },
          { type: 'text', text: 'c' },
        ]),
      ),
      ...transcript(said('user', ' a b\n\nc ')),
    }
    expect(await stay(files)).toEqual([])
  })

  test('compares other texts exactly', async () => {
    expect(await stay({ ...conversation(ID, {}, assistant('a  b')), ...transcript(said('assistant', 'a b')) })).toHaveLength(1)
  })
})

describe('the hour between two copies', () => {
  const pairAt = (s: number, more = {}) => stay({ ...conversation(ID, {}, user('q')), ...transcript(said('user', 'q', s, more)) })

  test.each([
    [HOUR, 0],
    [-HOUR, 0],
    [HOUR + 0.001, 1],
    [-HOUR - 0.001, 1],
  ])('%d seconds apart, %d rows stay', async (s, rows) => {
    expect(await pairAt(s)).toHaveLength(rows)
  })

  test('is measured from the submission of a prompt, where a line tells it', async () => {
    const source_line_id = (s: number) => ({ source_line_id: `user-${(START + s * 1000).toString(36)}-abcdef` })
    expect(await pairAt(3 * HOUR, source_line_id(0))).toHaveLength(0)
    expect(await pairAt(0, source_line_id(3 * HOUR))).toHaveLength(1)
  })

  test.each([
    ['on the line', [user('q')], [{ kind: 'user', text: 'q', captured_at: undefined }]],
    ['on the message', [user('q', { timestamp: null, stamp: null })], [said('user', 'q', 5 * HOUR)]],
    ['that is a counter', [user('q', { timestamp: '2026-01-01T00:00:01.000Z', stamp: null })], [said('user', 'q', 5 * HOUR)]],
  ])('is no obstacle when there is no time, %s', async (_, messages, lines) => {
    expect(await stay({ ...conversation(ID, {}, ...messages), [transcriptOf(ID)]: jsonLines(...lines) })).toEqual([])
  })
})

describe('tool rows', () => {
  const calls = conversation(ID, {}, assistant([call('call_1', { command: 'ls' })]), toolResult('call_1', 'out', { s: 1 }))
  const tool = (id: string | undefined, command: string, resultText: string, s = 2) => ({
    kind: 'tool_call',
    name: 'Bash',
    argsText: JSON.stringify({ command }),
    resultText,
    resultOk: true,
    captured_at: at(s),
    source_line_id: id,
  })

  test('with one id are one event, though their texts differ: a denial is worded twice', async () => {
    expect(await stay({ ...calls, ...transcript(tool('call_1', 'ls', 'Error: request to call tool denied. User reason: no')) })).toEqual([])
  })

  test('with one id but neither the text nor the hour in common are two', async () => {
    expect(await stay({ ...calls, ...transcript(tool('call_1', 'ls', 'other', 2 * HOUR)) })).toEqual([
      ['transcripts', 'tool_result', 'other'],
    ])
  })

  test('with one id and one text are one at any distance', async () => {
    expect(await stay({ ...calls, ...transcript(tool('call_1', 'ls', 'out', 50 * HOUR)) })).toEqual([])
  })

  test('with two ids are two, though their texts agree', async () => {
    expect(await stay({ ...calls, ...transcript(tool('call_9', 'ls', 'out')) })).toHaveLength(2)
  })

  test('of a line without an id are compared by text', async () => {
    expect(await stay({ ...calls, ...transcript(tool(undefined, 'ls', 'out')) })).toEqual([])
    expect(await stay({ ...calls, ...transcript(tool(undefined, 'ls', 'else')) })).toEqual([['transcripts', 'tool_result', 'else']])
  })

  test('the id goes before the text', async () => {
    const two = conversation(ID, {}, toolResult('call_1', 'same', { s: 0 }), toolResult('call_2', 'same', { s: 10 }))
    const { rows } = await run({ ...two, ...transcript(tool('call_2', 'x', 'same', 0)) })
    expect(rows.filter((row) => row.details.store === 'transcripts').map((row) => row.turn_type)).toEqual(['tool_use'])
  })
})

describe('one cancels one', () => {
  test('of two equal lines only one has a partner: the nearer', async () => {
    const files = { ...conversation(ID, {}, user('yes', { s: 100 })), ...transcript(said('user', 'yes', 40), said('user', 'yes', 130)) }
    const { rows } = await run(files)
    expect(rows.filter((row) => row.details.store === 'transcripts').map((row) => row.source_line)).toEqual([1])
  })

  test('equal rows pair in the order of their times', async () => {
    const messages = [0, 100, 200].map((s) => user('yes', { s }))
    const files = { ...conversation(ID, {}, ...messages), ...transcript(...[5, 105, 205].map((s) => said('user', 'yes', s))) }
    expect(await stay(files)).toEqual([])
  })

  test('of many equal rows, too many to compare each with each, one more stays', async () => {
    const many = 400
    const messages = Array.from({ length: many }, (_, s) => user('yes', { s }))
    const lines = Array.from({ length: many + 1 }, (_, s) => said('user', 'yes', s))
    expect(await stay({ ...conversation(ID, {}, ...messages), ...transcript(...lines) })).toHaveLength(1)
  })

  test('a transcript and a backup each cancel one of the same message', async () => {
    const message = user('q')
    const files = {
      ...conversation(ID, {}, message),
      [`${directoryOf(ID)}/messages.jsonl.pre-pi-backup-20261130-180118`]: jsonLines((message as { message: object }).message),
      ...transcript(said('user', 'q')),
    }
    expect(await stay(files)).toEqual([])
  })
})

describe('a backup from before a migration', () => {
  const BACKUP = `${directoryOf(ID)}/messages.jsonl.pre-pi-backup-20261130-180118`
  const bare = (text: string, s: number, id: string) => ({
    id,
    role: 'user',
    content: [{ type: 'text', text }],
    timestamp: START + s * 1000,
    metadata: { created_at: at(s) },
  })

  test('gives only what the migrated file lost', async () => {
    const files = { ...conversation(ID, {}, user('kept', { s: 1 })), [BACKUP]: jsonLines(bare('kept', 1, 'a'), bare('lost', 2, 'b')) }
    const { rows, runs } = await run(files)
    expect(rows.map((row) => [row.text, row.details.store, row.source_file.split('/').at(-1)])).toEqual([
      ['kept', 'messages', 'messages.jsonl'],
      ['lost', 'messages-backup', 'messages.jsonl.pre-pi-backup-20261130-180118'],
    ])
    expect(runs[0]!.run.tallies.get('messages-backup')).toMatchObject({ rows: 1, dropped: 1, records: 2 })
  })

  test("'s rows that stay count as messages.jsonl against the transcript", async () => {
    const files = {
      ...conversation(ID, {}, user('kept', { s: 1 })),
      [BACKUP]: jsonLines(bare('lost', 2, 'b')),
      ...transcript(said('user', 'lost', 3)),
    }
    expect(await stay(files)).toEqual([['messages-backup', 'user', 'lost']])
  })

  test('without messages.jsonl is read whole, in the session of its directory', async () => {
    const { rows } = await run({ [BACKUP]: jsonLines(bare('a', 1, 'a')) })
    expect(rows.map((row) => [row.text, row.session_id])).toEqual([['a', ID]])
  })
})

describe("an interrupted turn's record", () => {
  const FILE = `.letta/listener-state/0123456789abcdef01234567/${AGENT}_${ID}.json`
  const record = {
    agentId: AGENT,
    conversationId: ID,
    toolCallIds: ['call_1'],
    results: [
      { type: 'tool', tool_call_id: 'call_1', tool_return: 'out', status: 'success' },
      { type: 'approval', approve: false, tool_call_id: 'call_2' },
    ],
  }
  const kinds = async (files: Record<string, string>) =>
    (await run(files)).rows.filter((row) => row.details.store === 'listener-state').map((row) => row.details.kind ?? row.turn_type)

  test('loses the tool result that messages.jsonl holds, nothing else', async () => {
    const messages = conversation(ID, {}, toolResult('call_1', 'out'))
    expect(await kinds({ ...messages, [FILE]: JSON.stringify(record) })).toEqual(['interrupted-turn', 'permission-decision'])
  })

  test('keeps a result that no message has', async () => {
    expect(await kinds({ ...conversation(ID, {}, user('q')), [FILE]: JSON.stringify(record) })).toEqual([
      'interrupted-turn',
      'tool_result',
      'permission-decision',
    ])
  })

  test('without its conversation on disk is read whole', async () => {
    expect(await kinds({ [FILE]: JSON.stringify(record) })).toHaveLength(3)
  })
})

test('snapshots that were replaced cancel nothing', async () => {
  const files = {
    ...conversation(ID, {}, assistant('draft', { id: 'm' }), assistant('final', { id: 'm', s: 1 })),
    ...transcript(said('assistant', 'draft', 2), said('assistant', 'final', 2)),
  }
  expect(await stay(files)).toEqual([['transcripts', 'assistant', 'draft']])
})

test('what a secondary file says of itself is never a copy', async () => {
  const bad = '{"kind":"user","text":"cut'
  const rows = (await run({ ...conversation(ID, {}, entry({ role: 'oracle' })), [transcriptOf(ID)]: `${bad}\n` })).rows
  expect(
    rows
      .filter((row) => row.details.kind === 'parser')
      .map((row) => row.details.store)
      .sort(),
  ).toEqual(['messages', 'transcripts'])
})

describe.each(cases('letta').map((given) => [given.name, given] as const))('in the recorded home %s', (_, given) => {
  test('no prompt appears twice, but for copies in forks', async () => {
    const { rows } = await parse({ homes: [given.home] })
    const prompts = rows.filter(
      (row) => row.turn_type === 'user' && row.details.copied_from === undefined && row.details.store !== 'transcripts',
    )
    const fromTranscripts = rows.filter((row) => row.turn_type === 'user' && row.details.store === 'transcripts')
    for (const row of fromTranscripts) {
      const same = prompts.filter(
        (prompt) =>
          prompt.session_id === row.session_id &&
          prompt.text.replace(/\s+/g, ' ').trim() === row.text.replace(/\s+/g, ' ').trim() &&
          Math.abs(Date.parse(prompt.timestamp_utc) - Date.parse(row.timestamp_utc)) < 60_000,
      )
      expect([row.text, same.map((prompt) => prompt.source_line)]).toEqual([row.text, []])
    }
  })
})

describe('a secondary file that cannot be read', () => {
  const BACKUP = `${directoryOf(ID)}/messages.jsonl.pre-pi-backup-20261130-180118`

  test.each([
    ['transcript', transcriptOf(ID)],
    ['backup', BACKUP],
  ])('is named once: a %s', async (_, file) => {
    const home = makeHome({ ...conversation(ID, {}, user('q'), assistant('a', { id: 'm' }), assistant('b', { id: 'm' })), '.letta/x': '' })
    fs.mkdirSync(path.dirname(path.join(home, file)), { recursive: true })
    fs.symlinkSync(path.join(home, '.letta/x'), path.join(home, file))
    const { rows, runs } = await parse({ homes: [home] })
    expect(rows.filter((row) => row.details.kind === 'parser').map((row) => row.text)).toEqual([
      `parser: ${file} is a symbolic link, which is not followed`,
    ])
    expect([...runs[0]!.run.troubles.keys()]).toEqual([file])
    expect(rows.filter((row) => row.turn_type !== 'system').map((row) => row.text)).toEqual(['q', 'b'])
  })

  test('nor the messages themselves: the transcript then stands for them', async () => {
    const home = makeHome({
      ...transcript(said('user', 'q')),
      '.letta/x': '',
      [`${directoryOf(ID)}/conversation.json`]: JSON.stringify({ id: ID, agent_id: AGENT }),
    })
    fs.symlinkSync(path.join(home, '.letta/x'), path.join(home, `${directoryOf(ID)}/messages.jsonl`))
    const { rows } = await parse({ homes: [home] })
    expect(rows.map((row) => [row.details.store, row.details.kind ?? row.text])).toEqual([
      ['transcripts', 'q'],
      ['messages', 'parser'],
    ])
  })
})
