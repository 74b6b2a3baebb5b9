import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { cli } from '../../helpers/cli.js'
import { jsonLines, parse, write } from '../../helpers/fixtures.js'

let scratch: string
let count = 0
beforeAll(() => {
  scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'agent-forensics-roots-'))
})
afterAll(() => fs.rmSync(scratch, { recursive: true, force: true }))

/** A root made for one test: files by path. */
function rootOf(files: Record<string, string>): string {
  const root = path.join(scratch, String(count++))
  for (const [name, content] of Object.entries(files)) write(path.join(root, name), content)
  return root
}

const session = (id: string, project: string) =>
  jsonLines({ session_id: id, agent_id: 'agent-1', timestamp: 1796060000000, exit_reason: 'exit', message_count: 1, project })
const SETTINGS = JSON.stringify({ permissions: { allow: ['Bash(ls)'] } })

describe('homes on a Linux root', () => {
  const files = {
    'etc/hostname': 'ws-7\n',
    'etc/passwd':
      'root:x:0:0::/root:/bin/sh\nbin:x:1:1::/bin:/bin/false\nbob:x:1502:1502::/srv/homes/bob:/bin/sh\nsvc:x:9:9::/opt/svc:/bin/sh\nout:x:8:8::/../../etc:/bin/sh\n',
    'root/.letta/sessions.jsonl': session('r', '/root'),
    'home/alice/.letta/sessions.jsonl': session('a', '/srv/proj'),
    'home/empty/notes': '',
    'srv/homes/bob/.letta/sessions.jsonl': session('b', '/srv/homes/bob/work'),
    'srv/homes/bob/work/.letta/settings.local.json': SETTINGS,
    'srv/proj/.letta/settings.json': SETTINGS,
    'opt/svc/readme': '',
    'bin/sh': '',
  }

  test('come from home/*, root and the account list', async () => {
    const { runs, rows } = await parse({ roots: [rootOf(files)] })
    expect(runs.map(({ user }) => user)).toEqual(['alice', 'empty', 'root', 'bob'])
    expect(new Set(rows.map(({ host }) => host))).toEqual(new Set(['ws-7']))
  })

  test('read the projects that their records name anywhere on the root, under the recorded path', async () => {
    const { rows } = await parse({ roots: [rootOf(files)] })
    const settings = rows.filter(({ details }) => details.kind === 'permission-setting')
    expect(settings.map(({ user, project_path, source_file }) => [user, project_path, source_file])).toEqual([
      ['alice', '/srv/proj', '/srv/proj/.letta/settings.json'],
      ['bob', '/srv/homes/bob/work', '/srv/homes/bob/work/.letta/settings.local.json'],
    ])
  })

  test('--user keeps only the accounts named', async () => {
    const { runs } = await parse({ roots: [rootOf(files)], users: ['bob'] })
    expect(runs.map(({ user }) => user)).toEqual(['bob'])
  })

  test("one account's records may name another's home: its settings are read once, as its own", async () => {
    const { rows } = await parse({
      roots: [
        rootOf({
          'home/alice/.letta/sessions.jsonl': session('a', '/home/bob'),
          'home/bob/.letta/settings.json': SETTINGS,
          'home/bob/.letta/sessions.jsonl': session('b', '/home/bob'),
        }),
      ],
    })
    expect(rows.filter(({ details }) => details.kind === 'permission-setting').map(({ user }) => user)).toEqual(['bob'])
  })

  test('links out of the root are not followed', async () => {
    const outside = rootOf({ 'proj/.letta/settings.json': SETTINGS })
    const root = rootOf({ 'home/alice/.letta/sessions.jsonl': session('a', '/srv/proj') })
    fs.mkdirSync(path.join(root, 'srv'))
    fs.symlinkSync(path.join(outside, 'proj'), path.join(root, 'srv/proj'))
    fs.symlinkSync(outside, path.join(root, 'home/mallory'))
    const { rows, runs } = await parse({ roots: [root] })
    expect(runs.map(({ user }) => user)).toEqual(['alice'])
    expect(rows.filter(({ details }) => details.kind === 'permission-setting')).toEqual([])
  })
})

describe('homes on a Windows root', () => {
  test.each([
    ['the root of the drive', ''],
    ['a folder named C', 'C/'],
    ['a folder named C:', 'C:/'],
    ['a folder named C%3A', 'C%3A/'],
    ['a folder around the drive', 'case 7/WS-7/C/'],
  ])('in %s: recorded paths are found whatever their case', async (_, drive) => {
    const root = rootOf({
      [`${drive}Users/alice/.letta/sessions.jsonl`]: session('a', 'c:\\WORK\\proj'),
      [`${drive}Users/alice/demo/.letta/settings.json`]: SETTINGS,
      [`${drive}Users/Public/desktop.ini`]: '',
      [`${drive}Work/Proj/.letta/settings.json`]: SETTINGS,
      [`${drive}Documents and Settings/old/.letta/sessions.jsonl`]: session('o', 'C:\\users\\ALICE\\Demo'),
    })
    const { rows, runs } = await parse({ roots: [root] })
    expect(runs.map(({ user }) => user).sort()).toEqual(['alice', 'old'])
    const settings = rows.filter(({ details }) => details.kind === 'permission-setting')
    expect(settings.map(({ user, source_file }) => [user, source_file]).sort()).toEqual([
      ['alice', 'c:/WORK/proj/.letta/settings.json'],
      ['old', 'C:/users/ALICE/Demo/.letta/settings.json'],
    ])
  })
})

describe('AppleDouble files of macOS', () => {
  const binary = '\0\x05\x16\x07\0\x02\0\0Mac OS X        '

  test('are passed over beside the file that they belong to, and read where there is none', async () => {
    const run = jsonLines({ ts: 1796060000000, jobId: 'j', action: 'finished', status: 'ok' })
    const { rows } = await parse({
      roots: [
        rootOf({
          'Users/alice/.letta/runs/job.jsonl': run,
          'Users/alice/.letta/runs/._job.jsonl': binary,
          'Users/alice/.letta/runs/._lone.jsonl': binary,
        }),
      ],
    })
    expect(rows.map(({ source_file }) => source_file)).toEqual(['.letta/runs/job.jsonl', '.letta/runs/._lone.jsonl'])
  })
})

describe('what is not a root', () => {
  test('a file is wrong usage, with the flag for archives', () => {
    const root = rootOf({ 'a.zip': 'x' })
    const ran = cli(['letta', 'parse', '--root', path.join(root, 'a.zip')])
    expect(ran.status).toBe(2)
  })

  test('a folder without agent files is said to be that', () => {
    const ran = cli(['letta', 'parse', '--root', rootOf({ 'home/alice/notes': '' }), '--format', 'jsonl'])
    expect([ran.status, ran.stdout]).toEqual([0, ''])
    expect(ran.stderr).toContain('no letta files in')
  })
})
