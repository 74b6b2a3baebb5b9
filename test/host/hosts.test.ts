import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { Row } from '../../src/rows/index.js'
import { fixture, jsonLines, makeHome } from '../helpers/fixtures.js'
import { Installation, PLUGIN, type Host } from './hosts.js'

const QUILL = { at: '2026-01-02T03:04:05.000Z', session: 'q-1', folder: '/srv/work', who: 'me', words: 'dip the pen' }
const homeOfQuill = () => makeHome({ '.quill/log.jsonl': jsonLines(QUILL), '.quill/token.json': '{"token":"TOKEN-OF-QUILL"}' })
const letta = fixture('letta/0.32.18-api')

const rowsOf = (stdout: string) =>
  stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Row)

const NODE_MAJOR = Number(process.versions.node.split('.')[0])
const oclifs = NODE_MAJOR >= 22 ? ['4', '5'] : ['4']
if (NODE_MAJOR < 22) console.warn('@oclif/core 5 needs Node 22: hosts are tested with version 4 only')

describe.each(oclifs)('with @oclif/core %s', (oclif) => {
  let installed: Installation | undefined
  beforeAll(() => {
    installed = Installation.of(oclif)
    if (!installed) console.warn('npm could not install from its registry: no host is tested')
  }, 120_000)
  afterAll(() => {
    if (installed) fs.rmSync(installed.directory, { recursive: true, force: true })
  })

  /** A test that says nothing when there is no host: the warning above has said it. */
  const inHost = (name: string, id: string, plugins: readonly string[], claim: (host: Host) => void) =>
    test(name, () => {
      if (installed) claim(installed.host(id, [PLUGIN.ours, ...plugins]))
    })

  describe('host A, with the example plugin and one that fails in its hook', () => {
    const plugins = [PLUGIN.quill, PLUGIN.broken]

    inHost('letta parse gives the rows that it gives without a host', 'host-a', plugins, (host) => {
      const { status, stdout, stderr } = host.run('letta', 'parse', '--home', letta.home, '--format', 'jsonl')
      expect(status).toBe(0)
      expect(stderr).toContain(`plugin ${PLUGIN.broken}@7.8.9 could not register: the broken plugin cannot find its own files`)
      const expected = fs.readFileSync(path.join(letta.directory, 'expected.jsonl'), 'utf8').trim().split('\n')
      expect(rowsOf(stdout).map(({ text }) => text)).toEqual(expected.map((line) => (JSON.parse(line) as Row).text))
    })

    inHost('the example plugin reads its agent', 'host-a', plugins, (host) => {
      const { status, stdout } = host.run('quill', 'parse', '--home', homeOfQuill(), '--format', 'jsonl')
      expect(status).toBe(0)
      expect(rowsOf(stdout)).toMatchObject([
        {
          timestamp_utc: QUILL.at,
          agent: 'quill',
          session_id: 'q-1',
          project_path: '/srv/work',
          turn_type: 'user',
          text: 'dip the pen',
          source_file: '.quill/log.jsonl',
          source_line: 1,
        },
      ])
      expect(stdout).not.toContain('TOKEN-OF-QUILL')
    })

    inHost('the run record names the plugin of each parser, and what failed', 'host-a', plugins, (host) => {
      const home = homeOfQuill()
      const output = path.join(host.directory, 'quill.jsonl')
      host.run('quill', 'parse', '--home', home, '--output', output, '--force')
      const record = JSON.parse(fs.readFileSync(`${output}.run.json`, 'utf8')) as Record<string, unknown>
      expect(record.parsers).toMatchObject([{ agent: 'quill', plugin: PLUGIN.quill, plugin_version: '1.2.3' }])
      expect(record.plugin_notes).toMatchObject([{ kind: 'failed', plugins: [`${PLUGIN.broken}@7.8.9`] }])
      const sha256 = createHash('sha256')
        .update(fs.readFileSync(path.join(home, '.quill/log.jsonl')))
        .digest('hex')
      expect(record.homes).toMatchObject([{ files: [{ path: '.quill/log.jsonl', sha256 }] }])
    })

    inHost('there is no verb without an agent', 'host-a', plugins, (host) => {
      const { status, stderr } = host.run('parse', '--home', letta.home)
      expect(status).not.toBe(0)
      expect(stderr).toMatch(/not found/)
      expect(host.run('--help').stdout).not.toMatch(/^ {2}parse /m)
    })
  })

  describe('host B, with parsers of its own for pi and Claude Code', () => {
    inHost('ours step back, on record', 'host-b', [PLUGIN.siblings], (host) => {
      const { status, stdout, stderr } = host.run('pi', 'parse', '--home', fixture('pi/0.73.1').home, '--format', 'jsonl')
      expect(status).toBe(0)
      expect(new Set(rowsOf(stdout).map(({ text }) => text))).toEqual(new Set(['read by the siblings plugin']))
      expect(stderr).toContain(`agent pi is read by ${PLUGIN.siblings}@0.9.0: the bundled parser steps back`)
      expect(stderr).toContain(`agent claude-code is read by ${PLUGIN.siblings}@0.9.0: the bundled parser steps back`)
    })

    inHost('letta parse still reads messages.jsonl', 'host-b', [PLUGIN.siblings], (host) => {
      const { status, stdout } = host.run('letta', 'parse', '--home', fixture('letta/0.32.18-local').home, '--format', 'jsonl')
      expect(status).toBe(0)
      expect(rowsOf(stdout).filter(({ details }) => details.store === 'messages').length).toBeGreaterThan(10)
    })
  })

  describe('host C, with two plugins for one agent', () => {
    const plugins = [PLUGIN.quill, PLUGIN.rival]

    inHost('that agent is disabled, both are named, exit 3', 'host-c', plugins, (host) => {
      const { status, stdout, stderr } = host.run('quill', 'parse', '--home', homeOfQuill(), '--format', 'jsonl')
      expect(status).toBe(3)
      expect(stdout).toBe('')
      expect(stderr).toMatch(/agent quill is disabled: .* both register it/)
      expect(stderr).toContain(`${PLUGIN.quill}@1.2.3`)
      expect(stderr).toContain(`${PLUGIN.rival}@4.5.6`)
    })

    inHost('the others work', 'host-c', plugins, (host) => {
      const { status, stdout } = host.run('pi', 'parse', '--home', fixture('pi/0.73.1').home, '--format', 'jsonl')
      expect(status).toBe(3)
      expect(rowsOf(stdout).length).toBeGreaterThan(100)
    })
  })

  inHost('a row against the schema is caught, with plugin, file, line and field', 'host-d', [PLUGIN.quill, PLUGIN.badRow], (host) => {
    const { status, stdout, stderr } = host.run('scrawl', 'parse', '--home', homeOfQuill(), '--format', 'jsonl')
    expect(status).toBe(1)
    expect(stdout).toBe('')
    expect(stderr.replace(/\s+/g, ' ')).toMatch(
      new RegExp(`plugin ${PLUGIN.badRow}@0.0.1 gave a row that is against the schema: timestamp_utc: .*\\(from .quill/log.jsonl:3\\)`),
    )
  })
})
