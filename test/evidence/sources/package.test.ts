import { createHash } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import type { ManifestLine } from '../../../src/evidence/index.js'
import { cli } from '../../helpers/cli.js'
import { fixture, parse } from '../../helpers/fixtures.js'
import { writePackage } from '../../helpers/package.js'

let scratch: string
let at: string
let count = 0
beforeAll(() => {
  scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'agent-forensics-package-'))
})
afterAll(() => fs.rmSync(scratch, { recursive: true, force: true }))
beforeEach(() => {
  at = path.join(scratch, String(count++))
})

const { home } = fixture('letta/seed')

const linesOf = () =>
  fs
    .readFileSync(path.join(at, 'manifest.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as ManifestLine)
const storedAs = (shortPath: string) => path.join(at, linesOf().find((line) => line.short_path === shortPath)!.stored_path!)

async function problemsIn(): Promise<string[]> {
  const { rows } = await parse({ packages: [at] })
  return rows.map(({ text }) => text).filter((text) => text.startsWith('parser:'))
}

/** Writes the manifest anew, with the record of it that a careful forger would write too. */
function rewrite(lines: readonly ManifestLine[]): void {
  const manifest = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
  fs.writeFileSync(path.join(at, 'manifest.jsonl'), manifest)
  const file = path.join(at, 'collection.json')
  const record = JSON.parse(fs.readFileSync(file, 'utf8')) as Record<string, unknown>
  fs.writeFileSync(file, JSON.stringify({ ...record, manifest_sha256: createHash('sha256').update(manifest).digest('hex') }))
}

describe('a package of our own', () => {
  test('gives rows with nothing to say against it when nothing was changed', async () => {
    writePackage(home, at)
    expect(await problemsIn()).toEqual([])
  })

  test.each(['.letta/sessions.jsonl', '.letta/crons.json'])('names a changed byte of %s, and still gives its rows', async (name) => {
    writePackage(home, at)
    const whole = (await parse({ packages: [at] })).rows.length
    const stored = storedAs(name)
    const bytes = fs.readFileSync(stored)
    fs.writeFileSync(stored, Buffer.concat([bytes, Buffer.from('\n')]))
    const { rows } = await parse({ packages: [at] })
    expect(rows.filter(({ details }) => details.kind !== 'parser')).toHaveLength(whole)
    expect(await problemsIn()).toEqual([
      expect.stringMatching(`^parser: ${name} does not have the SHA-256 that manifest.jsonl records: [0-9a-f]{64}`),
    ])
    expect(cli(['letta', 'parse', '--package', at, '--format', 'jsonl']).status).toBe(3)
  })

  test('names a file that its manifest does not list, and does not read it', async () => {
    writePackage(home, at)
    const planted = path.join(at, 'evidence/alice/home/planted')
    fs.copyFileSync(storedAs('.letta/sessions.jsonl'), planted)
    expect(await problemsIn()).toEqual([
      `parser: ${path.basename(at)}/evidence/alice/home/planted is in the package but not in its manifest; it was not read`,
    ])
  })

  test('names a file that its manifest lists and that is gone', async () => {
    writePackage(home, at)
    const stored = storedAs('.letta/sessions.jsonl')
    fs.rmSync(stored)
    const name = path.relative(at, stored)
    expect((await problemsIn()).sort()).toEqual([
      'parser: .letta/sessions.jsonl is not in the package',
      `parser: ${path.basename(at)}/${name} is listed in the manifest but is not in the package`,
    ])
  })

  test('names a manifest that is not the one it was written with', async () => {
    writePackage(home, at)
    fs.appendFileSync(path.join(at, 'manifest.jsonl'), '\n')
    expect(await problemsIn()).toEqual([
      `parser: ${path.basename(at)}/manifest.jsonl does not have the SHA-256 that collection.json records`,
    ])
  })

  test('that lost its manifest is not taken for a folder of files', async () => {
    writePackage(home, at)
    fs.rmSync(path.join(at, 'manifest.jsonl'))
    const problems = await problemsIn()
    expect(problems).toContain(`parser: ${path.basename(at)}/manifest.jsonl is not in the package`)
    expect((await parse({ packages: [at] })).rows.every(({ details }) => details.kind === 'parser')).toBe(true)
  })

  test.each<[string, Partial<ManifestLine>, string]>([
    [
      'a file that could not be opened',
      { action: 'failed', problem: 'cannot be opened: permission denied' },
      'cannot be opened: permission denied',
    ],
    ['a link', { action: 'link', kind: 'link' }, 'is a symbolic link, which is not followed'],
    ['a file over the size cap', { action: 'too-large', reason: 'over 1 GB' }, 'was not collected (too-large): over 1 GB'],
  ])('has for %s the row that the home had', async (_, change, problem) => {
    writePackage(home, at)
    const stored = storedAs('.letta/sessions.jsonl')
    const none = { stored_path: null, sha256: null, stored_sha256: null, stored_size: null }
    rewrite(linesOf().map((line) => (line.short_path === '.letta/sessions.jsonl' ? { ...line, ...none, ...change } : line)))
    fs.rmSync(stored)
    expect(await problemsIn()).toEqual([`parser: .letta/sessions.jsonl ${problem}`])
  })

  test('has the host of its record; --host stands before it', async () => {
    writePackage(home, at)
    const file = path.join(at, 'collection.json')
    fs.writeFileSync(file, fs.readFileSync(file, 'utf8').replace('"host":""', '"host":"ws-7"'))
    expect(new Set((await parse({ packages: [at] })).rows.map(({ host }) => host))).toEqual(new Set(['ws-7']))
    expect(new Set((await parse({ packages: [at], host: 'named' })).rows.map(({ host }) => host))).toEqual(new Set(['named']))
  })

  test('of another version is named, not guessed at', async () => {
    writePackage(home, at)
    const file = path.join(at, 'collection.json')
    fs.writeFileSync(file, fs.readFileSync(file, 'utf8').replace('"format_version":1', '"format_version":99'))
    expect(await problemsIn()).toEqual([
      `parser: ${path.basename(at)}/collection.json is not a collection record that this version reads; the package was not read`,
    ])
  })

  test('is never written into by an --output', () => {
    writePackage(home, at)
    const ran = cli(['letta', 'parse', '--package', at, '--output', path.join(at, 'rows.csv')])
    expect(ran.status).toBe(2)
    expect(ran.stderr).toMatch(/lies in\W+the evidence|the evidence, which is never written to/)
    expect(fs.existsSync(path.join(at, 'rows.csv'))).toBe(false)
  })
})
