import fs from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { letta } from '../../../src/catalog/index.js'
import { makeHome, parse } from '../../helpers/fixtures.js'

const MTIME = 1796061332.062
const ISO = '2026-11-30T17:55:32.062Z'

async function rowsOf(files: Record<string, string>) {
  const home = makeHome(files)
  for (const name of Object.keys(files)) fs.utimesSync(path.join(home, name), MTIME, MTIME)
  return (await parse({ homes: [home] })).rows
}
const route = {
  accountId: 'bot',
  chatId: 'C1',
  chatType: 'channel',
  threadId: null,
  agentId: 'agent-1',
  conversationId: 'conv-1',
  enabled: true,
  outboundEnabled: false,
  createdAt: '2026-11-01T10:00:00Z',
  updatedAt: '2026-11-02T10:00:00+01:00',
}
const routes = (...list: unknown[]) => JSON.stringify({ routes: list })
const text = (file: string, from = 'createdAt') =>
  `session relayed: slack chat C1 type channel thread - account bot agent agent-1 enabled=true outbound=false detached=- updated=2026-11-02T10:00:00+01:00 (from ${file}, ${from})`

describe('channel routes', () => {
  test('the parser says that it knows relays', () => expect(letta.capabilities.records_relay).toBe(true))

  test.each(['routing.json', 'routing.yaml'])('of %s are rows at their creation', async (name) => {
    const file = `.letta/channels/slack/${name}`
    const rows = await rowsOf({ [file]: routes(route) })
    expect(rows.map((row) => [row.text, row.timestamp_utc, row.session_id])).toEqual([[text(file), '2026-11-01T10:00:00.000Z', 'conv-1']])
    expect(rows[0]!.details).toMatchObject({
      store: 'channels',
      kind: 'session-relayed',
      channel: 'slack',
      chat_id: 'C1',
      agent_id: 'agent-1',
    })
  })

  test('without a time of creation stand at the time of the file, and say so', async () => {
    const file = '.letta/channels/slack/routing.json'
    const rows = await rowsOf({ [file]: routes({ ...route, createdAt: undefined }) })
    expect(rows.map((row) => [row.text, row.timestamp_utc, row.details.time_source])).toEqual([
      [text(file, 'file mtime'), ISO, 'file-mtime'],
    ])
  })

  test('in the same bytes under both names are read once', async () => {
    const same = routes(route)
    const rows = await rowsOf({ '.letta/channels/slack/routing.json': same, '.letta/channels/slack/routing.yaml': same })
    expect(rows).toHaveLength(1)
  })

  test('that differ between the two names are both read; so are the same bytes of two channels', async () => {
    const rows = await rowsOf({
      '.letta/channels/slack/routing.json': routes(route),
      '.letta/channels/slack/routing.yaml': routes({ ...route, chatId: 'C2' }),
      '.letta/channels/matrix/routing.json': routes(route),
    })
    expect(rows).toHaveLength(3)
  })

  test.each(['{}', '{"routes":{}}', '[]', 'routes:\n  - chatId: 1\n'])('%j has no list of routes: a parser row', async (content) => {
    const rows = await rowsOf({ '.letta/channels/slack/routing.yaml': content })
    expect(rows.map((row) => [row.details.kind, row.timestamp_utc])).toEqual([['parser', ISO]])
  })

  test('accounts.json, which holds tokens, is not read', async () => {
    const { runs } = await parse({
      homes: [
        makeHome({
          '.letta/channels/slack/routing.json': routes(route),
          '.letta/channels/slack/accounts.json': '{"accounts":[{"botToken":"SECRET"}]}',
          '.letta/channels/slack/routing.json.0a1b.tmp': routes(route),
        }),
      ],
    })
    expect([...runs[0]!.run.files].map((file) => file.path)).toEqual(['.letta/channels/slack/routing.json'])
  })
})
