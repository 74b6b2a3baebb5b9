import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { beforeAll, describe, expect, test } from '@jest/globals'
import { verifyPackage } from '../../../src/evidence/verify/index.js'
import { cli } from '../../helpers/cli.js'
import { cases, fixture } from '../../helpers/fixtures.js'
import { filesBelow, installed, package_, scratch } from '../../helpers/packages.js'

let whole: string
beforeAll(async () => {
  whole = (await package_({ homes: [fixture('letta/0.32.18-code').home] })).directory
})

/** A copy that a test may damage. */
function copy(): string {
  const directory = path.join(scratch(), 'package')
  fs.cpSync(whole, directory, { recursive: true, preserveTimestamps: true })
  return directory
}

const sessions = 'evidence/alice/home/.letta/sessions.jsonl'
const settings = 'evidence/alice/home/.letta/settings.json'
const named = async (directory: string, manifestSha256?: string) =>
  (await verifyPackage(directory, { manifestSha256 })).differences.map(({ kind, path }) => [kind, path])

describe('a package as it was written', () => {
  test.each(cases('letta').map((given) => [given.name, given] as const))('has no difference (%s)', async (_, given) => {
    for (const name of ['package', 'package.zip', 'package.tar.gz']) {
      const output = path.join(scratch(), name)
      const { collection } = await package_({ homes: [given.home] }, { output })
      const result = await verifyPackage(output, { manifestSha256: collection.record.manifest_sha256 })
      expect(result.differences).toEqual([])
      expect(result.files).toBeGreaterThan(6)
    }
  })

  test('passes sha256sum and the audit of hashdeep', () => {
    const sums = spawnSync('sha256sum', ['-c', '--strict', '--quiet', 'SHA256SUMS'], { cwd: whole, encoding: 'utf8' })
    expect([sums.status, sums.stdout, sums.stderr]).toEqual([0, '', ''])
    if (installed('hashdeep')) expect(audit(whole)).toMatchObject({ status: 0, stdout: 'hashdeep: Audit passed\n' })
  })

  test('has every file but one in SHA256SUMS, and every file of the evidence in the list of hashdeep', () => {
    const listed = fs.readFileSync(path.join(whole, 'SHA256SUMS'), 'utf8').match(/(?<= {2}).*$/gm)!
    expect([...listed, 'SHA256SUMS'].sort()).toEqual(filesBelow(whole))
  })
})

describe('one bit changed', () => {
  /** Flips the lowest bit of the middle byte. */
  const flip = (file: string) => {
    const bytes = fs.readFileSync(file)
    bytes[bytes.length >> 1]! ^= 1
    fs.writeFileSync(file, bytes)
  }

  test('in a file of the evidence fails sha256sum, hashdeep and verify, which names it', async () => {
    const directory = copy()
    flip(path.join(directory, sessions))
    expect(spawnSync('sha256sum', ['-c', '--quiet', 'SHA256SUMS'], { cwd: directory }).status).not.toBe(0)
    if (installed('hashdeep')) expect(audit(directory).status).not.toBe(0)
    expect(await named(directory)).toEqual([['altered', sessions]])
  })

  test('in any file of the package is named', async () => {
    for (const file of filesBelow(whole)) {
      const directory = copy()
      flip(path.join(directory, file))
      const differences = await named(directory)
      expect(differences.length).toBeGreaterThan(0)
      if (file !== 'SHA256SUMS') expect(differences.map(([, path]) => path)).toContain(file)
    }
  })

  test('in an archive is named', async () => {
    for (const name of ['package.zip', 'package.tar.gz']) {
      const output = path.join(scratch(), name)
      await package_({ homes: [fixture('letta/seed').home] }, { output })
      flip(output)
      expect((await named(output)).length).toBeGreaterThan(0)
    }
  })
})

describe('a package that was changed', () => {
  test('names what is missing, extra, renamed, swapped, and no file', async () => {
    const directory = copy()
    const at = (name: string) => path.join(directory, name)
    fs.rmSync(at(settings))
    fs.renameSync(at(sessions), at(`${sessions}.old`))
    fs.writeFileSync(at('evidence/planted'), 'x')
    fs.symlinkSync('/etc/passwd', at('evidence/link'))
    const pair = ['crons.json', 'remote-settings.json'].map((name) => `evidence/alice/home/.letta/${name}`)
    const [a, b] = pair.map((name) => fs.readFileSync(at(name)))
    fs.writeFileSync(at(pair[0]!), b!)
    fs.writeFileSync(at(pair[1]!), a!)
    const differences = await named(directory)
    expect(differences).toEqual(
      expect.arrayContaining([
        ['missing', settings],
        ['renamed', sessions],
        ['extra', 'evidence/planted'],
        ['not-a-file', 'evidence/link'],
        ['swapped', pair[0]],
        ['swapped', pair[1]],
      ]),
    )
    expect(differences).toHaveLength(6)
  })

  test('lacks its manifest, its sums, its record', async () => {
    for (const name of ['manifest.jsonl', 'SHA256SUMS', 'collection.json', 'hashdeep.txt']) {
      const directory = copy()
      fs.rmSync(path.join(directory, name))
      expect(await named(directory)).toContainEqual(['missing', name])
    }
  })

  test('agrees with a forged manifest, and is caught by the hash that was noted', async () => {
    const noted = createHash('sha256')
      .update(fs.readFileSync(path.join(whole, 'manifest.jsonl')))
      .digest('hex')
    const directory = copy()
    forge(directory, sessions, '{"forged":true}\n')
    expect(await named(directory)).toEqual([])
    expect(spawnSync('sha256sum', ['-c', '--quiet', 'SHA256SUMS'], { cwd: directory }).status).toBe(0)
    expect(await named(directory, noted)).toEqual([['manifest', 'manifest.jsonl']])
  })

  test('has a line less in its manifest', async () => {
    const directory = copy()
    const manifest = path.join(directory, 'manifest.jsonl')
    const lines = fs.readFileSync(manifest, 'utf8').split('\n')
    fs.writeFileSync(manifest, lines.filter((line) => !line.includes('"action":"withheld"')).join('\n'))
    const differences = await named(directory)
    expect(differences).toContainEqual(['altered', 'manifest.jsonl'])
    expect(differences).toContainEqual(['manifest', 'manifest.jsonl'])
  })
})

describe('letta verify', () => {
  test('exits with 0, with 4 for a difference, and with 2 for what is no package', () => {
    expect(cli(['letta', 'verify', whole])).toMatchObject({ status: 0, stdout: expect.stringMatching(/^\d+ files, no difference\n$/) })
    const directory = copy()
    fs.writeFileSync(path.join(directory, 'evidence/\u001b[2Jplanted'), '')
    const ran = cli(['letta', 'verify', directory])
    expect(ran.status).toBe(4)
    expect(ran.stdout).toContain('extra: evidence/\\x1b[2Jplanted')
    expect(cli(['letta', 'verify', scratch()]).status).toBe(2)
    expect(cli(['letta', 'verify', path.join(scratch(), 'none')]).status).toBe(2)
  })
})

function audit(directory: string) {
  return spawnSync('hashdeep', ['-r', '-l', '-a', '-k', 'hashdeep.txt', 'evidence'], { cwd: directory, encoding: 'utf8' })
}

/** Alters a file and every list that speaks of it, as someone would who knows the format. */
function forge(directory: string, name: string, content: string): void {
  const sha256 = (text: string | Buffer) => createHash('sha256').update(text).digest('hex')
  const at = (file: string) => path.join(directory, file)
  const before = fs.readFileSync(at(name))
  fs.writeFileSync(at(name), content)
  const replace = (file: string, from: string, to: string) =>
    fs.writeFileSync(at(file), fs.readFileSync(at(file), 'utf8').replaceAll(from, to))
  const lists = ['manifest.jsonl', 'collection.json', 'collection.log', 'hashdeep.txt']
  const old = new Map(lists.map((file) => [file, sha256(fs.readFileSync(at(file)))]))
  replace('manifest.jsonl', sha256(before), sha256(content))
  replace('hashdeep.txt', `${before.length},${sha256(before)}`, `${content.length},${sha256(content)}`)
  for (const file of ['collection.json', 'collection.log'])
    replace(file, old.get('manifest.jsonl')!, sha256(fs.readFileSync(at('manifest.jsonl'))))
  replace('SHA256SUMS', sha256(before), sha256(content))
  for (const file of lists) replace('SHA256SUMS', old.get(file)!, sha256(fs.readFileSync(at(file))))
}
