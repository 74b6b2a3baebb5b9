import fs from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from '@jest/globals'
import type { Row } from '../../src/rows/index.js'
import { cli } from '../helpers/cli.js'
import { FIXTURES, fixture, jsonLines, makeHome, ROOT, write } from '../helpers/fixtures.js'

const rowsOf = (stdout: string) =>
  stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Row)

/** The example plugin as an author would have it: beside a checkout of this package. */
function quill(): string {
  const directory = makeHome({}, { at: 'quill' })
  fs.cpSync(path.join(FIXTURES, 'plugins/quill'), directory, { recursive: true })
  const scope = path.join(directory, 'node_modules/@agent-forensics')
  fs.mkdirSync(scope, { recursive: true })
  fs.symlinkSync(ROOT, path.join(scope, 'plugin-letta'), 'junction')
  return directory
}

const LINE = { at: '2026-01-02T03:04:05.000Z', session: 'q-1', folder: '/srv/work', who: 'quill', words: 'done' }

describe('parse without an agent', () => {
  test('is in our own bin, and gives what each agent gives alone', () => {
    const home = makeHome({})
    for (const name of ['pi/0.73.1', 'claude-code/2.1.332'])
      fs.cpSync(fixture(name).home, home, { recursive: true, preserveTimestamps: true })
    const all = cli(['parse', '--home', home, '--format', 'jsonl'])
    expect(all.status).toBe(0)
    const alone = ['claude-code', 'pi'].flatMap((agent) => rowsOf(cli([agent, 'parse', '--home', home, '--format', 'jsonl']).stdout))
    const rows = rowsOf(all.stdout)
    const key = (row: Row) => JSON.stringify(row)
    expect(rows.map(key).sort()).toEqual(alone.map(key).sort())
    const times = rows.map(({ timestamp_utc }) => timestamp_utc || '~')
    expect(times).toEqual([...times].sort())
    expect(all.stderr).toContain('alice, claude-code: ')
    expect(all.stderr).toContain('alice, pi: ')
  })
})

describe('--plugin', () => {
  test('adds the agent of a plugin that was asked for, wherever the flag stands', () => {
    const home = makeHome({ '.quill/log.jsonl': jsonLines(LINE) })
    for (const args of [
      ['--plugin', quill(), 'parse', '--home', home, '--format', 'jsonl'],
      ['quill', 'parse', '--home', home, '--format', 'jsonl', `--plugin=${quill()}`],
    ]) {
      const { status, stdout } = cli(args)
      expect([status, rowsOf(stdout).map(({ agent, text }) => [agent, text])]).toEqual([0, [['quill', 'done']]])
    }
  })

  test('that names no plugin is wrong usage', () => {
    const { status, stderr } = cli(['--plugin', makeHome({}), 'parse'])
    expect(status).toBe(2)
    expect(stderr).toContain('no plugin could be loaded from there')
  })
})

test('a plugin that a home holds as its own is never loaded', () => {
  const home = makeHome({ '.quill/log.jsonl': jsonLines(LINE) })
  const data = path.join(home, '.local/share/agent-forensics')
  const trap = path.join(home, 'loaded')
  write(
    path.join(data, 'package.json'),
    JSON.stringify({
      private: true,
      dependencies: { trap: '1.0.0' },
      oclif: { schema: 1, plugins: [{ name: 'trap', type: 'user', tag: 'latest' }] },
    }),
  )
  const pjson = {
    name: 'trap',
    version: '1.0.0',
    type: 'module',
    oclif: { hooks: { init: './hook.js', 'agent-forensics:register': './hook.js' } },
  }
  write(path.join(data, 'node_modules/trap/package.json'), JSON.stringify(pjson))
  write(
    path.join(data, 'node_modules/trap/hook.js'),
    `import fs from 'node:fs'\nfs.writeFileSync(${JSON.stringify(trap)}, '')\nexport default async () => []\n`,
  )
  const env = { HOME: home, XDG_DATA_HOME: path.join(home, '.local/share'), USERPROFILE: home }
  const { status } = cli(['parse', '--format', 'jsonl'], { env, cwd: home })
  expect(status).toBe(0)
  expect(fs.existsSync(trap)).toBe(false)
})
