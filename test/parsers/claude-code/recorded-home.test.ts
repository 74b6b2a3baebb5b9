import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { claudeCode } from '../../../src/catalog/index.js'
import { ClaudeCodeParser } from '../../../src/parsers/claude-code/index.js'
import type { ParseOptions } from '../../../src/parsers/index.js'
import type { Row } from '../../../src/rows/index.js'
import { at, plainLines, turnsByLine, type PlainLine } from '../../helpers/accounting.js'
import { cases, fixture, parse, SHARED, type FixtureCase } from '../../helpers/fixtures.js'

const PROJECTS = '.claude/projects'
const INTERACTIVE = 'ff6d5abf-bc92-46bb-9ef5-a91bf0592619'
const FORK = '10ac9689-dee7-4304-93a2-771c258e271e'
const FORKED = '0aac1642-fd9d-4468-b270-c14a14fd8fb0'
const HEADLESS_DENIAL = 'b4fa0dd2-bec1-46b6-8c22-2dba116e87a0'
const PARENT = '76224892-e44c-4486-a033-2eec40319c81'

const parseClaude = (home: string, options?: ParseOptions) => parse({ homes: [home] }, options, new ClaudeCodeParser(claudeCode))

/** The recorded home whole, where the reference beside the checkout is there. */
function wholeHome(): FixtureCase[] {
  const archive = path.join(SHARED, 'evidence/claude-code-2.1.332-home.tar.gz')
  if (!fs.existsSync(archive)) {
    console.warn(
      'the reference beside the checkout is absent: the whole recorded Claude Code home is not tested, only what fixtures/ keeps of it',
    )
    return []
  }
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'agent-forensics-claude-'))
  spawnSync('tar', ['xzf', archive, '-C', directory])
  return [{ name: path.basename(archive), directory, home: path.join(directory, 'home/alice') }]
}

const SYSTEM_TEXTS = ['<local-command-stdout>', '<bash-stdout>', '<task-notification>', '[Request interrupted by user']

/** What a line must give, told from the line alone (pi-and-claude-code 2.2, 2.3). Model rows and session names are counted apart. */
function expectedTurns({ record }: PlainLine): string[] {
  const content = at(record, 'message', 'content')
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : ((content ?? []) as Record<string, unknown>[])
  switch (at(record, 'type')) {
    case 'assistant':
      if (at(record, 'isApiErrorMessage')) return ['system']
      return blocks.flatMap(({ type, text, thinking }) =>
        type === 'tool_use' ? ['tool_use'] : type === 'text' ? (text === '' ? [] : ['assistant']) : thinking === '' ? [] : ['thinking'],
      )
    case 'user': {
      const decided = at(record, 'permissionDecision') !== undefined || at(record, 'toolDenialKind') !== undefined
      return blocks.flatMap(({ type, text }) => {
        if (type === 'tool_result') return decided ? ['system', 'tool_result'] : ['tool_result']
        const byProgram = at(record, 'isMeta') === true || at(record, 'isCompactSummary') === true
        return byProgram || SYSTEM_TEXTS.some((start) => String(text).startsWith(start)) ? ['system'] : ['user']
      })
    }
    case 'system':
      return at(record, 'content') === undefined ? [] : ['system']
    default:
      return []
  }
}

const isCountedApart = (row: Row) => row.details.kind === 'model' || row.details.kind === 'session-name'
const inTranscripts = (row: Row) => row.source_file.startsWith(PROJECTS) && row.source_file.endsWith('.jsonl')

describe.each([...cases('claude-code'), ...wholeHome()].map((given) => [given.name, given] as const))(
  'the recorded home %s',
  (_, given) => {
    const lines = plainLines(given.home, PROJECTS)

    test('gives for every line the rows that it calls for, and nothing else', async () => {
      const { rows } = await parseClaude(given.home)
      const turns = turnsByLine(rows.filter((row) => inTranscripts(row) && !isCountedApart(row)))
      for (const line of lines) {
        const key = `${line.file}:${line.line}`
        expect([key, turns.get(key) ?? []]).toEqual([key, expectedTurns(line)])
        turns.delete(key)
      }
      expect([...turns.keys()]).toEqual([])
    })

    test('counts every record, and knows every field', async () => {
      const { rows, runs } = await parseClaude(given.home)
      const { tallies } = runs[0]!.run
      const transcripts = [tallies.get('projects')!, tallies.get('subagents')!]
      expect(transcripts.reduce((sum, { records }) => sum + records, 0)).toBe(lines.length)
      const silent = lines.filter((line) => expectedTurns(line).length === 0).length
      const titled = rows.filter((row) => inTranscripts(row) && row.details.kind === 'session-name').length
      expect(transcripts.reduce((sum, { empty }) => sum + empty, 0)).toBe(silent - titled)
      for (const tally of tallies.values()) expect(tally).toMatchObject({ bad: 0 })
      expect([...tallies].flatMap(([store, { unknownFields }]) => [...unknownFields.keys()].map((field) => `${store} ${field}`))).toEqual(
        [],
      )
    })

    test('takes session, directory, branch and time from each line', async () => {
      const { rows } = await parseClaude(given.home)
      for (const row of rows.filter((row) => inTranscripts(row) && row.details.kind !== 'session-name')) {
        const { record } = lines.find(({ file, line }) => file === row.source_file && line === row.source_line)!
        expect([row.session_id, row.project_path, row.git_branch, row.timestamp_utc]).toEqual(
          ['sessionId', 'cwd', 'gitBranch', 'timestamp'].map((key) => at(record, key)),
        )
      }
    })

    test('drops the prompts of history.jsonl that a transcript holds, keeps the one that none does', async () => {
      const { rows, runs } = await parseClaude(given.home)
      expect(rows.filter(({ details }) => details.store === 'history').map(({ text }) => text)).toEqual(['/exit'])
      expect(runs[0]!.run.tallies.get('history')).toMatchObject({ records: 12, rows: 1, dropped: 11 })
      const all = await parseClaude(given.home, { allSources: true })
      expect(all.rows.filter(({ details }) => details.store === 'history')).toHaveLength(12)
    })
  },
)

const given = fixture('claude-code/2.1.332')
const rowsOf = async (session: string, options?: ParseOptions) =>
  (await parseClaude(given.home, options)).rows.filter(({ source_file }) => source_file === `${PROJECTS}/-home-alice-demo/${session}.jsonl`)

describe('the interactive session, read by hand', () => {
  const expected = fs
    .readFileSync(path.join(given.directory, 'expected.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => ({
      host: '',
      user: 'alice',
      agent: 'claude-code',
      session_id: INTERACTIVE,
      project_path: '/home/alice/demo',
      git_branch: 'main',
      model: '',
      tool_name: '',
      tool_use_id: '',
      source_file: `${PROJECTS}/-home-alice-demo/${INTERACTIVE}.jsonl`,
      ...(JSON.parse(line) as Partial<Row>),
    }))

  test('gives these rows', async () => {
    const rows = await rowsOf(INTERACTIVE)
    expect(rows.map(({ details, ...columns }) => (void details, columns))).toEqual(expected)
  })

  test('has one name, at the time at which the user gave it', async () => {
    const { rows } = await parseClaude(given.home)
    const names = rows.filter(({ details, session_id }) => details.kind === 'session-name' && session_id === INTERACTIVE)
    expect(names.map((row) => [row.timestamp_utc, row.text, row.source_file.split('/').at(-1)])).toEqual([
      ['2026-11-30T17:42:24.740Z', 'session name: Demo tour', 'custom-title.json'],
    ])
  })
})

describe('who decided on a call', () => {
  const decisions = (rows: readonly Row[]) => rows.filter(({ details }) => details.kind === 'permission-decision')

  test('nobody, where a headless run had no rule for it', async () => {
    const found = decisions(await rowsOf(HEADLESS_DENIAL))
    expect(found.map(({ details }) => [details.decision, details.source, details.decided_by, details.denial_kind])).toEqual([
      ['deny', 'config', 'nobody', 'user-rejected'],
      ['deny', 'config', 'nobody', 'user-rejected'],
    ])
  })

  test('a rule, the user at the prompt, the user for good, the user once', async () => {
    const found = decisions(await rowsOf(INTERACTIVE))
    expect(found.map(({ tool_name, details }) => [tool_name, details.decision, details.decided_by, details.rule_source ?? null])).toEqual([
      ['Bash', 'deny', 'configuration', 'userSettings'],
      ['Write', 'deny', 'user', null],
      ['Bash', 'approve', 'user', null],
      ['AskUserQuestion', 'approve', 'user', null],
    ])
  })
})

describe('permission settings', () => {
  test('are one row an entry, at user, project and local scope, in the form of the letta parser', async () => {
    const { rows } = await parseClaude(given.home)
    const settings = rows.filter(({ details }) => details.kind === 'permission-setting')
    expect(settings.map(({ project_path, source_file, text }) => [project_path, source_file, text])).toEqual([
      [
        '/home/alice/demo',
        '/home/alice/demo/.claude/settings.json',
        'permission setting: permissions.defaultMode=acceptEdits (from .claude/settings.json, file mtime)',
      ],
      [
        '/home/alice/demo',
        '/home/alice/demo/.claude/settings.json',
        'permission setting: permissions.allow=Bash(npm test) (from .claude/settings.json, file mtime)',
      ],
      ['', '.claude/settings.json', 'permission setting: permissions.defaultMode=default (from .claude/settings.json, file mtime)'],
      ['', '.claude/settings.json', 'permission setting: permissions.allow=Bash(ls:*) (from .claude/settings.json, file mtime)'],
      ['', '.claude/settings.json', 'permission setting: permissions.allow=Read(~/notes/**) (from .claude/settings.json, file mtime)'],
      ['', '.claude/settings.json', 'permission setting: permissions.deny=Bash(rm -rf:*) (from .claude/settings.json, file mtime)'],
      ['', '.claude/settings.json', 'permission setting: permissions.deny=Read(./.env) (from .claude/settings.json, file mtime)'],
      ['', '.claude/settings.json', 'permission setting: permissions.ask=Bash(git push:*) (from .claude/settings.json, file mtime)'],
      [
        '',
        '.claude/settings.json',
        'permission setting: permissions.additionalDirectories=/srv/shared (from .claude/settings.json, file mtime)',
      ],
      [
        '/home/alice/demo',
        '/home/alice/demo/.claude/settings.local.json',
        'permission setting: permissions.allow=Bash(python3 *) (from .claude/settings.local.json, file mtime)',
      ],
    ])
  })
})

test('a subagent is joined to the call of its parent, both ways', async () => {
  const { rows } = await parseClaude(given.home)
  const call = rows.find(({ tool_name, turn_type }) => tool_name === 'Agent' && turn_type === 'tool_use')!
  const subagent = rows.filter(({ details }) => details.store === 'subagents')
  const result = rows.find(({ tool_name, turn_type }) => tool_name === 'Agent' && turn_type === 'tool_result')!
  for (const row of [call, result]) expect(row).toMatchObject({ session_id: PARENT, details: { subagent: 'a9445251e4ed67fc7' } })
  expect(subagent.length).toBeGreaterThan(0)
  for (const row of subagent) {
    expect(row.session_id).toBe(PARENT)
    expect(row.details).toMatchObject({
      sidechain: true,
      agent_id: 'a9445251e4ed67fc7',
      agent_type: 'general-purpose',
      parent_tool_use_id: call.tool_use_id,
    })
  }
  expect(subagent.find(({ turn_type }) => turn_type === 'user')!.details.origin).toBe('parent-agent')
})

test('a forked session marks the lines that it copied: two prompts, two answers and their models (PI-CLAUDE-README)', async () => {
  const copied = (await rowsOf(FORK)).filter(({ details }) => details.copied_from !== undefined)
  expect(copied.map(({ turn_type, details }) => [turn_type, (details.copied_from as { session_id: string }).session_id])).toEqual([
    ['user', FORKED],
    ['system', FORKED],
    ['assistant', FORKED],
    ['user', FORKED],
    ['system', FORKED],
    ['assistant', FORKED],
  ])
  expect((await rowsOf(FORKED)).filter(({ details }) => details.copied_from !== undefined)).toEqual([])
  expect((await rowsOf(FORK, { originalsOnly: true })).map(({ turn_type }) => turn_type)).toEqual([
    'system',
    'user',
    'system',
    'thinking',
    'assistant',
  ])
})
