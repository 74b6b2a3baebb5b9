import { describe, expect, test } from '@jest/globals'
import { letta } from '../../../src/catalog/index.js'
import { jsonLines, makeHome } from '../../helpers/fixtures.js'
import { package_, RECORDED_HOMES, recordedHome } from '../../helpers/packages.js'
import { holders, secretsOf } from '../../helpers/secrets.js'

describe.each(RECORDED_HOMES)('the keys of %s', (archive) => {
  const home = recordedHome(archive)
  if (home === undefined) {
    console.warn(`SKIPPED: ${archive} of the reference is not beside this checkout`)
    test.skip('are nowhere in a package', () => undefined)
    return
  }
  const secrets = secretsOf(home, letta)

  test('are nowhere in a package', async () => {
    const { directory } = await package_({ homes: [home] })
    expect(holders(directory, secrets)).toEqual([])
  })

  test('are in a package that was asked for them, which says so', async () => {
    const { directory, collection, lines } = await package_({ homes: [home] }, { includeCredentials: true })
    expect(collection.record.includes_credentials).toBe(true)
    for (const secret of secrets) expect(holders(directory, [secret]).filter((file) => file.startsWith('evidence/'))).not.toEqual([])
    expect(lines.filter(({ action }) => action === 'withheld' || action === 'redacted')).toEqual([])
  })
})

test('the recorded homes do hold keys, so that the claims above say something', () => {
  const homes = RECORDED_HOMES.map(recordedHome).filter((home) => home !== undefined)
  if (homes.length === 0) return console.warn('SKIPPED: the reference is not beside this checkout')
  expect(new Set(homes.flatMap((home) => secretsOf(home, letta))).size).toBeGreaterThanOrEqual(5)
})

/** One secret for every credential rule of the catalog that is a file, each at its first glob. */
const PLANTED: Record<string, string> = {
  '.letta/settings.json': JSON.stringify({
    env: { LETTA_API_KEY: 'PLANTED-env' },
    refreshToken: 'PLANTED-refresh',
    oauthState: { codeVerifier: 'PLANTED-verifier', state: 'PLANTED-state', provider: 'kept-provider' },
    agents: [
      {
        mcpServers: [
          { command: 'kept-command', args: ['--api-key', 'PLANTED-arg'], env: { A: 'PLANTED-mcp-env' }, headers: { H: 'PLANTED-header' } },
        ],
      },
    ],
    hooks: { Stop: [{ hooks: [{ command: 'curl -H "Authorization: Bearer PLANTED-hook" https://kept.example/x' }] }] },
  }),
  '.letta/lc-local-backend/secrets/local-agent-secrets.json': '{"secrets":{"a":"PLANTED-agent"}}',
  '.letta/lc-local-backend/providers/auth.json': '{"providers":{"p":{"auth":{"key":"PLANTED-provider"}}}}',
  '.letta/agents/agent-1/memory/.git/config':
    '[core]\n\tbare = false\n[credential "https://api.letta.com"]\n\thelper = "!f() { echo username=letta; echo password=PLANTED-git; }; f"\n',
  '.letta/agents/agent-1/memory/.git/letta-credential-helper.cmd': '@echo off\r\necho username=letta\r\necho password=PLANTED-cmd\r\n',
  '.letta/channels/slack/accounts.json':
    '{"accounts":[{"botToken":"PLANTED-bot","config":{"deep":[{"er":"PLANTED-config"}]},"name":"kept-name"}]}',
  '.letta/channels/slack/config.yaml': 'token: PLANTED-yaml\nworkspace: kept-workspace\n',
  '.letta/channels/slack/pairing.yaml': '{"pending":[{"code":"PLANTED-code","sender":"kept-sender"}]}',
  '.letta/channels/whatsapp/auth/a/creds.json': '{"x":"PLANTED-whatsapp"}',
  '.letta/mcp-oauth/h.json': '{"token":"PLANTED-oauth"}',
  '.local/share/signal-cli/data/x': 'PLANTED-signal',
  '.letta/credentials': '[openai]\nkey = PLANTED-v1\n',
  '.letta/pg_uri': 'postgres://u:PLANTED-pg@h/db',
  '.letta/config': '[recall_storage]\nuri = postgres://kept-user:PLANTED-uri@kept-host/db\n',
  '.memgpt/credentials': '[openai]\nkey = PLANTED-memgpt\n',
  '.letta/subconscious/broker.json': '{"token":"PLANTED-broker"}',
  '.letta/sessions.jsonl': jsonLines({ project: '/home/alice/p', timestamp: 1 }),
  'p/.letta/settings.local.json': JSON.stringify({ hooks: { Stop: [{ hooks: [{ command: 'API_TOKEN=PLANTED-project kept-program' }] }] } }),
  'p/exported.af': JSON.stringify({ agents: [{ secrets: { A: 'PLANTED-af' }, name: 'kept-agent' }] }),
}

describe('a home with a key in every place that the catalog knows', () => {
  test('gives none of them away, and keeps what is beside them', async () => {
    const { directory, lines } = await package_({ homes: [makeHome(PLANTED)] })
    expect(holders(directory, ['PLANTED'])).toEqual([])
    for (const kept of ['command', 'provider', 'name', 'workspace', 'sender', 'user', 'host', 'program', 'agent', '.example'])
      expect(holders(directory, [`kept${kept.startsWith('.') ? '' : '-'}${kept}`])).not.toEqual([])
    expect(
      lines
        .filter(({ action }) => action === 'withheld')
        .map(({ short_path }) => short_path)
        .sort(),
    ).toEqual([
      '.letta/channels/whatsapp/auth/a/creds.json',
      '.letta/credentials',
      '.letta/lc-local-backend/providers/auth.json',
      '.letta/lc-local-backend/secrets/local-agent-secrets.json',
      '.letta/mcp-oauth/h.json',
      '.letta/pg_uri',
      '.letta/subconscious/broker.json',
      '.local/share/signal-cli/data/x',
      '.memgpt/credentials',
    ])
  })

  test('withholds what it masks, hash and all, and records both hashes of what it masks in part', async () => {
    const { lines } = await package_({ homes: [makeHome(PLANTED)] })
    for (const line of lines.filter(({ action }) => action === 'withheld')) expect([line.sha256, line.stored_path]).toEqual([null, null])
    const redacted = lines.filter(({ action }) => action === 'redacted')
    expect(redacted.length).toBeGreaterThan(5)
    for (const line of redacted) expect(line.sha256).not.toBe(line.stored_sha256)
  })

  test('withholds whole a file that cannot be scanned', async () => {
    const home = makeHome({ '.letta/settings.json': '{"env":{"LETTA_API_KEY":"PLANTED-torn"' })
    const { directory, lines } = await package_({ homes: [home] })
    expect(holders(directory, ['PLANTED'])).toEqual([])
    expect(lines.map(({ action, reason }) => [action, reason])).toEqual([['withheld', expect.stringContaining('not valid JSON')]])
  })

  test('copies databases and flags them, or leaves them out', async () => {
    const home = makeHome({ '.letta/sqlite.db': 'SQLite format 3', '.letta/sqlite.db-wal': 'w', '.letta/sqlite.db-shm': 's' })
    const kept = await package_({ homes: [home] })
    expect(kept.lines.map(({ short_path, action, contains_credentials }) => [short_path, action, contains_credentials])).toEqual([
      ['.letta/sqlite.db', 'copied', true],
      ['.letta/sqlite.db-shm', 'copied', false],
      ['.letta/sqlite.db-wal', 'copied', true],
    ])
    const left = await package_({ homes: [home] }, { noDatabases: true })
    expect(left.lines.map(({ action }) => action)).toEqual(['excluded', 'excluded', 'excluded'])
  })
})
