import fs from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { csv, jsonl } from '../../../src/output/index.js'
import type { Row } from '../../../src/rows/index.js'
import { fixture, parse } from '../../helpers/fixtures.js'

/** The rows of one case; its project lies at home/alice/widget. */
async function rowsOf(name: string): Promise<Row[]> {
  const { home } = fixture(`letta/bugs/${name}`)
  const widget = path.join(home, 'widget')
  const { rows } = await parse({ homes: [home], projectDirs: fs.existsSync(widget) ? [widget] : [] })
  return rows
}

const kindOf = (row: Row) => row.details.kind ?? row.turn_type
const ofKind = (rows: readonly Row[], kind: string) => rows.filter((row) => kindOf(row) === kind)
const texts = (rows: readonly Row[]) => rows.map((row) => row.text)
const AGENT = 'agent-6f1d2c34-8a5b-4e0f-9c77-2b1e0d4a9f10'
const CONVERSATION = 'conv-3c9a7e51-60d8-4b2f-a1f4-5e8d27c6b083'
const TRANSCRIPT = `.letta/transcripts/${AGENT}/${CONVERSATION}/transcript.jsonl`
const SYNCED = `session synced: server conversation ${CONVERSATION} agent ${AGENT} server - (from .letta/transcripts path, first captured_at)`

test('01: a whole record behind a cut one on its line is read, and the line is named', async () => {
  const rows = await rowsOf('01-torn-tail-then-append')
  expect(ofKind(rows, 'session-end').map((row) => [row.session_id, row.source_line, row.timestamp_utc])).toEqual([
    ['s-1', 1, '2026-10-05T09:01:00.000Z'],
    ['s-3', 2, '2026-10-05T11:01:00.000Z'],
    ['s-4', 3, '2026-10-05T12:01:00.000Z'],
  ])
  expect(ofKind(rows, 'model').map((row) => [row.session_id, row.source_line, row.text])).toEqual(
    [1, 3, 4].map((n, i) => [`s-${n}`, i + 1, 'model: claude-sonnet-4-5 provider=anthropic']),
  )
  expect(ofKind(rows, 'parser').map((row) => [row.source_line, row.timestamp_utc])).toEqual([[2, '']])
  expect(ofKind(rows, 'parser')[0]!.text).toMatch(/^parser: \.letta\/sessions\.jsonl:2 /)
  expect(rows).toHaveLength(7)
})

test('02: a lone surrogate stays in JSONL, is U+FFFD elsewhere, and costs nothing', async () => {
  const rows = await rowsOf('02-lone-surrogate')
  expect(rows.map(kindOf).sort()).toEqual(['assistant', 'session-synced', 'tool_result', 'tool_use', 'user'])
  const [result] = ofKind(rows, 'tool_result')
  expect(result!.text).toBe('icons: \u{1f324} \ud83d\ud83d…')
  expect(rows.filter((row) => row.details.lone_surrogate).map(kindOf)).toEqual(['tool_result'])
  expect(jsonl.encode(result!)).toContain('\\ud83d\\ud83d…')
  const bytes = Buffer.from(csv().encode(result!), 'utf8')
  expect(new TextDecoder('utf-8', { fatal: true }).decode(bytes)).toContain('icons: \u{1f324} \ufffd\ufffd…')
  expect(ofKind(rows, 'assistant')[0]!.text).toBe('Done 🚀.')
})

test('03: Unicode line ends inside a text are text', async () => {
  const rows = await rowsOf('03-unicode-line-separators')
  expect(rows.map(kindOf).sort()).toEqual(['assistant', 'session-synced', 'user'])
  expect(ofKind(rows, 'user')[0]!.text).toBe('pasted note:\u2028second part\u2029third part\u0085fourth part')
  expect(ofKind(rows, 'assistant')[0]!.text).toBe('Four parts read.')
})

test('04: empty JSONL files are silent, empty JSON files are named, an empty transcript still names its conversation', async () => {
  const rows = await rowsOf('04-zero-byte-files')
  const [synced] = ofKind(rows, 'session-synced')
  expect([synced!.text, synced!.timestamp_utc, synced!.details.time_source, synced!.source_line]).toEqual([SYNCED, '', 'none', null])
  const named = ofKind(rows, 'parser').map((row) => [row.source_file, row.timestamp_utc, row.details.time_source])
  expect(named).toContainEqual(['.letta/crons.json', '2026-10-06T08:00:00.000Z', 'file-mtime'])
  expect(named).toContainEqual(['/home/alice/widget/.letta/settings.local.json', '2026-10-06T08:05:00.000Z', 'file-mtime'])
  expect(rows.filter((row) => row.source_file.endsWith('.jsonl'))).toEqual([synced])
})

test('05: an image is named, its base64 is nowhere', async () => {
  const rows = await rowsOf('05-huge-base64-line')
  expect(texts(ofKind(rows, 'tool_result'))).toEqual(['1 picture\n[image image/png]'])
  expect([...rows.map(kindOf)].sort()).toEqual(['assistant', 'model', 'tool_result', 'user'])
  expect(Buffer.byteLength(rows.map(jsonl.encode).join(''))).toBeLessThan(10_000)
})

test('06: the last snapshot of a message counts, at its own line', async () => {
  const rows = await rowsOf('06-snapshot-of-same-message')
  expect(rows.map((row) => [kindOf(row), row.text, row.tool_use_id, row.source_line, row.details.replaced])).toEqual([
    ['user', 'list it', '', 2, undefined],
    ['model', 'model: gpt-5.5 provider=openai', '', 4, [3]],
    ['assistant', 'I will look.', '', 4, [3]],
    ['tool_use', 'ls', 'call_1', 4, [3]],
    ['tool_result', 'a.txt', 'call_1', 5, undefined],
  ])
  expect(rows[2]!.timestamp_utc).toBe('2026-10-05T09:00:03.000Z')
})

test('07: a result without its call and a call without its result stay as they are', async () => {
  const rows = await rowsOf('07-orphan-tool-result')
  expect(rows.filter((row) => row.turn_type !== 'system').map((row) => [row.turn_type, row.tool_use_id, row.text])).toEqual([
    ['user', '', 'run both'],
    ['tool_use', 'call_1', 'make a'],
    ['tool_result', 'call_9', 'result of a lost call'],
    ['user', '', 'what happened?'],
  ])
})

test('08: a transcript that repeats messages.jsonl gives no row', async () => {
  const rows = await rowsOf('08-transcript-without-tool-calls')
  expect(rows.map((row) => [kindOf(row), row.text])).toEqual([
    ['user', 'clean the folder'],
    ['model', 'model: gpt-5.5 provider=openai'],
    ['thinking', 'I need rm.'],
    ['tool_use', 'rm -r out'],
    ['tool_result', ''],
    ['assistant', 'Cleaned.'],
  ])
  expect(rows.filter((row) => row.details.store !== 'messages')).toEqual([])
})

test('09: equal lines of one file are two events', async () => {
  const rows = await rowsOf('09-rows-without-ids')
  expect(rows.map((row) => [row.text, row.source_line])).toEqual([
    [SYNCED, null],
    ['yes', 1],
    ['Next?', 2],
    ['yes', 3],
    ['Next?', 4],
  ])
})

test('10: a document with a tail of another is not one document: one parser row and nothing else', async () => {
  const rows = await rowsOf('10-settings-torn-write')
  expect(rows.map((row) => [kindOf(row), row.source_file, row.timestamp_utc])).toEqual([
    ['parser', '/home/alice/widget/.letta/settings.json', '2026-10-06T08:00:00.000Z'],
  ])
})

test('11: fragments of rules are rules, the empty one included', async () => {
  const rows = await rowsOf('11-rule-fragments')
  const allow = ["Bash(1 <<'JSON'", '{', '  "reviews": {', 'JSON)', 'Bash(do)', 'Bash(done)', 'Bash(:*)', '-', 'Bash(for i in a b c)']
  expect(texts(rows)).toEqual([
    ...allow.map((rule) => `permission setting: permissions.allow=${rule} (from .letta/settings.json, file mtime)`),
    'permission setting: permissions.deny=Bash(${v%%:*}) (from .letta/settings.json, file mtime)',
  ])
})

test('12: // in a rule is no comment', async () => {
  const rows = await rowsOf('12-double-slash-in-strings')
  const rules = [
    'allow=Read(//c/Users/alice/work/**)',
    'allow=Read(//Users/alice/docs/**)',
    'allow=Bash(curl https://example.com/a)',
    'allow=// only read rules below',
    'allow=Read(C:\\Users\\alice\\work\\**)',
    'additionalDirectories=D:\\data',
    'additionalDirectories=\\\\server\\share\\case 7',
    'additionalDirectories=//server/share',
  ]
  expect(texts(rows)).toEqual(rules.map((rule) => `permission setting: permissions.${rule} (from .letta/settings.json, file mtime)`))
})

test('13: a settings file with merge conflict markers is one parser row', async () => {
  const rows = await rowsOf('13-merge-conflict-markers')
  const ofSettings = rows.filter((row) => row.source_file.endsWith('settings.local.json'))
  expect(ofSettings.map((row) => [kindOf(row), row.timestamp_utc])).toEqual([['parser', '2026-10-06T08:02:00.000Z']])
})

test('16: owners of a scheduler that is gone give no row and no error', async () => {
  const rows = await rowsOf('16-stale-scheduler-owner')
  expect(rows.map(kindOf)).toEqual(['scheduled-task', 'scheduled-task'])
  expect(texts(rows)).toEqual([
    `scheduled task: a1b2c3d4 name=nightly check status=active cron=0 2 * * * timezone=UTC recurring=true scheduled_for=- agent=${AGENT} conversation=${CONVERSATION} fire_count=0 last_fired=- last_run=- outcome=- reason=- error=- cancel_reason=- (from .letta/crons.json, created_at) description: run the check prompt: run the check and report`,
    `scheduled task: 0f0f0f0f name=one time status=missed cron=- timezone=UTC recurring=false scheduled_for=2026-06-14T11:00:00.000Z agent=${AGENT} conversation=new fire_count=0 last_fired=- last_run=- outcome=missed reason=started_too_late error=- cancel_reason=- (from .letta/crons.json, created_at) description: run the check prompt: run the check and report`,
  ])
  expect(rows.map((row) => [row.session_id, row.timestamp_utc])).toEqual([
    [CONVERSATION, '2026-10-01T08:00:00.000Z'],
    ['', '2026-10-01T08:00:00.000Z'],
  ])
})

test('17: routes are kept apart, with ids as they are recorded', async () => {
  const rows = await rowsOf('17-routes-with-odd-ids')
  const other = 'conv-91b4f0e6-2d7a-4c35-b8e9-0f6a13d5c7e2'
  expect(rows.map((row) => [row.timestamp_utc, row.session_id, row.text])).toEqual([
    [
      '2026-04-10T07:00:00.000Z',
      other,
      `session relayed: matrix chat 987654321 type - thread - account - agent agent-0b7e95d2-13c4-4f6a-8e21-77c0a5d3b9e4 enabled=true outbound=- detached=- updated=- (from .letta/channels/matrix/routing.yaml, createdAt)`,
    ],
    [
      '2026-08-12T10:00:00.000Z',
      CONVERSATION,
      `session relayed: telegram chat -1001234567890 type channel thread - account bot-1 agent ${AGENT} enabled=true outbound=true detached=- updated=2026-08-12T10:00:00.000Z (from .letta/channels/telegram/routing.json, createdAt)`,
    ],
    [
      '2026-08-12T10:05:00.000Z',
      other,
      `session relayed: telegram chat -1001234567890 type channel thread 77 account bot-1 agent ${AGENT} enabled=true outbound=- detached=- updated=2026-08-12T10:05:00.000Z (from .letta/channels/telegram/routing.json, createdAt)`,
    ],
    [
      '2026-10-06T08:01:00.000Z',
      'default',
      `session relayed: telegram chat "123456789" type direct thread 77 account bot-1 agent ${AGENT} enabled=false outbound=- detached=true updated=- (from .letta/channels/telegram/routing.json, file mtime)`,
    ],
  ])
})

describe('18: impossible times', () => {
  test('of sessions: 0 is 1970, a wrong unit is not scaled, the rest is absent and on record', async () => {
    const rows = ofKind(await rowsOf('18-impossible-times'), 'session-end')
    expect(Object.fromEntries(rows.map((row) => [row.session_id, [row.timestamp_utc, row.details.bad_time]]))).toEqual({
      's-1': ['1970-01-01T00:00:00.000Z', undefined],
      's-2': ['', 253402300800000],
      's-3': ['1970-01-21T17:33:10.860Z', undefined],
      's-4': ['', undefined],
      's-5': ['2026-10-05T09:01:00.000Z', undefined],
      's-6': ['', -1000],
    })
  })

  test('each session has its model row, at the same time', async () => {
    const rows = await rowsOf('18-impossible-times')
    const times = (kind: string) => Object.fromEntries(ofKind(rows, kind).map((row) => [row.session_id, row.timestamp_utc]))
    expect(times('model')).toEqual(times('session-end'))
    expect(ofKind(rows, 'model')).toHaveLength(6)
  })

  test('of a transcript: no row is lost, none is given the time of another', async () => {
    const rows = (await rowsOf('18-impossible-times')).filter((row) => row.source_file === TRANSCRIPT)
    expect(ofKind(rows, 'user').map((row) => [row.text, row.timestamp_utc])).toEqual([
      ['offset time', '2026-10-05T09:00:05.000Z'],
      ['from the future', '2031-01-02T00:00:00.000Z'],
      ['no time', ''],
      ['no stamp at all', ''],
    ])
    expect(ofKind(rows, 'session-synced').map((row) => [row.text, row.timestamp_utc])).toEqual([[SYNCED, '2031-01-02T00:00:00.000Z']])
    expect(rows).toHaveLength(5)
  })
})

test('19: an interrupted turn gives its row, its decisions and its results; sidecars are not read', async () => {
  const rows = await rowsOf('19-interrupted-turn-records')
  const file = `.letta/listener-state/0123456789abcdef01234567/${AGENT}_${CONVERSATION}.json`
  const first = rows.filter((row) => row.source_file === file)
  expect(first.map((row) => [row.turn_type, row.tool_use_id, row.text])).toEqual([
    [
      'system',
      '',
      `interrupted turn: agent ${AGENT} conversation ${CONVERSATION} run - tool_calls=call_1,call_2,call_3 unstarted=call_3 results=3 working_directory=C:\\Users\\alice\\widget acting_user=- (from ${file}, file mtime)`,
    ],
    ['tool_result', 'call_1', 'ok\nline two'],
    ['system', 'call_2', `permission decision: deny reason=- (from ${file}, interrupted turn, file mtime)`],
    ['system', 'call_3', `permission decision: approve reason=- (from ${file}, interrupted turn, file mtime)`],
  ])
  for (const row of first)
    expect([row.timestamp_utc, row.session_id, row.project_path]).toEqual([
      '2026-10-06T08:00:00.000Z',
      CONVERSATION,
      'C:\\Users\\alice\\widget',
    ])
  const others = rows.filter((row) => row.source_file !== file)
  expect(others.map((row) => [kindOf(row), row.source_file, row.timestamp_utc])).toEqual([
    ['parser', '.letta/listener-state/0123456789abcdef01234567/agent-local-1%2F2_default.json', '2026-10-06T08:03:00.000Z'],
  ])
})

test('20: a legacy mode and bare tool names are printed as recorded', async () => {
  const rows = await rowsOf('20-legacy-mode-and-bare-tools')
  const rules = [
    'mode=bypassPermissions',
    ...['Bash', 'Read', 'memory', 'Skill', 'Bash(/c/tools/python.exe:*)'].map((rule) => `allow=${rule}`),
    ...['Bash(rm -rf:*)', 'Bash(git push --force:*)'].map((rule) => `deny=${rule}`),
  ]
  expect(texts(rows)).toEqual(rules.map((rule) => `permission setting: permissions.${rule} (from .letta/settings.json, file mtime)`))
  for (const row of rows) expect([row.session_id, row.project_path, row.timestamp_utc]).toEqual(['', '', '2026-10-06T08:00:00.000Z'])
})
