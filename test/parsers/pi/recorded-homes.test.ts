import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { pi } from '../../../src/catalog/index.js'
import { PiParser } from '../../../src/parsers/pi/index.js'
import type { ParseOptions } from '../../../src/parsers/index.js'
import type { Row } from '../../../src/rows/index.js'
import { at, plainLines, turnsByLine, type PlainLine } from '../../helpers/accounting.js'
import { applyTimes, cases, fixture, parse, ROOT, SHARED, type FixtureCase } from '../../helpers/fixtures.js'

const SESSIONS = '.pi/agent/sessions'
const INTERACTIVE = '2026-11-30T17-36-38-073Z_01a22d87-b4b7-74bc-9c1c-6e5621e2b84a'
const FORK = '2026-11-30T17-39-02-784Z'
const CLONE = '2026-11-30T17-39-16-114Z'

const parsePi = (home: string, options?: ParseOptions) => parse({ homes: [home] }, options, new PiParser(pi))

/** The recorded homes whole, where the reference beside the checkout is there. */
function wholeHomes(): FixtureCase[] {
  const archives = ['pi-0.73.1-home', 'pi-1.6.0-home'].map((name) => path.join(SHARED, 'evidence', `${name}.tar.gz`))
  if (!archives.every((archive) => fs.existsSync(archive))) {
    console.warn(
      'the reference beside the checkout is absent: the whole recorded pi homes are not tested, only what fixtures/ keeps of them',
    )
    return []
  }
  return archives.map((archive) => {
    const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'agent-forensics-pi-'))
    spawnSync('tar', ['xzf', archive, '-C', directory])
    return { name: path.basename(archive), directory, home: path.join(directory, 'home/alice') }
  })
}

/** What a line must give, told from the line alone (pi-and-claude-code 1.7). Model rows are counted apart. */
function expectedTurns({ record }: PlainLine): string[] {
  const role = at(record, 'message', 'role')
  switch (at(record, 'type')) {
    case 'session':
    case 'model_change':
    case 'custom':
    case 'usage':
      return []
    case 'message':
      break
    default:
      return ['system']
  }
  switch (role) {
    case 'user':
      return ['user']
    case 'toolResult':
      return ['tool_result']
    case 'bashExecution':
      return ['user', 'tool_result']
    case 'assistant': {
      const parts = at(record, 'message', 'content') as { type: string; text?: string; thinking?: string; redacted?: boolean }[]
      const turns = parts.flatMap(({ type, text, thinking, redacted }) =>
        type === 'toolCall'
          ? ['tool_use']
          : type === 'text'
            ? text === ''
              ? []
              : ['assistant']
            : thinking === '' && !redacted
              ? []
              : ['thinking'],
      )
      return ['error', 'aborted'].includes(String(at(record, 'message', 'stopReason'))) ? [...turns, 'system'] : turns
    }
    default:
      return ['system']
  }
}

const isModelRow = (row: Row) => row.details.kind === 'model'

describe.each([...cases('pi'), ...wholeHomes()].map((given) => [given.name, given] as const))('the recorded home %s', (_, given) => {
  const lines = plainLines(given.home, SESSIONS)

  test('gives for every entry the rows that its line calls for, and nothing else', async () => {
    const { rows } = await parsePi(given.home)
    const turns = turnsByLine(rows.filter((row) => !isModelRow(row)))
    for (const line of lines)
      expect([`${line.file}:${line.line}`, turns.get(`${line.file}:${line.line}`) ?? []]).toEqual([
        `${line.file}:${line.line}`,
        expectedTurns(line),
      ])
    expect([...turns.keys()].sort()).toEqual(
      lines
        .filter((line) => expectedTurns(line).length > 0)
        .map(({ file, line }) => `${file}:${line}`)
        .sort(),
    )
  })

  test('counts every record: headers, and entries that give rows or hold nothing to show', async () => {
    const { runs } = await parsePi(given.home)
    const tally = runs[0]!.run.tallies.get('sessions')!
    const silent = lines.filter(({ record }) => ['model_change', 'custom', 'usage'].includes(String(at(record, 'type'))))
    expect(tally).toMatchObject({
      records: lines.length,
      headers: lines.filter(({ record }) => at(record, 'type') === 'session').length,
      bad: 0,
      dropped: 0,
    })
    expect(tally.empty).toBeGreaterThanOrEqual(silent.length)
    expect([...tally.unknownFields]).toEqual([])
  })

  test('says the model where the first answer and each change of model in a file call for it', async () => {
    const { rows } = await parsePi(given.home)
    const changes = lines.flatMap(({ file, line, record }, i) => {
      const model = at(record, 'message', 'model')
      if (typeof model !== 'string') return []
      const before = lines.slice(0, i).findLast((other) => other.file === file && typeof at(other.record, 'message', 'model') === 'string')
      return at(before?.record, 'message', 'model') === model ? [] : [`${file}:${line} ${model}`]
    })
    expect(
      rows
        .filter(isModelRow)
        .map((row) => `${row.source_file}:${row.source_line} ${row.model}`)
        .sort(),
    ).toEqual(changes.sort())
  })

  test('marks as copies exactly the entries of forks that stand in an earlier file', async () => {
    const { rows, runs } = await parsePi(given.home)
    const starts = new Map(lines.filter(({ record }) => at(record, 'type') === 'session').map(({ file, record }) => [file, record]))
    const identity = ({ record }: PlainLine) =>
      at(record, 'type') === 'label'
        ? `${String(at(record, 'targetId'))} ${String(at(record, 'timestamp'))}`
        : `${String(at(record, 'id'))} ${String(at(record, 'timestamp'))}`
    const copied = lines.filter(
      (line) =>
        at(starts.get(line.file), 'parentSession') !== undefined &&
        at(line.record, 'type') !== 'session' &&
        lines.some(
          (other) =>
            String(at(starts.get(other.file), 'timestamp')) < String(at(starts.get(line.file), 'timestamp')) &&
            identity(other) === identity(line),
        ),
    )
    const shown = copied.filter((line) => expectedTurns(line).length > 0).map(({ file, line }) => `${file}:${line}`)
    const marked = new Set(
      rows.filter(({ details }) => details.copied_from !== undefined).map((row) => `${row.source_file}:${row.source_line}`),
    )
    expect([...marked].sort()).toEqual(shown.sort())
    expect(shown.length).toBeGreaterThan(0)
    for (const { details, timestamp_utc } of rows.filter(({ details }) => details.copied_from !== undefined)) {
      const original = details.copied_from as { source_file: string; source_line: number }
      const line = lines.find(({ file, line }) => file === original.source_file && line === original.source_line)!
      expect(at(line.record, 'timestamp')).toBe(timestamp_utc)
      expect(at(starts.get(line.file), 'parentSession') === undefined || !marked.has(`${line.file}:${line.line}`)).toBe(true)
    }
    const originals = await parsePi(given.home, { originalsOnly: true })
    expect(originals.rows.length).toBe(rows.filter(({ details }) => details.copied_from === undefined).length)
    expect(originals.runs[0]!.run.tallies.get('sessions')!.dropped).toBe(rows.length - originals.rows.length)
    expect(runs[0]!.run.tallies.get('sessions')!.copied).toBe(rows.length - originals.rows.length)
  })
})

describe('one session of pi 0.73.1, read by hand', () => {
  const given = fixture('pi/0.73.1')
  const file = `${SESSIONS}/--home-alice-demo--/${INTERACTIVE}.jsonl`
  const expected = fs
    .readFileSync(path.join(given.directory, 'expected.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => ({
      host: '',
      user: 'alice',
      agent: 'pi',
      session_id: '01a22d87-b4b7-74bc-9c1c-6e5621e2b84a',
      project_path: '/home/alice/demo',
      git_branch: '',
      model: '',
      tool_name: '',
      tool_use_id: '',
      source_file: file,
      ...(JSON.parse(line) as Partial<Row>),
    }))

  test('gives these rows', async () => {
    const { rows } = await parsePi(given.home)
    expect(rows.filter(({ source_file }) => source_file === file).map(({ details, ...columns }) => (void details, columns))).toEqual(
      expected,
    )
  })

  test('stands on a second branch from the summary of the first one on', async () => {
    const { rows } = await parsePi(given.home)
    const branches = rows
      .filter(({ source_file }) => source_file === file)
      .map(({ source_line, details }) => [source_line, details.branch, details.branch_from])
    expect(branches.filter(([line]) => Number(line) < 27).every(([, branch]) => branch === undefined)).toBe(true)
    expect(branches.filter(([line]) => Number(line) >= 27).every(([, branch]) => branch === 2)).toBe(true)
    expect(branches.find(([line]) => line === 27)).toEqual([27, 2, 'aa28a527'])
  })

  test('its fork repeats 23 of its own 25 entries, the clone of the fork repeats that (PI-CLAUDE-README)', async () => {
    const entries = plainLines(given.home, SESSIONS).filter(({ file }) => file.includes(FORK) || file.includes(CLONE))
    const { rows } = await parsePi(given.home)
    const shownCopies = (name: string) =>
      new Set(rows.filter((row) => row.source_file.includes(name) && row.details.copied_from).map((row) => row.source_line)).size
    const silent = (name: string) =>
      entries.filter(({ file, record }) => file.includes(name) && at(record, 'type') === 'model_change').length
    expect(entries.filter(({ file, line }) => file.includes(FORK) && line > 1)).toHaveLength(25)
    expect(shownCopies(FORK) + silent(FORK)).toBe(23)
    expect(shownCopies(CLONE) + silent(CLONE)).toBe(25)
  })
})

/** pi's own published reader, installed once into the cache of node_modules; never a dependency. */
function oracle(): string | undefined {
  const at = path.join(ROOT, 'node_modules/.cache/pi-reader')
  const module = path.join(at, 'node_modules/@mariozechner/pi-coding-agent/dist/core/session-manager.js')
  if (!fs.existsSync(module)) {
    fs.mkdirSync(at, { recursive: true })
    fs.writeFileSync(path.join(at, 'package.json'), '{"private":true}')
    const npm = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--omit=optional', '@mariozechner/pi-coding-agent@0.73.1']
    const ran = spawnSync('npm', npm, { cwd: at, encoding: 'utf8', timeout: 50_000, shell: process.platform === 'win32' })
    if (ran.status !== 0) fs.rmSync(at, { recursive: true, force: true })
  }
  if (fs.existsSync(module)) return module
  console.warn("pi's own reader could not be installed: entry counts and order are not compared with it")
  return undefined
}

describe("pi's own reader", () => {
  const reader = oracle()
  const compare = reader ? test.each(cases('pi').map(({ name, home }) => [name, home] as const)) : test.skip.each([['absent', '']] as const)

  compare('%s: finds the same entries in the same order', async (_, home) => {
    const copies = fs.mkdtempSync(path.join(os.tmpdir(), 'agent-forensics-pi-reader-'))
    fs.cpSync(path.join(home, SESSIONS), copies, { recursive: true })
    const files = fs.readdirSync(copies, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.jsonl'))
    const script = `import { SessionManager } from ${JSON.stringify(reader)}
      const entries = (file) => SessionManager.open(file).getEntries().map(({ id, type, timestamp }) => [id, type, timestamp])
      console.log(JSON.stringify(${JSON.stringify(files)}.map((file) => [file, entries(${JSON.stringify(copies)} + '/' + file)])))`
    const ran = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      encoding: 'utf8',
      env: { ...process.env, NODE_OPTIONS: '', HOME: copies },
    })
    const theirs = new Map(JSON.parse(ran.stdout) as [string, [string, string, string][]][])
    const { rows, runs } = await parsePi(home)
    const tally = runs[0]!.run.tallies.get('sessions')!
    expect(tally.records - tally.headers).toBe([...theirs.values()].flat().length)
    for (const [file, entries] of theirs) {
      const shown = entries.filter(([, type]) => !['model_change', 'custom', 'usage'].includes(type))
      const inOrder = rows.filter((row) => row.source_file === `${SESSIONS}/${file}`).sort((a, b) => a.source_line! - b.source_line!)
      const ours = [...new Map(inOrder.map((row) => [row.source_line, [row.details.entry_id, row.timestamp_utc]])).values()]
      expect(ours).toEqual(shown.map(([id, , timestamp]) => [id, timestamp]))
    }
  })
})

test('the fixtures have the file times of the evidence', () => {
  const [given] = cases('pi')
  applyTimes(given!.directory)
  const stat = fs.statSync(path.join(given!.home, SESSIONS, '--home-alice-demo--', `${INTERACTIVE}.jsonl`))
  expect(new Date(stat.mtimeMs).toISOString().slice(0, 16)).toBe('2026-11-30T17:38')
})
