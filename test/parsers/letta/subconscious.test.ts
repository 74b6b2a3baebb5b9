import fs from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from '@jest/globals'
import type { Row } from '../../../src/rows/index.js'
import { makeHome, parse, SHARED, write } from '../../helpers/fixtures.js'

const S1 = '5d0c7b1e-94a3-4f28-8e6b-d17f3a2c9e40'
const S2 = 'b82f6e0d-1c75-4a93-9d4e-60a7c5f3e118'
const STARTED = '2026-03-08T18:19:05.123Z'

const links = (rows: readonly Row[]) => rows.filter((row) => row.details.kind === 'session-synced')
const problems = (rows: readonly Row[]) => rows.filter((row) => row.details.kind === 'parser').map(({ text }) => text)

function setTime(file: string, time: string): void {
  fs.utimesSync(file, new Date(time), new Date(time))
}

/** A home that names nothing, and a project beside it. */
async function parseProject(directory: string) {
  return parse({ homes: [makeHome({})], projectDirs: [directory] })
}

describe('a session that map and session file name', () => {
  test('is one row, at the start that the session file records, in the words of rows.md', async () => {
    const home = makeHome({
      '.letta/claude/conversations.json': JSON.stringify({ [S1]: { conversationId: 'conv-1', agentId: 'agent-1' } }),
      [`.letta/claude/session-${S1}.json`]: JSON.stringify({
        sessionId: S1,
        conversationId: 'conv-other',
        lastProcessedIndex: 12,
        startedAt: STARTED,
      }),
    })
    const { rows } = await parse({ homes: [home] })
    expect(rows.map(({ text }) => text)).toEqual([
      `session synced: claude-code session ${S1} conversation conv-1 agent agent-1 sent_to=12 (from .letta/claude/conversations.json, startedAt)`,
    ])
    expect(rows[0]).toMatchObject({ timestamp_utc: STARTED, session_id: 'conv-1', project_path: '', source_line: null })
    expect(rows[0]!.details).toMatchObject({ store: 'claude-subconscious', map: true, state: true, time_source: 'record' })
    expect(rows[0]!.details.links).toEqual([{ agent: 'claude-code', session_id: S1, from: '.letta/claude/conversations.json' }])
  })

  test('takes the conversation of the session file when the map names none', async () => {
    const home = makeHome({
      '.letta/claude/conversations.json': JSON.stringify({ [S1]: { conversationId: null, agentId: 'agent-1' } }),
      [`.letta/claude/session-${S1}.json`]: JSON.stringify({ sessionId: S1, conversationId: 'conv-2' }),
    })
    const { rows } = await parse({ homes: [home] })
    expect(rows.map(({ session_id }) => session_id)).toEqual(['conv-2'])
  })

  test('keeps its row when the start cannot be read, at the time of the map', async () => {
    const home = makeHome({
      '.letta/claude/conversations.json': JSON.stringify({ [S1]: 'conv-1' }),
      [`.letta/claude/session-${S1}.json`]: JSON.stringify({ sessionId: S1, startedAt: 'soon', lastProcessedIndex: -1 }),
    })
    setTime(path.join(home, '.letta/claude/conversations.json'), '2026-05-01T00:00:00Z')
    const { rows } = await parse({ homes: [home] })
    expect(rows[0]).toMatchObject({ timestamp_utc: '2026-05-01T00:00:00.000Z' })
    expect(rows[0]!.text).toMatch(/agent - sent_to=-1 \(from .*, file mtime\)$/)
    expect(rows[0]!.details.bad_time).toBe('soon')
  })
})

describe('where the state is', () => {
  const map = JSON.stringify({ [S1]: { conversationId: 'conv-1', agentId: 'agent-1' } })

  test('a subfolder of a project is its own project', async () => {
    const project = makeHome(
      { '.letta/claude/conversations.json': map, 'a/b/c/d/.letta/claude/conversations.json': map },
      { at: 'srv/work' },
    )
    const { rows } = await parseProject(project)
    expect(links(rows).map(({ project_path }) => project_path)).toEqual([project, `${project}/a/b/c/d`])
  })

  test('a folder that is literally named $HOME or ~ says nothing of a project', async () => {
    const project = makeHome(
      { '$HOME/.letta/claude/conversations.json': map, '~/.letta/claude/conversations.json': map },
      { at: 'srv/work' },
    )
    const { rows } = await parseProject(project)
    expect(links(rows).map((row) => [row.project_path, row.source_file])).toEqual([
      ['', `${project}/$HOME/.letta/claude/conversations.json`],
      ['', `${project}/~/.letta/claude/conversations.json`],
    ])
  })

  test('such a folder in a home that is a project too is read once', async () => {
    const home = makeHome({ '$HOME/.letta/claude/conversations.json': map })
    const { rows } = await parse({ homes: [home], projectDirs: [home] })
    expect(links(rows).map(({ source_file }) => source_file)).toEqual(['$HOME/.letta/claude/conversations.json'])
  })

  test('a moved LETTA_HOME is read under its usual path', async () => {
    const moved = makeHome({ '.letta/claude/conversations.json': map }, { at: 'sync' })
    const { rows } = await parse({ homes: [makeHome({})], moved: [{ directory: moved, base: '', paths: ['.letta/claude'] }] })
    expect(links(rows).map((row) => [row.project_path, row.source_file])).toEqual([['', '.letta/claude/conversations.json']])
  })
})

describe('the plug-in itself', () => {
  test('names the agent it imported', async () => {
    const config = JSON.stringify({ agentId: 'agent-9', importedAt: STARTED, model: 'm/1' })
    const { rows } = await parse({ homes: [makeHome({ '.letta/claude-subconscious/config.json': config })] })
    expect(rows.map((row) => [row.timestamp_utc, row.text])).toEqual([
      [STARTED, 'subconscious agent: agent-9 model=m/1 (from .letta/claude-subconscious/config.json, importedAt)'],
    ])
  })

  test('the later build gives one row for each route, and never the token of its broker', async () => {
    const home = makeHome({
      '.letta/subconscious/state.json': JSON.stringify({
        version: 1,
        routes: {
          k: {
            key: 'k',
            harness: 'codex',
            sessionId: 'cx-1',
            agentId: 'agent-1',
            conversationId: 'conv-7',
            projectRoot: '/srv/gone',
            createdAt: STARTED,
            updatedAt: '2026-03-09T00:00:00.000Z',
          },
          odd: 7,
        },
        observations: { o: {} },
        observationOrder: ['o'],
        deliveries: {},
      }),
      '.letta/subconscious/broker.json': JSON.stringify({ token: 'TOKEN-OF-THE-BROKER' }),
    })
    const { rows, runs } = await parse({ homes: [home] })
    expect(links(rows).map((row) => [row.session_id, row.project_path, row.text])).toEqual([
      [
        'conv-7',
        '/srv/gone',
        'session synced: codex session cx-1 conversation conv-7 agent agent-1 updated=2026-03-09T00:00:00.000Z (from .letta/subconscious/state.json, createdAt)',
      ],
    ])
    expect(problems(rows)).toEqual(['parser: .letta/subconscious/state.json field routes.odd is not an object'])
    expect(JSON.stringify(rows)).not.toContain('TOKEN-OF-THE-BROKER')
    expect([...runs[0]!.run.projectsNotFound]).toEqual(['/srv/gone'])
    expect(runs[0]!.run.tallies.get('subconscious-state')).toMatchObject({ records: 1, empty: 1 })
  })

  test('what it relayed is marked as its own, in transcripts and in messages', async () => {
    const relayed = '<claude_code_session_update>\nclaude: hello\n</claude_code_session_update>'
    const line = { kind: 'user', text: relayed, captured_at: STARTED }
    const home = makeHome({ '.letta/transcripts/agent-local-1/c/transcript.jsonl': `${JSON.stringify(line)}\n` })
    const { rows } = await parse({ homes: [home] })
    expect(rows.map(({ details }) => details.origin)).toEqual(['claude-subconscious'])
  })
})

const shared = fs.existsSync(SHARED)
if (!shared) console.warn('the reference beside the checkout is absent: public and damaged Claude Subconscious files are not tested')

/** What a plain look at the folders finds: files with their sessions, as sets. */
function plainLook(root: string) {
  const files = fs
    .readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((name) => /(^|\/)\.letta\/claude\/(conversations|session-[^/]*)\.json$/.test(name))
    .sort()
  const sessions = new Set<string>()
  let broken = 0
  for (const name of files) {
    const folder = path.dirname(name)
    try {
      const content = JSON.parse(fs.readFileSync(path.join(root, name), 'utf8')) as Record<string, unknown>
      if (name.endsWith('conversations.json')) {
        for (const [id, entry] of Object.entries(content)) {
          if (typeof entry === 'number') broken++
          else sessions.add(`${folder} ${id}`)
        }
      } else sessions.add(`${folder} ${String(content.sessionId)}`)
    } catch {
      broken++
    }
  }
  return { files, sessions: [...sessions].sort(), broken }
}

const namedBy = (rows: readonly Row[], root: string) =>
  links(rows)
    .filter(({ details }) => details.store === 'claude-subconscious')
    .map((row) => `${path.dirname(path.relative(root, row.source_file))} ${String(row.details.harness_session_id)}`)
    .sort()

;(shared ? describe : describe.skip)('state files found in public repositories', () => {
  const root = path.join(SHARED, 'evidence/public')
  const projects = shared
    ? fs.readdirSync(root).filter((name) => name.startsWith('project-') && plainLook(path.join(root, name)).files.length > 0)
    : []

  test('there are some', () => expect(projects.length).toBeGreaterThan(15))

  test.each(projects)('%s: every session is a row, every file is read', async (name) => {
    const project = path.join(root, name)
    const { files, sessions } = plainLook(project)
    const { rows, runs } = await parseProject(project)
    expect(namedBy(rows, project)).toEqual(sessions)
    expect(problems(rows)).toEqual([])
    const read = [...runs[0]!.run.files].map(({ path: at }) => path.relative(project, at)).filter((at) => at.includes('.letta/claude/'))
    expect(read.sort()).toEqual(files)
    expect(Object.fromEntries(runs[0]!.run.tallies.get('claude-subconscious')!.unknownFields)).toEqual({})
  })
})

;(shared ? describe : describe.skip)('damaged state files', () => {
  const input = (name: string) => path.join(SHARED, 'evidence/bugs', name, 'input')

  test('an empty map is named', async () => {
    const { rows } = await parseProject(path.join(input('04-zero-byte-files'), 'project'))
    expect(links(rows)).toEqual([])
    expect(problems(rows).filter((text) => text.includes('.letta/claude/'))).toHaveLength(1)
  })

  test('a map with conflict markers is named, and the session file beside it still gives its link', async () => {
    const { rows } = await parseProject(path.join(input('13-merge-conflict-markers'), 'project'))
    expect(problems(rows)).toHaveLength(2)
    expect(links(rows).map((row) => [row.details.harness_session_id, row.session_id, row.details.map, row.details.state])).toEqual([
      [S1, 'conv-3c9a7e51-60d8-4b2f-a1f4-5e8d27c6b083', false, true],
    ])
  })

  test('one folder for all projects names none', async () => {
    const home = path.join(input('14-central-letta-home'), 'home')
    const { rows } = await parse({ homes: [home], users: ['alice'] })
    const mtime = new Date(Math.floor(fs.statSync(path.join(home, '.letta/claude/conversations.json')).mtimeMs)).toISOString()
    expect(links(rows).map((row) => [row.details.harness_session_id, row.project_path, row.timestamp_utc, row.details.state])).toEqual([
      [S1, '', mtime, true],
      [S2, '', mtime, false],
    ])
    expect(links(rows).map(({ text }) => /sent_to=\S+/.exec(text)![0])).toEqual(['sent_to=10', 'sent_to=-'])
  })

  test('old and stale entries are all told, and one that is neither form is named', async () => {
    const { rows } = await parseProject(path.join(input('15-stale-and-legacy-map'), 'project'))
    expect(links(rows).map((row) => [row.details.harness_session_id, row.session_id, row.details.agent_id ?? null])).toEqual([
      [S1, 'conv-3c9a7e51-60d8-4b2f-a1f4-5e8d27c6b083', null],
      [S2, 'default', 'agent-6f1d2c34-8a5b-4e0f-9c77-2b1e0d4a9f10'],
      ['11111111-2222-4333-8444-555555555555', 'conv-91b4f0e6-2d7a-4c35-b8e9-0f6a13d5c7e2', null],
      ['not-a-uuid', '', 'agent-0b7e95d2-13c4-4f6a-8e21-77c0a5d3b9e4'],
    ])
    expect(problems(rows).map((text) => text.replace(/.*conversations\.json /, ''))).toEqual(['field x is neither an object nor a string'])
  })
})

test('a file time beside a session is never another file’s', async () => {
  const home = makeHome({})
  write(path.join(home, `.letta/claude/session-${S1}.json`), JSON.stringify({ sessionId: S1 }))
  setTime(path.join(home, `.letta/claude/session-${S1}.json`), '2026-06-01T00:00:00Z')
  const { rows } = await parse({ homes: [home] })
  expect(rows.map((row) => [row.timestamp_utc, row.source_file])).toEqual([
    ['2026-06-01T00:00:00.000Z', `.letta/claude/session-${S1}.json`],
  ])
})
