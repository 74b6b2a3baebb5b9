import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import zlib from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { below, recordedPath } from '../../../src/evidence/index.js'
import { openSources, type OpenMachine } from '../../../src/evidence/sources.js'
import { join, treePath, type Tree, type TreePath } from '../../../src/evidence/tree.js'
import type { Row } from '../../../src/rows/index.js'
import { cli } from '../../helpers/cli.js'
import { parse, SHARED } from '../../helpers/fixtures.js'

const COLLECTORS = path.join(SHARED, 'evidence/collectors')

/** Who must vouch for a file's time, and how far from the true one it may lie (README of the samples). */
interface Times {
  readonly from: string
  /** The recorded time, in seconds, from the true one. */
  readonly recorded: (mtime: number) => number
}
const exactly = (from: string): Times => ({ from, recorded: (mtime) => mtime })
const wholeSeconds = (from: string): Times => ({ from, recorded: Math.floor })
/** DOS times have two-second steps and the endpoint's zone, which nothing records: they are read as if it were UTC, and say so. */
const dosTime = (hoursEast: number): Times => ({ from: 'unreliable', recorded: (mtime) => Math.floor(mtime / 2) * 2 + hoursEast * 3600 })

interface Sample {
  readonly archive: string
  readonly hosts: readonly string[]
  readonly users: readonly string[]
  readonly times: Times
}
const SAMPLES: Record<string, Sample> = {
  'velociraptor-linux': sample('velociraptor/Collection-ws-alice-2026-11-30T18_26_40Z.zip', ['ws-alice'], ['alice'], exactly('manifest')),
  'velociraptor-windows': sample(
    'velociraptor/Collection-WS-ALICE-2026-11-30T19_26_40_01_00.zip',
    ['WS-ALICE'],
    ['alice', 'bob'],
    exactly('manifest'),
  ),
  'velociraptor-ntfs': sample('velociraptor/Collection-WS-ALICE-ntfs.zip', ['WS-ALICE'], ['alice'], exactly('manifest')),
  'velociraptor-v0.6.0': sample('velociraptor/Collection-WS-ALICE-v0.6.0.zip', ['WS-ALICE'], ['bob'], exactly('manifest')),
  'velociraptor-hunt': sample('velociraptor/H.D4M2K7ABCDE01.zip', ['WS-BOB', 'ws-alice'], ['bob', 'alice'], exactly('manifest')),
  'kape-folder': sample('kape/kape-folder.tar.gz', ['WS-ALICE'], ['alice', 'bob'], exactly('manifest')),
  'kape-zip': sample('kape/2026-11-30T182640_WS-ALICE.zip', ['WS-ALICE'], ['alice', 'bob'], exactly('manifest')),
  'cylr-windows': sample('cylr/WS-ALICE.zip', ['WS-ALICE'], ['alice'], dosTime(1)),
  'cylr-linux': sample('cylr/ws-bob.zip', ['ws-bob'], ['bob'], dosTime(0)),
  'plain-home': sample('plain/home.tar.gz', [''], ['alice'], wholeSeconds('archive')),
  'plain-linux-multi': sample('plain/linux-multi.tar.gz', ['ws-alice'], ['alice', 'root', 'bob'], wholeSeconds('archive')),
  'macos-users': sample('plain/macos-users.tar.gz', [''], ['alice', 'bob'], wholeSeconds('archive')),
  'macos-finder': sample('plain/macos-finder.zip', [''], ['bob'], dosTime(1)),
  'windows-users': sample('plain/windows-users.zip', [''], ['alice', 'bob'], dosTime(1)),
  'windows-users-backslash': sample('plain/windows-users-backslash.zip', [''], ['alice', 'bob'], dosTime(1)),
  'uac-tar': sample('uac/uac-ws-alice-linux-20261130184205.tar.gz', ['ws-alice'], ['alice', 'root', 'bob'], wholeSeconds('bodyfile')),
  'uac-zip-hashed': sample('uac/uac-ws-alice-linux-20261130184210.zip', ['ws-alice'], ['alice', 'root', 'bob'], wholeSeconds('bodyfile')),
}

function sample(archive: string, hosts: readonly string[], users: readonly string[], times: Times): Sample {
  return { archive: path.join(COLLECTORS, archive), hosts, users, times }
}

/** One line of expected.jsonl.gz, made with the packages by their generator. */
interface Expected {
  readonly sample: string
  readonly member: string
  readonly original: string
  readonly user: string
  readonly size: number
  readonly sha256: string
  readonly mtime: number
  readonly stored: 'file' | 'deduped' | 'long-name' | 'sparse'
}

const present = fs.existsSync(path.join(COLLECTORS, 'expected.jsonl.gz'))
if (!present) console.warn(`SKIPPED: ${COLLECTORS} is not there; packages of other collectors were not tested`)
const expected: Expected[] = present
  ? zlib
      .gunzipSync(fs.readFileSync(path.join(COLLECTORS, 'expected.jsonl.gz')))
      .toString('utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Expected)
  : []
const filesOf = (name: string) => expected.filter((line) => line.sample === name)

/** What UAC's artifact did not put into the bodyfile: projects. The tar keeps their times, `-H` replaced them by its own. */
function timesOf(line: Expected): Times {
  const project = !/^(\/home\/alice|\/srv\/homes\/bob|\/root)\/\.letta\//.test(line.original)
  if (line.sample === 'uac-tar' && project) return wholeSeconds('archive')
  if (line.sample === 'uac-zip-hashed' && project) return { from: 'unreliable', recorded: () => NaN }
  return SAMPLES[line.sample]!.times
}

/** The file that stood at a path on its own machine, wherever the source now keeps it. */
function locate(machines: readonly OpenMachine[], original: string, user: string): { tree: Tree; at: TreePath } | undefined {
  const wanted = recordedPath(original.replace(/^\\\\\.\\/, ''))!
  for (const { machine, homes } of machines) {
    for (const home of homes.filter((home) => home.user === user)) {
      for (const stood of home.stood) {
        const inside = below(wanted, stood)
        const at = inside && join(home.at, ...inside.map(treePath))
        if (at !== undefined && machine.tree.list(at)?.kind === 'file') return { tree: machine.tree, at }
      }
    }
  }
  return undefined
}

async function sha256(tree: Tree, at: TreePath): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of tree.read(at, tree.list(at)!)) hash.update(chunk)
  return hash.digest('hex')
}

const whenPresent = present ? describe : describe.skip

whenPresent.each(Object.entries(SAMPLES))('the package %s', (name, { archive, hosts, users }) => {
  test('has every file of the list at its original path, with its hash, and with its time or a word on who vouches for it', async () => {
    const sources = await openSources({ packages: [archive] })
    try {
      expect(sources.machines.map(({ host }) => host)).toEqual(hosts)
      expect(sources.machines.flatMap(({ homes }) => homes.map(({ user }) => user))).toEqual(users)
      expect(sources.machines.flatMap(({ troubles }) => troubles)).toEqual([])
      expect(filesOf(name).length).toBeGreaterThan(0)
      for (const line of filesOf(name)) {
        const found = locate(sources.machines, line.original, line.user)
        expect([line.original, found === undefined]).toEqual([line.original, false])
        const { tree, at } = found!
        expect([line.original, await sha256(tree, at)]).toEqual([line.original, line.sha256])
        const listing = tree.list(at)!
        expect(listing.size).toBe(line.size)
        expect([line.original, listing.mtimeFrom, listing.mtimeNs]).toEqual([line.original, ...timeExpected(line, listing.mtimeNs)])
      }
      expect(sources.machines.flatMap(({ machine }) => machine.tree.takeTroubles())).toEqual([])
    } finally {
      sources.close()
    }
  })

  test('gives the rows of the homes inside', async () => {
    const found = await parse({ packages: [archive] })
    const rows: Row[] = []
    for (const user of new Set(filesOf(name).map((line) => line.user))) {
      const [home, was] = unpackedHome(name, archive, user)
      rows.push(...(await parse({ homes: [home], homesWere: [was] })).rows)
    }
    const comparable = (row: Row) => ({
      ...row,
      host: '',
      timestamp_utc: fileTime(row) ? '' : row.timestamp_utc,
      details: { ...row.details, mtime_from: '' },
    })
    const sorted = (rows: Row[]) => rows.map((row) => JSON.stringify(comparable(row))).sort()
    expect(rows.length).toBeGreaterThan(20)
    expect(sorted(found.rows)).toEqual(sorted(rows))
    expect(new Set(found.rows.map((row) => row.host))).toEqual(new Set(hosts))
  })
})

const fileTime = (row: Row) => row.details.time_source === 'file-mtime'

/** Seconds to nanoseconds, by the microseconds that the list has. */
function timeExpected(line: Expected, found: bigint): [string, bigint] {
  if (line.stored === 'deduped') return ['unreliable', -1n]
  const { from, recorded } = timesOf(line)
  const seconds = recorded(line.mtime)
  return [from, Number.isNaN(seconds) ? found : BigInt(Math.round(seconds * 1e6)) * 1000n]
}

let scratch: string
beforeAll(() => {
  scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'agent-forensics-collectors-'))
})
afterAll(() => fs.rmSync(scratch, { recursive: true, force: true }))

/** One user's files out of a package, by the system's own tar or unzip and the list, as a home directory; and where that stood. */
function unpackedHome(name: string, archive: string, user: string): [home: string, was: string] {
  const unpacked = path.join(scratch, name)
  if (!fs.existsSync(unpacked)) unpack(archive, unpacked)
  const lines = filesOf(name).filter((line) => line.user === user)
  const was = homeOf(lines[0]!.original, user)
  const home = path.join(scratch, `${name}-homes`, user)
  for (const line of lines) {
    const inside = line.original
      .replace(/^\\\\\.\\/, '')
      .slice(was.length + 1)
      .replaceAll('\\', '/')
    const target = path.join(home, inside)
    fs.mkdirSync(path.dirname(target), { recursive: true })
    fs.copyFileSync(path.join(unpacked, line.member.replaceAll('\\', '/')), target)
    fs.utimesSync(target, line.mtime, line.mtime)
  }
  return [home, was]
}

function homeOf(original: string, user: string): string {
  const plain = original.replace(/^\\\\\.\\/, '')
  return plain.slice(0, plain.search(new RegExp(`[\\\\/]${user}[\\\\/]`)) + 1 + user.length)
}

function unpack(archive: string, to: string): void {
  fs.mkdirSync(to)
  const [command, ...args] = archive.endsWith('.zip') ? ['unzip', '-qq', archive, '-d', to] : ['tar', '-xzf', archive, '-C', to]
  const ran = spawnSync(command!, args)
  // unzip ends with 1 when it had to turn `\` into `/`.
  if (ran.error || ran.status! > 1) throw new Error(`${command}: ${ran.error?.message ?? String(ran.stderr)}`)
}

whenPresent('a package that cannot be read as it is', () => {
  test('an encrypted one is named, with exit 3, and is never "no Letta files"', () => {
    const ran = cli([
      'letta',
      'parse',
      '--package',
      path.join(COLLECTORS, 'velociraptor/Collection-ws-bob-encrypted.zip'),
      '--format',
      'jsonl',
    ])
    expect(ran.status).toBe(3)
    expect(ran.stderr).not.toContain('no letta files')
    expect(ran.stderr).toContain('Collection-ws-bob-encrypted.zip')
    const rows = ran.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Row)
    expect(rows.map(({ text }) => text)).toEqual([
      'parser: Collection-ws-bob-encrypted.zip 1 of 1 entries are encrypted and were not read, the first is data.zip',
    ])
  })

  test('a disk image inside is named, with exit 3', () => {
    const ran = cli(['letta', 'parse', '--package', path.join(COLLECTORS, 'kape/2026-11-30T182640_WS-ALICE-vhdx.zip'), '--format', 'jsonl'])
    expect(ran.status).toBe(3)
    expect(ran.stdout).toContain('is a disk image, which was not opened')
  })
})

whenPresent('an unpacked collection', () => {
  test.each(['velociraptor-hunt', 'kape-folder', 'velociraptor-windows'])('%s gives the same rows as a --root', async (name) => {
    const unpacked = path.join(scratch, `root-${name}`)
    unpack(SAMPLES[name]!.archive, unpacked)
    const strip = (rows: Row[]) => rows.map((row) => ({ ...row, host: '' }))
    const archived = await parse({ packages: [SAMPLES[name]!.archive] })
    const folder = await parse({ roots: [unpacked] })
    expect(strip(folder.rows)).toEqual(strip(archived.rows))
  })
})

whenPresent('a file that is not the one that a collector hashed', () => {
  test.each([
    ['kape-folder', 'WS-ALICE/C/Users/alice/.letta/sessions.jsonl', 'SHA-1 that 2026-11-30T182640_CopyLog.csv records'],
    ['uac-zip-hashed', '[root]/home/alice/.letta/sessions.jsonl', 'SHA-1 that hash_list.sha1 records'],
    [
      'velociraptor-linux',
      'uploads/auto/home/alice/%2Eletta/sessions.jsonl',
      'SHA-256 that results/Generic.Collectors.File/Uploads.json records',
    ],
    ['velociraptor-v0.6.0', 'C/Users/bob/.letta/sessions.jsonl', 'SHA-256 that Windows.Collectors.File/Uploads.json records'],
  ])('%s: is named, and its rows stay', async (name, member, problem) => {
    const unpacked = path.join(scratch, `changed-${name}`)
    unpack(SAMPLES[name]!.archive, unpacked)
    const before = await parse({ packages: [unpacked] })
    expect(before.rows.filter(({ details }) => details.kind === 'parser')).toEqual([])
    fs.appendFileSync(path.join(unpacked, member), '\n')
    const { rows } = await parse({ packages: [unpacked] })
    const [found, ...more] = rows.filter(({ details }) => details.kind === 'parser')
    expect([found?.text.slice(0, `parser: .letta/sessions.jsonl does not have the ${problem}`.length), more]).toEqual([
      `parser: .letta/sessions.jsonl does not have the ${problem}`,
      [],
    ])
    expect(rows).toHaveLength(before.rows.length + 1)
  })
})

whenPresent('an archive that is not the one that UAC hashed when it was done', () => {
  test('is named, by the log beside it; without the log nothing can be said', async () => {
    const { archive } = SAMPLES['uac-zip-hashed']!
    const copy = path.join(scratch, 'uac-changed', path.basename(archive))
    fs.mkdirSync(path.dirname(copy))
    const bytes = fs.readFileSync(archive)
    bytes[12]! ^= 1
    fs.writeFileSync(copy, bytes)
    const problems = async () =>
      (await parse({ packages: [copy] })).rows.map(({ text }) => text).filter((text) => text.startsWith('parser:'))
    expect(await problems()).toEqual([])
    const log = path.basename(archive).replace('.zip', '.log')
    fs.copyFileSync(path.join(path.dirname(archive), log), path.join(path.dirname(copy), log))
    expect(await problems()).toEqual([
      expect.stringMatching(`^parser: ${path.basename(archive)} does not have the SHA-1 that ${log} records`),
    ])
  })
})
