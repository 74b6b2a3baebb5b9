import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { published } from '../../../src/schemas.js'
import { phrases } from '../../../src/rows/index.js'
import { cli } from '../../helpers/cli.js'
import { fixture, makeHome } from '../../helpers/fixtures.js'
import { validator } from '../../helpers/schemas.js'

const given = fixture('letta/seed')
const home = ['--home', given.home]
const explain = (...args: string[]) => cli(['letta', 'explain', ...args])

/** What a terminal would obey, line feeds aside. */
const obeyed = (text: string) =>
  [...text].filter((character) => character !== '\n' && (character < ' ' || '\u007f\u009b\u202e'.includes(character)))

describe('explain --json', () => {
  test.each([
    ['explain-catalog', []],
    ['explain-paths', ['C:\\Users\\alice\\.letta\\settings.json', '/nowhere']],
    ['explain-row', [...home, '--row', '.letta/sessions.jsonl:1']],
    ['explain-text', ['--text', phrases.model.say({ model: 'm', provider: 'p' })]],
    ['explain-conversation', [...home, '--conversation', 'local-conv-1']],
    ['explain-export', ['--export', 'kape']],
  ])('gives a result that fits schemas/%s', (name, args) => {
    const ran = explain(...args, '--json')
    expect(ran.stderr).toBe('')
    expect(ran.status).toBe(0)
    expect(validator(published[name]!)(JSON.parse(ran.stdout))).toEqual([])
  })
})

describe('explain for a person', () => {
  test('without a question is the whole catalog: every store, exclusion, credential and variable', () => {
    const { stdout, status } = explain()
    expect(status).toBe(0)
    for (const word of [
      'transcripts: Reflection transcripts',
      'provider-keys',
      'LETTA_TRANSCRIPT_ROOT (--transcript-root)',
      'Downloaded copies of rg and fd',
      'does not prove',
    ])
      expect(stdout).toContain(word)
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThan(200)
  })

  test('is plain text on a pipe, and keeps to the width it is given', () => {
    const { stdout } = cli(['letta', 'explain', '--text', phrases.sessionEnd.say({})], { env: { COLUMNS: '60' } })
    expect(obeyed(stdout)).toEqual([])
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(60)
  })

  test('shows nothing of the evidence that a terminal would obey', () => {
    const evil = '\u001b]0;owned\u0007\u202e\r\u0000'
    const place = makeHome({
      '.letta/sessions.jsonl': `${JSON.stringify({ session_id: 's', timestamp: 1, exit_reason: evil })}\n{"torn${evil}\n`,
    })
    const outputs = [
      explain('--home', place, '--row', '.letta/sessions.jsonl:1'),
      explain('--home', place, '--row', '.letta/sessions.jsonl:2'),
      explain('--text', `letta session end: ${evil.replace('\0', '')}`),
      explain(`/home/${evil.replace('\0', '')}/x`),
    ]
    for (const { stdout } of outputs) expect(obeyed(stdout)).toEqual([])
  })
})

describe('wrong usage is said in a sentence, with exit code 2', () => {
  test.each([
    [['--row', '.letta/nothing:1', ...home], 'no file of the evidence'],
    [['--row', '.letta/sessions.jsonl:999', ...home], 'has no line 999'],
    [['--conversation', 'nothing', ...home], 'no conversation nothing'],
    [['--row', 'x', '--text', 'y'], 'cannot also be provided'],
    [['--text', 'y', '/some/path'], 'two questions'],
    [['--row', 'x', '--home', '/no/such/home'], 'no/such/home'],
    [['--export', 'nothing'], 'Expected --export'],
  ])('%j', (args, words) => {
    const { status, stderr, stdout } = explain(...args)
    expect(stderr.replace(/\s+›?\s*/g, ' ')).toContain(words)
    expect(stdout).toBe('')
    expect(status).toBe(2)
  })
})

test('evidence that could not be read ends in exit code 3, and is named', () => {
  const place = makeHome({ '.letta/sessions.jsonl': '{"session_id":"s","timestamp":1,"exit_reason":"logout"}\n' })
  fs.symlinkSync('/etc/passwd', path.join(place, '.letta/crons.json'))
  const ran = explain('--home', place, '--row', '.letta/sessions.jsonl:1')
  expect(ran.status).toBe(3)
  expect(ran.stderr).toContain('.letta/crons.json')
})

describe('an export', () => {
  test('goes to stdout, the credential files only when asked for', () => {
    const [evidence, credentials] = [explain('--export', 'globs'), explain('--export', 'globs', '--credentials')]
    expect(evidence.stdout).toContain('~/.letta/transcripts/*/*/transcript.jsonl\n')
    expect(evidence.stdout).not.toMatch(/^~\/\.letta\/lc-local-backend\/providers/m)
    expect(evidence.stderr).toContain('--credentials')
    expect(credentials.stdout).toMatch(/^~\/\.letta\/lc-local-backend\/providers\/\*\*$/m)
  })

  test('to a directory writes both files, and never over others', () => {
    const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'agent-forensics-test-'))
    expect(explain('--export', 'kape', '--output', directory).status).toBe(0)
    expect(fs.readdirSync(directory).sort()).toEqual(['letta-credentials.tkape', 'letta-evidence.tkape'])
    const again = explain('--export', 'kape', '--output', directory)
    expect(again.status).toBe(2)
    expect(again.stderr).toContain('there already')
  })
})
