import path from 'node:path'
import { describe, expect, test } from '@jest/globals'
import type { Row } from '../../src/rows/index.js'
import { cli } from '../helpers/cli.js'
import { assistant, at, call, conversation, directoryOf, transcriptOf, user } from '../helpers/conversations.js'
import { jsonLines, makeHome, parse } from '../helpers/fixtures.js'

const ID = 'local-conv-1'
const MESSAGES = `${directoryOf(ID)}/messages.jsonl`
const rowsOf = async (files: Record<string, string | Buffer>, options = {}) => (await parse({ homes: [makeHome(files)] }, options)).rows
const problems = (rows: readonly Row[]) =>
  rows.filter((row) => row.details.kind === 'parser').map((row) => [row.source_file, row.source_line])
const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)

describe('keys that JavaScript objects have', () => {
  test('are data in every store, and change no object', async () => {
    const evil = '"__proto__":{"polluted":"yes"},"constructor":{"prototype":{"polluted":"yes"}}'
    const rows = await rowsOf({
      '.letta/settings.json': `{${evil},"permissions":{${evil}}}`,
      '.letta/crons.json': `{${evil},"tasks":[{${evil},"id":"t","created_at":"${at(0)}"}]}`,
      '.letta/sessions.jsonl': `{${evil},"session_id":"s","timestamp":1,"message_count":1}\n`,
      '.letta/remote-settings.json': `{"cwdMap":{"__proto__":"/x"}}`,
      [transcriptOf('conv-1')]: `{${evil},"kind":"user","text":"x","captured_at":"${at(0)}"}\n`,
      [MESSAGES]: `{${evil},"type":"message","timestamp":"${at(0)}","message":{${evil},"role":"assistant","content":[{"type":"toolCall","id":"c","name":"T","arguments":{${evil}}}]}}\n`,
    })
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
    expect(problems(rows)).toEqual([])
    expect(rows.filter((row) => row.details.kind === 'permission-setting').map((row) => row.details.key)).toEqual([
      '__proto__',
      'constructor',
    ])
    expect(rows.find((row) => row.turn_type === 'tool_use')!.text).toBe(`{${evil}}`)
  })

  test('that stand twice: the last one counts', async () => {
    const rows = await rowsOf({ [transcriptOf('conv-1')]: `{"kind":"user","text":"first","text":"last","captured_at":"${at(0)}"}\n` })
    expect(rows.map((row) => row.text)).toEqual(['last'])
  })
})

describe('nesting of a hundred thousand levels', () => {
  test.each([
    ['settings', '.letta/settings.json', `{"permissions":{"allow":[${nested(100_000)}]}}`],
    ['settings, of digits to keep', '.letta/settings.json', `{"permissions":{"allow":[1.0,${nested(100_000)}]}}`],
    ['schedules', '.letta/crons.json', `{"tasks":[{"id":${nested(100_000)}}]}`],
    ['routes', '.letta/channels/x/routing.json', `{"routes":[{"chatId":${nested(100_000)}}]}`],
    [
      'interrupted turns',
      '.letta/listener-state/0/a_b.json',
      `{"agentId":"a","results":[{"type":"approval","approve":false,"reason":${nested(100_000)}}]}`,
    ],
    ['sessions', '.letta/sessions.jsonl', `{"session_id":"s","exit_reason":${nested(100_000)}}\n`],
    ['runs', '.letta/runs/a.jsonl', `{"jobId":"s","error":${nested(100_000)}}\n`],
  ])('in %s is named, and ends no run', async (_, file, content) => {
    const rows = await rowsOf({ [file]: content, [transcriptOf('conv-1')]: jsonLines({ kind: 'user', text: 'x', captured_at: at(0) }) })
    expect(problems(rows).map(([name]) => name)).toEqual([file])
    expect(rows.some((row) => row.text === 'x')).toBe(true)
  })

  test.each([
    ['a transcript', transcriptOf('conv-1'), `{"kind":"user","text":"deep","captured_at":"${at(0)}","extra":${nested(100_000)}}\n`],
    [
      "a tool call's text",
      transcriptOf('conv-1'),
      jsonLines({ kind: 'tool_call', name: 'T', argsText: nested(100_000), captured_at: at(0) }),
    ],
  ])('in %s ends no run', async (_, file, content) => {
    const rows = await rowsOf({ [file]: content, '.letta/settings.json': '{"permissions":{"mode":"x"}}' })
    expect(rows.some((row) => row.details.kind === 'permission-setting')).toBe(true)
    expect(rows.filter((row) => row.source_file === file).length).toBeGreaterThan(0)
  })

  test.each([
    ['arguments of a call', JSON.stringify(assistant([call('c', 'DEEP')]))],
    ['a compaction', JSON.stringify({ type: 'compaction', id: 'c', timestamp: at(1), summary: 'DEEP' })],
    [
      'an output in the older form',
      JSON.stringify({
        id: 'u',
        role: 'assistant',
        parts: [{ type: 'tool-T', state: 'output-available', output: 'DEEP' }],
        metadata: { created_at: at(1) },
      }),
    ],
  ])('in messages.jsonl, as %s, is named, and ends no run', async (_, line) => {
    const rows = await rowsOf({ [MESSAGES]: `${line.replace('"DEEP"', nested(100_000))}\n${jsonLines(user('after'))}` })
    expect(problems(rows)).toEqual([[MESSAGES, 1]])
    expect(rows.some((row) => row.text === 'after')).toBe(true)
  })
})

describe('lines made to exhaust their reader', () => {
  const after = jsonLines({ kind: 'user', text: 'after', captured_at: at(0) })

  test.each([
    ['ten million {', '{'.repeat(10_000_000)],
    ['a million [', '['.repeat(1_000_000)],
    ['a million "', '"'.repeat(1_000_000)],
    ['a million {}', '{}'.repeat(1_000_000)],
    ['a million {"kind":', '{"kind":'.repeat(1_000_000)],
    ['a million backslashes in a string', `{"kind":"${'\\\\'.repeat(500_000)}`],
    ['a million NULs', '\0'.repeat(1_000_000)],
    ['a million spaces and a word', `${' '.repeat(1_000_000)}x`],
  ])(
    '%s are one parser row, in seconds, and the next line is read',
    async (_, line) => {
      const started = Date.now()
      const rows = await rowsOf({ [transcriptOf('conv-1')]: `${line}\n${after}` })
      expect(problems(rows)).toEqual([[transcriptOf('conv-1'), 1]])
      expect(rows.filter((row) => row.turn_type === 'user').map((row) => [row.text, row.source_line])).toEqual([['after', 2]])
      expect(Date.now() - started).toBeLessThan(10_000)
    },
    30_000,
  )

  test('NULs between words take no longer than other bytes', async () => {
    const started = Date.now()
    const rows = await rowsOf({ [transcriptOf('conv-1')]: `x${'\0'.repeat(40_000)}x\n${after}` })
    expect(problems(rows)).toEqual([[transcriptOf('conv-1'), 1]])
    expect(Date.now() - started).toBeLessThan(300)
  })

  test('a line over the limit is named with its length, in every line-based store', async () => {
    const long = (line: object) => `${JSON.stringify({ ...line, pad: 'x'.repeat(2000) })}\n`
    const files = {
      [transcriptOf('conv-1')]: long({ kind: 'user', text: 'x' }) + after,
      [MESSAGES]: long(user('x')) + jsonLines(user('y')),
      '.letta/sessions.jsonl': long({ session_id: 's' }),
      '.letta/runs/a.jsonl': long({ jobId: 'a' }),
    }
    const rows = await rowsOf(files, { lineLimit: 1000 })
    expect(problems(rows)).toEqual(
      Object.keys(files)
        .sort()
        .map((name) => [name, 1]),
    )
    for (const row of rows.filter((row) => row.details.kind === 'parser')) expect(row.text).toMatch(/line of \d{4} bytes is over the limit/)
    expect(
      rows
        .filter((row) => row.turn_type === 'user')
        .map((row) => row.text)
        .sort(),
    ).toEqual(['after', 'y'])
  })
})

describe('bytes that are no text', () => {
  test('give U+FFFD, are named, and mark their rows', async () => {
    const line = Buffer.from(`{"kind":"user","text":"a\xff\xfeb","captured_at":"${at(0)}"}\n`, 'latin1')
    const good = Buffer.from(jsonLines({ kind: 'user', text: 'é', captured_at: at(1) }))
    const rows = await rowsOf({ [transcriptOf('conv-1')]: Buffer.concat([good, line, good]) })
    const users = rows.filter((row) => row.turn_type === 'user')
    expect(users.map((row) => [row.text, row.source_line, row.details.invalid_utf8])).toEqual([
      ['a\ufffd\ufffdb', 2, true],
      ['é', 1, undefined],
      ['é', 3, undefined],
    ])
    expect(problems(rows)).toEqual([[transcriptOf('conv-1'), 2]])
  })

  test.each([
    ['UTF-16', Buffer.from('\ufeff{"kind":"user","text":"x"}\n', 'utf16le')],
    ['a compressed file', Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0xff, 10, 0xfe, 10])],
    ['noise', Buffer.from(Array.from({ length: 4096 }, (_, i) => (i * 7919) % 256))],
  ])('%s in the place of a transcript ends no run', async (_, content) => {
    const rows = await rowsOf({ [transcriptOf('conv-1')]: content, '.letta/settings.json': '{"permissions":{"mode":"x"}}' })
    expect(rows.some((row) => row.details.kind === 'permission-setting')).toBe(true)
    expect(problems(rows).length).toBeGreaterThan(0)
  })
})

test('the command on all of it: exit 3, no stack trace, nothing raw on the terminal, every file named', () => {
  const home = makeHome({
    '.letta/settings.json': `{"permissions":{"allow":[${nested(100_000)}]}}`,
    '.letta/crons.json': '{"tasks":[{"id":"\\u001b[2J","created_at":"\\u001b]0;x\\u0007"}]}',
    '.letta/sessions.jsonl': jsonLines({
      session_id: '\x1b[31m',
      timestamp: 1,
      project: '/home/alice/\x1b[31mred\n\u202e',
      message_count: 1,
      '\x1b[5m': 1,
    }),
    [transcriptOf('conv-1')]: `${'{'.repeat(10_000_000)}\n\0\0\0\n{"kind":"user","text":"\\ud83d","captured_at":"${at(0)}"}\n`,
    ...conversation(ID, {}, user('\x1b[2J')),
    [transcriptOf('conv-2')]: `{"kind":"user","text":"${'x'.repeat(65 * 1024 * 1024)}"}\n`,
  })
  const ran = cli(['letta', 'parse', '--home', home, '--format', 'table'])
  expect(ran.status).toBe(3)
  const controls = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/
  expect(ran.stdout).not.toMatch(controls)
  expect(ran.stderr).not.toMatch(controls)
  expect(ran.stderr).not.toMatch(/^\s+at .*\.js/m)
  expect(ran.stderr).toMatch(/projects? not found in the evidence: \/home\/alice\/\\x1b\[31mred\\n\\u202e/)
  expect(ran.stdout).toMatch(/line of 681574\d\d bytes/)
  expect(ran.stdout.split('\n').filter((line) => line.includes('parser: ')).length).toBe(4)
  expect(path.basename(home)).toBe('alice')
})
