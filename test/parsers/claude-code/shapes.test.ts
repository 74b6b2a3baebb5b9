import { describe, expect, test } from '@jest/globals'
import { claudeCode } from '../../../src/catalog/index.js'
import { ClaudeCodeParser } from '../../../src/parsers/claude-code/index.js'
import type { ParseOptions } from '../../../src/parsers/index.js'
import { jsonLines, makeHome, parse } from '../../helpers/fixtures.js'

const T = (second: number) => `2026-01-02T03:04:${String(second).padStart(2, '0')}.000Z`
const SESSION = '.claude/projects/-srv-work/s-1.jsonl'
const chain = (second: number, more: object) => ({
  uuid: `u${second}`,
  timestamp: T(second),
  sessionId: 's-1',
  cwd: '/srv/work',
  gitBranch: 'main',
  ...more,
})
const user = (second: number, content: unknown, more = {}) => chain(second, { type: 'user', message: { role: 'user', content }, ...more })
const assistant = (second: number, content: unknown, more = {}) =>
  chain(second, { type: 'assistant', message: { id: 'm', role: 'assistant', model: 'claude-x', content }, ...more })

async function parseFiles(files: Record<string, string>, options?: ParseOptions) {
  return parse({ homes: [makeHome(files)] }, options, new ClaudeCodeParser(claudeCode))
}
const rowsOf = async (...records: unknown[]) => (await parseFiles({ [SESSION]: jsonLines(...records) })).rows

describe('lines', () => {
  test('directory and branch change inside a session; a detached HEAD is no branch', async () => {
    const rows = await rowsOf(user(1, 'a'), user(2, 'b', { cwd: 'C:\\work\\x', gitBranch: 'HEAD' }), user(3, 'c', { gitBranch: 'next' }))
    expect(rows.map(({ project_path, git_branch }) => [project_path, git_branch])).toEqual([
      ['/srv/work', 'main'],
      ['C:\\work\\x', ''],
      ['/srv/work', 'next'],
    ])
  })

  test('several blocks in one line are a row each, images by their type', async () => {
    const rows = await rowsOf(
      assistant(1, [
        { type: 'redacted_thinking', data: 'x' },
        { type: 'thinking', thinking: '' },
        { type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'ls' } },
        { type: 'server_tool_use', id: 't2', name: 'web_search', input: { query: 'q' } },
        { type: 'web_search_tool_result', tool_use_id: 't2', content: [{ type: 'text', text: 'found' }] },
      ]),
      user(2, [
        { type: 'text', text: 'look' },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
        {
          type: 'tool_result',
          tool_use_id: 't1',
          content: [
            { type: 'text', text: 'a' },
            { type: 'image', source: { media_type: 'image/gif' } },
          ],
        },
      ]),
    )
    expect(rows.map(({ turn_type, tool_name, text }) => [turn_type, tool_name, text])).toEqual([
      ['system', '', 'model: claude-x provider=anthropic'],
      ['thinking', '', '[redacted thinking]'],
      ['tool_use', 'Bash', 'ls'],
      ['tool_use', 'web_search', 'q'],
      ['tool_result', '', 'found'],
      ['user', '', 'look'],
      ['user', '', '[image image/png]'],
      ['tool_result', 'Bash', 'a\n[image image/gif]'],
    ])
  })

  test('an API error is visible, and its stand-in model is none', async () => {
    const error = chain(1, {
      type: 'assistant',
      isApiErrorMessage: true,
      apiErrorStatus: 529,
      message: { model: '<synthetic>', content: [{ type: 'text', text: 'Overloaded' }] },
    })
    const rows = await rowsOf(error, chain(2, { type: 'system', subtype: 'api_error', error: { message: 'Connection error.' } }))
    expect(rows.map(({ turn_type, model, text, details }) => [turn_type, model, text, details.kind])).toEqual([
      ['system', '', 'Overloaded', 'error'],
      ['system', '', 'error: Connection error.', 'error'],
    ])
  })

  test('a summary of older releases stands at the time of the line that it names, or at none', async () => {
    const rows = await rowsOf(
      { type: 'summary', summary: 'First', leafUuid: 'u5' },
      { type: 'summary', summary: 'Lost', leafUuid: 'elsewhere' },
      user(5, 'hi'),
    )
    expect(rows.map(({ timestamp_utc, text, source_line }) => [timestamp_utc, text, source_line])).toEqual([
      [T(5), 'First', 1],
      [T(5), 'hi', 3],
      ['', 'Lost', 2],
    ])
  })

  test('a type that is not known is counted as new, a broken line is named', async () => {
    const { rows, runs } = await parseFiles({
      [SESSION]: `${jsonLines({ type: 'hologram', sessionId: 's-1' })}{"type":"us\n${jsonLines(user(3, 'hi'))}`,
    })
    expect(rows.map(({ text, session_id }) => [text, session_id])).toEqual([
      ['hi', 's-1'],
      [`parser: ${SESSION}:2 not valid JSON`, 's-1'],
    ])
    expect([...runs[0]!.run.tallies.get('projects')!.unknownFields]).toEqual([['type hologram', 1]])
  })

  test('a name is one row for each name, however often it is written', async () => {
    const title = (customTitle: string) => ({ type: 'custom-title', customTitle, sessionId: 's-1' })
    const rows = await rowsOf(title('A'), title('A'), title('B'), title('A'))
    expect(rows.map(({ timestamp_utc, text, source_line }) => [timestamp_utc, text, source_line])).toEqual([
      ['', 'session name: A', 1],
      ['', 'session name: B', 3],
    ])
  })

  test('subagents of old releases share the file, with a model of their own', async () => {
    const rows = await rowsOf(
      assistant(1, [{ type: 'text', text: 'main' }]),
      user(2, 'do it', { isSidechain: true }),
      assistant(3, [{ type: 'text', text: 'side' }], { isSidechain: true }),
      assistant(4, [{ type: 'text', text: 'main again' }]),
    )
    expect(rows.filter(({ details }) => details.kind === 'model').map(({ source_line }) => source_line)).toEqual([1, 3])
    expect(rows.filter(({ details }) => details.sidechain).map(({ text, details }) => [text, details.origin])).toEqual([
      ['do it', 'parent-agent'],
      ['model: claude-x provider=anthropic', undefined],
      ['side', undefined],
    ])
  })
})

describe('forks', () => {
  test('of a terminal session begin with the same line: the answers tell which is the copy', async () => {
    const first = '.claude/projects/-srv-work/b-original.jsonl'
    const fork = '.claude/projects/-srv-work/a-fork.jsonl'
    const { rows } = await parseFiles({
      [first]: jsonLines(
        user(1, 'hi', { sessionId: 'b-original' }),
        assistant(2, [{ type: 'text', text: 'yes' }], { sessionId: 'b-original' }),
      ),
      [fork]: jsonLines(
        user(1, 'hi', { sessionId: 'a-fork' }),
        assistant(2, [{ type: 'text', text: 'yes' }], { sessionId: 'a-fork', requestSessionId: 'b-original' }),
      ),
    })
    expect(rows.filter(({ details }) => details.copied_from).map(({ session_id }) => session_id)).toEqual(['a-fork', 'a-fork', 'a-fork'])
    expect(rows.find(({ details }) => details.copied_from)!.details.copied_from).toEqual({
      session_id: 'b-original',
      source_file: first,
      source_line: 1,
    })
  })
})

describe('typed prompts', () => {
  const history = (display: string, second: number, more = {}) => ({
    display,
    pastedContents: {},
    timestamp: Date.parse(T(second)),
    project: '/srv/work',
    sessionId: 's-1',
    ...more,
  })

  test('outlive the transcript', async () => {
    const { rows } = await parseFiles({ '.claude/history.jsonl': jsonLines(history('delete it all', 1)) })
    expect(
      rows.map(({ turn_type, timestamp_utc, session_id, project_path, text }) => [
        turn_type,
        timestamp_utc,
        session_id,
        project_path,
        text,
      ]),
    ).toEqual([['user', T(1), 's-1', '/srv/work', 'delete it all']])
  })

  test('one prompt of a transcript cancels one line, in its own session only', async () => {
    const { rows } = await parseFiles({
      '.claude/history.jsonl': jsonLines(history('again', 1), history('again', 2), history('again', 1, { sessionId: 's-2' })),
      [SESSION]: jsonLines(user(1, 'again')),
    })
    expect(
      rows.filter(({ details }) => details.store === 'history').map(({ session_id, source_line }) => [session_id, source_line]),
    ).toEqual([
      ['s-2', 3],
      ['s-1', 2],
    ])
  })

  test('what the program wrote in the role of the user cancels none', async () => {
    const { rows } = await parseFiles({
      '.claude/history.jsonl': jsonLines(history('x', 1)),
      [SESSION]: jsonLines(user(1, 'x', { isMeta: true })),
    })
    expect(rows).toHaveLength(2)
  })
})

test('values under the credential keys of settings and state reach no row', async () => {
  const secret = 'sk-ant-of-nobody'
  const { rows, runs } = await parseFiles({
    '.claude/settings.json': JSON.stringify({ env: { ANTHROPIC_API_KEY: secret }, apiKeyHelper: secret, permissions: { allow: ['Read'] } }),
    '.claude/.credentials.json': JSON.stringify({ claudeAiOauth: { accessToken: secret } }),
    '.claude.json': JSON.stringify({ oauthAccount: secret }),
  })
  expect(rows.map(({ text }) => text)).toEqual(['permission setting: permissions.allow=Read (from .claude/settings.json, file mtime)'])
  expect(JSON.stringify(rows)).not.toContain(secret)
  expect([...runs[0]!.run.files].map(({ path }) => path)).toEqual(['.claude/settings.json'])
})

test('a moved configuration directory is read under its usual path', async () => {
  const moved = makeHome({ 'projects/-srv-work/s-1.jsonl': jsonLines(user(1, 'hi')) }, { at: 'config' })
  const moves = claudeCode.environment.find(({ flag }) => flag === 'claude-dir')!.moves!
  const { rows } = await parse({ homes: [makeHome({})], moved: [{ directory: moved, ...moves }] }, {}, new ClaudeCodeParser(claudeCode))
  expect(rows.map(({ source_file }) => source_file)).toEqual([SESSION])
})

test('a session that Claude Subconscious sent to Letta names the conversation, in every row', async () => {
  const map = { 's-1': { conversationId: 'conv-1', agentId: 'agent-1' } }
  const home = {
    [SESSION]: jsonLines(user(1, 'hi', { cwd: '/home/alice/widget' })),
    'widget/.letta/claude/conversations.json': JSON.stringify(map),
  }
  const { rows, runs } = await parseFiles(home)
  expect(rows.map(({ text, details }) => [text, details.links])).toEqual([
    ['hi', [{ agent: 'letta', session_id: 'conv-1', from: '/home/alice/widget/.letta/claude/conversations.json' }]],
  ])
  expect([...runs[0]!.run.files].map(({ path }) => path)).toContain('/home/alice/widget/.letta/claude/conversations.json')
})
