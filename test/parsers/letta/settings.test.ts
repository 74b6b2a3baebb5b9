import fs from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { makeHome, parse, SHARED } from '../../helpers/fixtures.js'
import { scratch, skipLoudly } from '../../helpers/places.js'

const MTIME = 1796061332.062
const ISO = '2026-11-30T17:55:32.062Z'

async function rowsOf(files: Record<string, string>) {
  const home = makeHome(files)
  for (const name of Object.keys(files)) fs.utimesSync(path.join(home, name), MTIME, MTIME)
  return (await parse({ homes: [home] })).rows
}
const texts = (rows: readonly { readonly text: string }[]) => rows.map((row) => row.text)
const said = (...rules: string[]) => rules.map((rule) => `permission setting: permissions.${rule} (from .letta/settings.json, file mtime)`)
const settings = (value: unknown) => ({ '.letta/settings.json': typeof value === 'string' ? value : JSON.stringify(value) })

describe('permission settings', () => {
  test('come in the order of the reference, other keys behind them as recorded', async () => {
    const rows = await rowsOf(
      settings({
        permissions: {
          zeta: 'z',
          additionalDirectories: ['/d'],
          alwaysAsk: ['aa'],
          ask: ['k'],
          alpha: true,
          deny: ['d1', 'd2'],
          allow: ['a'],
          mode: 'standard',
        },
      }),
    )
    expect(texts(rows)).toEqual(
      said('mode=standard', 'allow=a', 'deny=d1', 'deny=d2', 'ask=k', 'alwaysAsk=aa', 'additionalDirectories=/d', 'zeta=z', 'alpha=true'),
    )
    expect(rows[0]).toMatchObject({
      timestamp_utc: ISO,
      session_id: '',
      project_path: '',
      source_line: null,
      source_file: '.letta/settings.json',
    })
    expect(rows[1]!.details).toMatchObject({
      store: 'settings',
      time_source: 'file-mtime',
      mtime_from: 'filesystem',
      kind: 'permission-setting',
      key: 'allow',
      value: 'a',
    })
  })

  test('a list gives one row per element, an empty list none', async () => {
    expect(texts(await rowsOf(settings({ permissions: { allow: [], deny: ['x', 'x', ''] } })))).toEqual(said('deny=x', 'deny=x', 'deny=-'))
  })

  test('a rule that is a whole script keeps its line breaks', async () => {
    const rule = "Bash(cat <<'E'\r\n\tline\n\nE\n)"
    expect(texts(await rowsOf(settings({ permissions: { allow: [rule] } })))).toEqual(said(`allow=${rule}`))
  })

  test('values of other kinds print as recorded', async () => {
    const text = '{"permissions":{"mode":null,"allow":[1.0,{"b":1,"10":2,"9":3},[true]],"limit":12345678901234567890}}'
    expect(texts(await rowsOf(settings(text)))).toEqual(
      said('mode=-', 'allow=1.0', 'allow={"b":1,"10":2,"9":3}', 'allow=[true]', 'limit=12345678901234567890'),
    )
  })

  test('keys that JavaScript would lose or reorder are keys', async () => {
    const text = '{"permissions":{"__proto__":["a"],"10":"b","9":"c","constructor":"d"}}'
    expect(texts(await rowsOf(settings(text)))).toEqual(said('__proto__=a', '10=b', '9=c', 'constructor=d'))
  })

  test('of a key that stands twice the last value counts, as for any JSON reader', async () => {
    expect(texts(await rowsOf(settings('{"permissions":{"mode":"a","mode":"b"}}')))).toEqual(said('mode=b'))
  })

  test('the old configuration directory is read too', async () => {
    const rows = await rowsOf({ '.config/letta/settings.json': '{"permissions":{"allow":["x"]}}' })
    expect(texts(rows)).toEqual(['permission setting: permissions.allow=x (from .config/letta/settings.json, file mtime)'])
  })

  test('permissions that are no object are named, and the rest is read', async () => {
    const rows = await rowsOf(settings({ permissions: ['x'], sessionsByServer: { s: { agentId: 'a', conversationId: 'c' } } }))
    expect(rows.map((row) => row.details.kind).sort()).toEqual(['parser', 'session-synced'])
    expect(rows.find((row) => row.details.kind === 'parser')!.text).toMatch(/^parser: \.letta\/settings\.json .*permissions/)
  })

  test.each(['[]', '"x"', '7', 'null', '', '{', '{"permissions":{"allow":["x"],}}', '// c\n{}', '{} {}'])(
    'a file that holds %j is one parser row at its time',
    async (text) => {
      const rows = await rowsOf(settings(text))
      expect(rows.map((row) => [row.details.kind, row.timestamp_utc, row.source_line])).toEqual([['parser', ISO, null]])
    },
  )

  test('a byte order mark is no trouble; bytes that are not UTF-8 are named', async () => {
    expect(texts(await rowsOf(settings('\ufeff{"permissions":{"mode":"x"}}')))).toEqual(said('mode=x'))
    const home = makeHome({ '.letta/settings.json': Buffer.from('{"permissions":{"mode":"a\xffb"}}', 'latin1') })
    const { rows } = await parse({ homes: [home] })
    const setting = rows.find((row) => row.details.kind === 'permission-setting')!
    expect([setting.details.value, setting.details.invalid_utf8]).toEqual(['a\ufffdb', true])
    expect(rows.filter((row) => row.details.kind === 'parser')).toHaveLength(1)
  })

  test('credentials of the file reach no row, whatever stands around them', async () => {
    const rows = await rowsOf(
      settings({
        refreshToken: 'SECRET-1',
        env: { LETTA_API_KEY: 'SECRET-2' },
        oauthState: { codeVerifier: 'SECRET-3' },
        agents: [{ agentId: 'a', mcpServers: [{ env: { K: 'SECRET-4' }, headers: { H: 'SECRET-5' } }] }],
        hooks: { Stop: [{ hooks: [{ type: 'command', command: 'SECRET-6' }] }] },
        permissions: { mode: 'standard' },
      }),
    )
    expect(JSON.stringify(rows)).not.toContain('SECRET')
  })
})

describe('the last session on each server', () => {
  const sessionsByServer = {
    'api.letta.com': { agentId: 'agent-1', conversationId: 'conv-1' },
    'local:/home/alice/.letta/lc-local-backend': { agentId: 'agent-local-1', conversationId: 'default' },
    '127.0.0.1:8283': { agentId: 'agent-2', conversationId: null },
  }
  const text = (server: string, agent: string, conversation: string, file: string) =>
    `session synced: last session on ${server} agent ${agent} conversation ${conversation} (from ${file}, file mtime)`

  test('is a row, but for the local backend', async () => {
    const rows = await rowsOf(settings({ sessionsByServer }))
    expect(rows.map((row) => [row.text, row.session_id, row.timestamp_utc])).toEqual([
      [text('api.letta.com', 'agent-1', 'conv-1', '.letta/settings.json'), 'conv-1', ISO],
      [text('127.0.0.1:8283', 'agent-2', '-', '.letta/settings.json'), '', ISO],
    ])
    expect(rows[0]!.details).toMatchObject({ kind: 'session-synced', agent_id: 'agent-1', conversation_id: 'conv-1' })
  })

  test('of a project stands in settings.local.json, with the project', async () => {
    const home = makeHome({
      'p/.letta/settings.local.json': JSON.stringify({ sessionsByServer }),
      'p/.letta/settings.json': JSON.stringify({ sessionsByServer }),
    })
    const { rows } = await parse({ homes: [home], projectDirs: [path.join(home, 'p')] })
    expect(rows.map((row) => [row.text, row.project_path])).toEqual([
      [text('api.letta.com', 'agent-1', 'conv-1', '.letta/settings.local.json'), '/home/alice/p'],
      [text('127.0.0.1:8283', 'agent-2', '-', '.letta/settings.local.json'), '/home/alice/p'],
    ])
  })

  test('an entry that is no object is named; odd server names are names', async () => {
    const rows = await rowsOf(settings('{"sessionsByServer":{"x":7,"__proto__":{"agentId":"a","conversationId":"c"}}}'))
    expect(rows.map((row) => row.details.kind).sort()).toEqual(['parser', 'session-synced'])
    expect(rows.find((row) => row.details.kind === 'session-synced')!.text).toContain('last session on __proto__ agent a conversation c')
  })
})

const PUBLIC = path.join(SHARED, 'evidence/public')
const found = fs.existsSync(PUBLIC)
if (!found) skipLoudly(`the public settings samples are not at ${PUBLIC}`)

/** Real files: a plain walk over the JSON gives what must come out. */
;(found ? describe : describe.skip)('the settings in public repositories', () => {
  const copies = scratch('public')
  const times = new Map(
    (found ? fs.readFileSync(path.join(PUBLIC, 'MTIMES.tsv'), 'utf8') : '')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => line.split('\t') as [string, string]),
  )
  const files = [...times.keys()].filter((name) => /\.letta\/settings(\.local)?\.json$/.test(name))
  const projects = [...new Set(files.map((name) => name.split('/')[0]!))].filter((name) => name.startsWith('project-'))

  test('there are some', () => expect(projects.length).toBeGreaterThan(40))

  test.each(projects)('%s: one row per rule and per session, text unchanged, at the time of the file', async (project) => {
    const home = path.join(copies, project, 'home/alice')
    for (const name of files.filter((name) => name.startsWith(`${project}/`))) {
      const copy = path.join(home, name)
      fs.mkdirSync(path.dirname(copy), { recursive: true })
      fs.copyFileSync(path.join(PUBLIC, name), copy)
      fs.utimesSync(copy, new Date(times.get(name)!), new Date(times.get(name)!))
    }
    const { rows } = await parse({ homes: [home], projectDirs: [path.join(home, project)] })
    const expected = files
      .filter((name) => name.startsWith(`${project}/`))
      .flatMap((name) => {
        const file = name.slice(name.lastIndexOf('.letta/'))
        const json = JSON.parse(fs.readFileSync(path.join(PUBLIC, name), 'utf8')) as Record<string, Record<string, unknown> | undefined>
        const holder = `/home/alice/${name.slice(0, -file.length - 1)}`
        const place = [new Date(times.get(name)!).toISOString(), holder, `${holder}/${file}`]
        const rules = Object.entries(json.permissions ?? {}).flatMap(([key, value]) =>
          (Array.isArray(value) ? (value as unknown[]) : [value]).map((rule) => [
            ...place,
            `permission setting: permissions.${key}=${String(rule) === '' ? '-' : String(rule)} (from ${file}, file mtime)`,
          ]),
        )
        const sessions = Object.entries(file.endsWith('local.json') ? (json.sessionsByServer ?? {}) : {})
          .filter(([server]) => !server.startsWith('local:'))
          .map(([server, entry]) => {
            const { agentId, conversationId } = entry as Record<string, string>
            return [
              ...place,
              `session synced: last session on ${server} agent ${agentId} conversation ${conversationId} (from ${file}, file mtime)`,
            ]
          })
        return [...rules, ...sessions]
      })
    const shown = rows
      .filter((row) => row.details.store === 'settings')
      .map((row) => [row.timestamp_utc, row.project_path, row.source_file, row.text])
    const order = (list: readonly (readonly string[])[]) => list.map((one) => JSON.stringify(one)).sort()
    expect(order(shown)).toEqual(order(expected))
  })
})
