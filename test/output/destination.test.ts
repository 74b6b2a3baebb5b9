import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals'
import { FileDestination, OutputExistsError } from '../../src/output/index.js'
import { fixture, ROOT } from '../helpers/fixtures.js'

const root = fs.mkdtempSync(path.join(os.tmpdir(), 'agent-forensics-destination-'))
afterAll(() => fs.rmSync(root, { recursive: true, force: true }))

let directory: string
beforeEach(() => {
  directory = fs.mkdtempSync(path.join(root, 'case-'))
})

describe('an output file', () => {
  test('appears only when it is whole; until then a temporary name stands beside it', async () => {
    const file = path.join(directory, 'out.csv')
    const destination = new FileDestination(file)
    await destination.write(Buffer.from('a'))
    await destination.write(Buffer.from('b'))
    expect(fs.existsSync(file)).toBe(false)
    const [partial, ...others] = fs.readdirSync(directory)
    expect(partial).toContain('out.csv')
    expect(others).toEqual([])
    await destination.finish()
    expect(fs.readFileSync(file, 'utf8')).toBe('ab')
    expect(fs.readdirSync(directory)).toEqual(['out.csv'])
  })

  test('is there, empty, when nothing was written', async () => {
    await new FileDestination(path.join(directory, 'out.csv')).finish()
    expect(fs.readdirSync(directory)).toEqual(['out.csv'])
  })

  test('that was abandoned leaves nothing', async () => {
    const destination = new FileDestination(path.join(directory, 'out.csv'))
    await destination.write(Buffer.from('half'))
    destination.abandon()
    expect(fs.readdirSync(directory)).toEqual([])
  })

  test('is never replaced unasked', () => {
    const file = path.join(directory, 'out.csv')
    fs.writeFileSync(file, 'old')
    expect(() => new FileDestination(file)).toThrow(OutputExistsError)
    expect(fs.readFileSync(file, 'utf8')).toBe('old')
  })

  test('is replaced with force, the old one staying until the new one is whole', async () => {
    const file = path.join(directory, 'out.csv')
    fs.writeFileSync(file, 'old')
    const destination = new FileDestination(file, { force: true })
    await destination.write(Buffer.from('new'))
    expect(fs.readFileSync(file, 'utf8')).toBe('old')
    await destination.finish()
    expect(fs.readFileSync(file, 'utf8')).toBe('new')
  })

  test("what a killed run left goes, a running one's and other files stay", async () => {
    const { pid: gone } = spawnSync(process.execPath, ['-e', ''])
    const left = [`.out.csv.${gone}.partial`, `.out.csv.${process.ppid}.partial`, `.other.csv.${gone}.partial`, 'out.csv.partial']
    for (const name of left) fs.writeFileSync(path.join(directory, name), 'x')
    await new FileDestination(path.join(directory, 'out.csv')).finish()
    expect(fs.readdirSync(directory).sort()).toEqual([...left.slice(1), 'out.csv'].sort())
  })
})

describe('a pipe whose reader goes away', () => {
  /** Far more rows than a pipe holds. */
  const home = path.join(root, 'home', 'alice')
  const shell = (command: string) =>
    spawnSync('bash', ['-c', `set -o pipefail; ${command}; echo "codes \${PIPESTATUS[*]}" >&2`], {
      encoding: 'utf8',
      env: { ...process.env, NODE_OPTIONS: '', CLI: path.join(ROOT, 'bin/run.js'), NODE: process.execPath, HOME_GIVEN: home },
    })

  test('ends quietly', () => {
    fs.mkdirSync(path.join(home, '.letta'), { recursive: true })
    const line = JSON.stringify({ agent_id: 'a'.repeat(2000), session_id: 's', timestamp: 1796061332062, exit_reason: 'exit_command' })
    fs.writeFileSync(path.join(home, '.letta/sessions.jsonl'), `${line}\n`.repeat(5000))
    const ran = shell('"$NODE" "$CLI" letta parse --home "$HOME_GIVEN" --format csv | head -n 1')
    expect(ran.stdout).toMatch(/^timestamp_utc,/)
    expect(ran.stderr).not.toMatch(/EPIPE|Error|at .*\.js/)
    expect(ran.stderr).toMatch(/codes 0 0/)
  })

  test('of a short output, too', () => {
    const seed = fixture('letta/seed').home
    const ran = shell(`"$NODE" "$CLI" letta parse --home '${seed}' --format jsonl | true`)
    expect(ran.stderr).not.toMatch(/EPIPE|Error|at .*\.js/)
  })
})
