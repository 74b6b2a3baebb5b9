import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { beforeEach, describe, expect, test } from '@jest/globals'
import stringWidth from 'string-width'
import { COLUMNS, type Row } from '../../src/rows/index.js'
import { RunRecord } from '../../src/verbs/run-record.js'
import { cli } from '../helpers/cli.js'
import { assistant, at, conversation, directoryOf, user } from '../helpers/conversations.js'
import { expectedRows, fixture, jsonLines, makeHome, ROOT, write } from '../helpers/fixtures.js'
import { scratch, skipLoudly } from '../helpers/places.js'

const seed = fixture('letta/seed')
const root = scratch('verbs')
let out: string
beforeEach(() => {
  out = fs.mkdtempSync(path.join(root, 'out-'))
})

const parse = (...args: string[]) => cli(['letta', 'parse', '--home', seed.home, ...args])
const rowsIn = (text: string) =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Row)
const HEAD = COLUMNS.filter((column) => column !== 'details').join(',')

describe('letta parse', () => {
  test('on the seed gives its 23 rows: on a pipe as CSV, with what was read on stderr', () => {
    const { status, stdout, stderr } = parse()
    expect(status).toBe(0)
    expect(stdout.startsWith(`${HEAD}\r\n`)).toBe(true)
    expect(stderr).toMatch(/23 rows from 8 files/)
    const jsonl = rowsIn(parse('--format', 'jsonl').stdout)
    const key = ({ timestamp_utc, session_id, project_path, turn_type, text, source_file, source_line }: Row) => [
      timestamp_utc,
      session_id,
      project_path,
      turn_type,
      text,
      source_file,
      source_line,
    ]
    expect(jsonl.map(key)).toEqual(expectedRows(seed).map(key))
  })

  test('twice gives the same bytes', () => {
    expect(parse('--details').stdout).toBe(parse('--details').stdout)
  })

  test.each([
    ['rows.csv', /^timestamp_utc,host/],
    ['rows.jsonl', /^\{"timestamp_utc"/],
    ['rows.txt', /^TIME \(UTC\)/],
    ['rows', /^timestamp_utc,host/],
  ])('--output %s is written in the form of its ending', (name, begins) => {
    const { status, stdout } = parse('--output', path.join(out, name))
    expect([status, stdout]).toEqual([0, ''])
    expect(fs.readFileSync(path.join(out, name), 'utf8')).toMatch(begins)
    expect(fs.readdirSync(out).sort()).toEqual([name, `${name}.run.json`])
  })

  test('--format goes before the ending', () => {
    parse('--output', path.join(out, 'rows.txt'), '--format', 'jsonl')
    expect(fs.readFileSync(path.join(out, 'rows.txt'), 'utf8')).toMatch(/^\{/)
  })

  test('the file holds the same bytes as the pipe', () => {
    parse('--output', path.join(out, 'rows.csv'))
    expect(fs.readFileSync(path.join(out, 'rows.csv'), 'utf8')).toBe(parse('--format', 'csv').stdout)
  })

  test('--details adds a column to CSV', () => {
    expect(parse('--details').stdout.startsWith(`${HEAD},details\r\n`)).toBe(true)
  })

  test('--host and --user name what a copy does not', () => {
    const rows = rowsIn(parse('--format', 'jsonl', '--host', 'pc-7', '--user', 'a.smith').stdout)
    expect(new Set(rows.map((row) => `${row.host} ${row.user}`))).toEqual(new Set(['pc-7 a.smith']))
  })

  test('--temp-dir spills there and leaves nothing', () => {
    expect(parse('--temp-dir', out).status).toBe(0)
    expect(fs.readdirSync(out)).toEqual([])
  })

  test('help says what it is, exit 0', () => {
    const { status, stdout } = cli(['letta', 'parse', '--help'])
    expect(status).toBe(0)
    for (const flag of ['--home', '--output', '--format', '--all-sources', '--originals-only', '--details', '--project-dir'])
      expect(stdout).toContain(flag)
  })
})

describe('an output that is there already', () => {
  test('is refused, and stays', () => {
    write(path.join(out, 'rows.csv'), 'mine')
    const { status, stderr } = parse('--output', path.join(out, 'rows.csv'))
    expect(status).toBe(2)
    expect(stderr.replace(/\s+(› )?\s*/g, ' ')).toMatch(/rows\.csv exists already; pass --force/)
    expect(fs.readFileSync(path.join(out, 'rows.csv'), 'utf8')).toBe('mine')
    expect(fs.readdirSync(out)).toEqual(['rows.csv'])
  })

  test('is replaced with --force', () => {
    write(path.join(out, 'rows.csv'), 'mine')
    expect(parse('--output', path.join(out, 'rows.csv'), '--force').status).toBe(0)
    expect(fs.readFileSync(path.join(out, 'rows.csv'), 'utf8')).not.toBe('mine')
  })

  test('as a run record is refused, too', () => {
    write(path.join(out, 'record.json'), 'mine')
    expect(parse('--run-record', path.join(out, 'record.json')).status).toBe(2)
    write(path.join(out, 'rows.csv.run.json'), 'mine')
    expect(parse('--output', path.join(out, 'rows.csv')).status).toBe(2)
    expect(fs.readFileSync(path.join(out, 'record.json'), 'utf8')).toBe('mine')
  })
})

test('a file of the evidence is never written over, --force or not', () => {
  const home = makeHome({ '.letta/settings.json': '{"permissions":{"mode":"x"}}' })
  const { status, stderr } = cli(['letta', 'parse', '--home', home, '--force', '--run-record', path.join(home, '.letta/settings.json')])
  expect([status, stderr]).toEqual([2, expect.stringContaining('lies in the evidence')])
  expect(fs.readFileSync(path.join(home, '.letta/settings.json'), 'utf8')).toBe('{"permissions":{"mode":"x"}}')
  expect(fs.readdirSync(home, { recursive: true })).toEqual(['.letta', '.letta/settings.json'])
})

describe('the run record', () => {
  const record = (file: string) => RunRecord.parse(JSON.parse(fs.readFileSync(file, 'utf8')))

  test('is valid, and says what was read, with hashes that can be checked', () => {
    parse('--output', path.join(out, 'rows.jsonl'))
    const run = record(path.join(out, 'rows.jsonl.run.json'))
    const [home] = run.homes
    expect(run).toMatchObject({ rows: 23, output: { file: 'rows.jsonl', format: 'jsonl' }, plugin_notes: [] })
    expect(run.arguments).toContain(seed.home)
    expect(run.tool).toMatchObject({ name: 'agent-forensics', node: process.version })
    expect(run.parsers.map((parser) => [parser.agent, parser.plugin])).toEqual([['letta', '@agent-forensics/plugin-letta']])
    expect(home).toMatchObject({ user: 'alice', agent: 'letta', directory: seed.home, not_read: [] })
    expect(home!.files.length).toBe(8)
    for (const file of home!.files.filter((file) => file.path.startsWith('.'))) {
      const bytes = fs.readFileSync(path.join(seed.home, file.path))
      expect([file.size, file.sha256]).toEqual([bytes.length, createHash('sha256').update(bytes).digest('hex')])
      expect(file.mtime).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z$/)
    }
    const sum = Object.values(home!.stores).reduce((total, store) => total + store.rows, 0)
    expect(sum).toBe(23)
  })

  test('holds the time range and the rows without a time of the rows that were written', () => {
    const files = conversation(
      'local-conv-1',
      {},
      user('q', { s: 1 }),
      assistant('draft', { id: 'm', s: 0.5 }),
      assistant('final', { id: 'm', s: 3 }),
    )
    const messages = `${directoryOf('local-conv-1')}/messages.jsonl`
    const home = makeHome({ ...files, [messages]: `${files[messages]}{"cut` })
    expect(cli(['letta', 'parse', '--home', home, '--output', path.join(out, 'rows.jsonl')]).status).toBe(3)
    const rows = rowsIn(fs.readFileSync(path.join(out, 'rows.jsonl'), 'utf8'))
    const run = record(path.join(out, 'rows.jsonl.run.json'))
    const times = rows.map((row) => row.timestamp_utc).filter((time) => time !== '')
    expect([run.rows, run.rows_without_time]).toEqual([rows.length, 1])
    expect(run.time_range).toEqual({ first: times[0], last: times.at(-1) })
    expect(run.time_range).toEqual({ first: at(1), last: at(3) })
  })

  test('names what was not read and which projects are not there', () => {
    const home = makeHome({
      '.letta/sessions.jsonl': ['/home/alice/gone', '\\\\host\\share']
        .map((project) => jsonLines({ session_id: 's', timestamp: 0, project, message_count: 1 }))
        .join(''),
    })
    fs.symlinkSync('/etc', path.join(home, '.letta/channels'))
    expect(cli(['letta', 'parse', '--home', home, '--output', path.join(out, 'rows.jsonl')]).status).toBe(3)
    const [only] = record(path.join(out, 'rows.jsonl.run.json')).homes
    expect(only).toMatchObject({
      not_read: [{ path: '.letta/channels', problem: 'is a symbolic link, which is not followed' }],
      projects_not_found: ['/home/alice/gone'],
      projects_refused: ['\\\\host\\share'],
    })
  })

  test('goes to stdout with --json, and to a file of its own with --run-record', () => {
    const { stdout } = parse('--output', path.join(out, 'rows.csv'), '--json', '--run-record', path.join(out, 'own.json'))
    expect(RunRecord.parse(JSON.parse(stdout))).toEqual(record(path.join(out, 'own.json')))
    expect(fs.readdirSync(out).sort()).toEqual(['own.json', 'rows.csv'])
  })

  test('is not written unless asked for', () => {
    expect(cli(['letta', 'parse', '--home', seed.home], { cwd: out }).status).toBe(0)
    expect(fs.readdirSync(out)).toEqual([])
  })
})

describe('wrong usage', () => {
  const usage: [string, string[], RegExp][] = [
    ['an unknown flag', ['--nonsense'], /nonsense/i],
    ['an unknown format', ['--format', 'xlsx'], /--format/],
    ['--json without --output', ['--json'], /--output/],
    ['an argument that is no flag', ['somewhere'], /somewhere/],
    ['a directory for the output that is not there', ['--output', '/nonexistent/x.csv'], /there is no directory \/nonexistent/],
    ['a project directory that is not there', ['--project-dir', '/nonexistent'], /--project-dir \/nonexistent: no such directory/],
  ]

  test.each(usage)('%s is said in a sentence, exit 2', (_, args, words) => {
    const { status, stdout, stderr } = parse(...args)
    expect([status, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(words)
    expect(stderr).not.toMatch(/^\s+at .*\.js/m)
  })

  test('no command at all shows what there is', () => {
    expect(cli([]).stdout).toMatch(/letta/)
  })

  test('an unknown command is said', () => {
    const { status, stderr } = cli(['letta', 'nonsense'])
    expect(status).toBe(2)
    expect(stderr).toMatch(/nonsense/)
    expect(stderr).not.toMatch(/^\s+at .*\.js/m)
  })
})

test('through a pipe the table has no colour, and the width that COLUMNS says', () => {
  const { stdout } = cli(['letta', 'parse', '--home', seed.home, '--format', 'table'], { env: { COLUMNS: '100', FORCE_COLOR: '3' } })
  expect(stdout).not.toContain('\x1b')
  for (const line of stdout.split('\n')) expect(stringWidth(line)).toBeLessThanOrEqual(100)
})

const terminal = spawnSync('script', ['--version']).status === 0
if (!terminal)
  skipLoudly('script, which makes a terminal, is not there (Debian: apt-get install bsdutils): the default on a terminal was not looked at')

;(terminal ? describe : describe.skip)('on a terminal', () => {
  const onTerminal = (variables: string) => {
    const command = `stty cols 120; ${variables} '${process.execPath}' '${path.join(ROOT, 'bin/run.js')}' letta parse --home '${seed.home}' 2>/dev/null`
    const env = { ...process.env, NODE_OPTIONS: '', NO_COLOR: '', TERM: 'xterm' }
    return spawnSync('script', ['-qec', command, '/dev/null'], { encoding: 'utf8', env }).stdout.replaceAll('\r\n', '\n')
  }

  test('the default is a table, coloured by turn type, as wide as the terminal', () => {
    const shown = onTerminal('env -u NO_COLOR')
    expect(shown).toMatch(/TIME \(UTC\)/)
    expect(shown).toContain('\x1b[3')
    for (const line of shown.split('\n')) expect(stringWidth(line)).toBeLessThanOrEqual(120)
  })

  test.each(['NO_COLOR=1', 'TERM=dumb'])('with %s it has no colour', (variable) => {
    const shown = onTerminal(variable)
    expect(shown).toMatch(/TIME \(UTC\)/)
    expect(shown).not.toContain('\x1b[')
  })
})
