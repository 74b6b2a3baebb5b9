import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { beforeAll, describe, expect, test } from '@jest/globals'
import type { Row } from '../../src/rows/index.js'
import { cli, type Ran } from '../helpers/cli.js'
import { jsonLines, ROOT, write } from '../helpers/fixtures.js'
import { isRoot, NOBODY, scratch, skipLoudly } from '../helpers/places.js'

/** Root reads everything, so these run as an account without rights, which must be able to reach the program itself. */
const reachable =
  isRoot && spawnSync(process.execPath, [path.join(ROOT, 'bin/run.js'), '--version'], { uid: NOBODY, gid: NOBODY }).status === 0
const asOther = !isRoot || reachable
if (!asOther) skipLoudly(`account ${NOBODY} cannot run ${ROOT}: what happens to files that cannot be read was not looked at`)

const root = scratch('unreadable')
const home = path.join(root, 'home/alice')
const session = jsonLines({
  session_id: 's',
  agent_id: 'a',
  timestamp: 1796061332062,
  project: '/home/alice/work',
  exit_reason: 'x',
  message_count: 1,
})

const asNobody = (args: readonly string[]): Ran =>
  cli(args, {
    ...(isRoot ? { uid: NOBODY, gid: NOBODY } : {}),
    env: { HOME: root, XDG_CACHE_HOME: root, XDG_CONFIG_HOME: root, XDG_DATA_HOME: root },
  })

;(asOther ? describe : describe.skip)('what an account may not read', () => {
  let ran: Ran
  let rows: Row[]

  beforeAll(() => {
    write(path.join(home, '.letta/sessions.jsonl'), session)
    write(path.join(home, '.letta/settings.json'), '{}')
    write(path.join(home, '.letta/crons.json'), '{"tasks":[]}')
    write(path.join(home, '.letta/transcripts/agent-1/conv-1/transcript.jsonl'), jsonLines({ kind: 'user', text: 'x' }))
    write(path.join(home, '.letta/runs/a.jsonl'), '')
    write(path.join(home, 'work/.letta/settings.json'), '{}')
    fs.chmodSync(path.join(home, '.letta/settings.json'), 0)
    fs.chmodSync(path.join(home, '.letta/transcripts/agent-1/conv-1/transcript.jsonl'), 0)
    fs.chmodSync(path.join(home, '.letta/runs'), 0)
    fs.chmodSync(path.join(home, 'work/.letta'), 0)
    ran = asNobody(['letta', 'parse', '--home', home, '--format', 'jsonl'])
    rows = ran.stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Row)
    for (const name of ['.letta/runs', 'work/.letta']) fs.chmodSync(path.join(home, name), 0o755)
  })

  test('does not stop the rest: exit 3, and what can be read is there', () => {
    expect(ran.status).toBe(3)
    expect(rows.some((row) => row.details.kind === 'session-end')).toBe(true)
  })

  test.each([
    ['a file', '.letta/settings.json'],
    ['a transcript', '.letta/transcripts/agent-1/conv-1/transcript.jsonl'],
    ['a folder', '.letta/runs'],
    ['a folder of a project', 'work/.letta'],
  ])('is named in a row: %s', (_, name) => {
    const named = rows.filter((row) => row.details.kind === 'parser' && row.source_file === name)
    expect(named.map((row) => row.text)).toEqual([`parser: ${name} cannot be opened: permission denied`])
  })

  test('of a file that cannot be opened the row stands at its time', () => {
    const named = rows.find((row) => row.source_file === '.letta/settings.json')!
    expect(named.timestamp_utc).toBe(new Date(Math.floor(fs.statSync(path.join(home, '.letta/settings.json')).mtimeMs)).toISOString())
    expect(named.source_line).toBeNull()
  })

  test('is named on stderr, in words', () => {
    expect(ran.stderr).toMatch(/could not be read: .*\.letta\/settings\.json cannot be opened: permission denied/)
    expect(ran.stderr).not.toMatch(/EACCES|^\s+at .*\.js/m)
  })

  test('as a whole home is no empty home: exit 3', () => {
    const closed = path.join(root, 'home/closed')
    write(path.join(closed, '.letta/sessions.jsonl'), session)
    fs.chmodSync(closed, 0)
    const { status, stderr } = asNobody(['letta', 'parse', '--home', closed])
    fs.chmodSync(closed, 0o755)
    expect(status).toBe(3)
    expect(stderr).toMatch(/permission denied/)
    expect(stderr).not.toMatch(/^\s+at .*\.js/m)
  })
})

describe('a place that is no evidence', () => {
  const cases: [string, string[], number, RegExp][] = [
    ['a directory that is not there', ['--home', path.join(root, 'none')], 2, /none: no such directory/],
    ['a file', ['--home', path.join(root, 'file')], 2, /this is a file, not a directory/],
    ['a file below which a home is sought', ['--home', path.join(root, 'file/alice')], 2, /no such directory/],
  ]
  test.each(cases)('%s is said in a sentence', (_, args, code, words) => {
    write(path.join(root, 'file'), '')
    const { status, stdout, stderr } = cli(['letta', 'parse', ...args])
    expect([status, stdout]).toEqual([code, ''])
    expect(stderr.replace(/\s+(› )?\s*/g, ' ')).toMatch(words)
    expect(stderr).not.toMatch(/^\s+at .*\.js/m)
  })

  test('a home without any files of the agent gives the header only, and says so', () => {
    fs.mkdirSync(path.join(root, 'home/empty'), { recursive: true })
    const { status, stdout, stderr } = cli(['letta', 'parse', '--home', path.join(root, 'home/empty')])
    expect(status).toBe(0)
    expect(stdout.split('\r\n').map((line) => line.split(',')[0])).toEqual(['timestamp_utc', ''])
    expect(stderr).toMatch(/no letta files in .*home\/empty/)
  })
})
