import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { EvidenceOptions } from '../../../src/evidence/index.js'
import type { Row } from '../../../src/rows/index.js'
import { cases, parse, type FixtureCase } from '../../helpers/fixtures.js'
import { writePackage } from '../../helpers/package.js'

const RECORDED = [...cases('letta'), ...cases('letta', 'bugs')]

let scratch: string
beforeAll(() => {
  scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'agent-forensics-same-'))
})
afterAll(() => fs.rmSync(scratch, { recursive: true, force: true }))

/** The home as one package, written by tools that are not ours, and how far its times keep. */
const WRAPPINGS: Record<
  string,
  { readonly make: (given: FixtureCase) => EvidenceOptions; readonly from: string; readonly seconds?: true }
> = {
  'a mounted root': { make: ({ directory }) => ({ roots: [directory] }), from: 'filesystem' },
  'a pax tar.gz': { make: (given) => tar(given, 'pax.tar.gz', ['--format=posix', '-czf']), from: 'archive' },
  'a GNU tar': { make: (given) => tar(given, 'gnu.tar', ['--format=gnu', '-cf']), from: 'archive', seconds: true },
  'a zip': { make: zip, from: 'archive', seconds: true },
  'a folder of our own': { make: (given) => own(given), from: 'manifest' },
  'a tar.gz of our own': { make: (given) => packedOwn(given), from: 'manifest' },
}

function tar({ directory, name }: FixtureCase, ending: string, flags: readonly string[]): EvidenceOptions {
  const to = path.join(scratch, `${path.basename(name)}.${ending}`)
  run('tar', [...flags, to, '-C', directory, 'home'])
  return { packages: [to] }
}

function zip({ directory, name }: FixtureCase): EvidenceOptions {
  const to = path.join(scratch, `${path.basename(name)}.zip`)
  run('zip', ['-qr', to, 'home'], directory)
  return { packages: [to] }
}

function own({ home, name }: FixtureCase): EvidenceOptions {
  const to = path.join(scratch, `own-${path.basename(name)}`)
  if (!fs.existsSync(to)) writePackage(home, to)
  return { packages: [to] }
}

function packedOwn(given: FixtureCase): EvidenceOptions {
  const folder = own(given).packages![0]!
  run('tar', ['-czf', `${folder}.tar.gz`, '-C', scratch, path.basename(folder)])
  return { packages: [`${folder}.tar.gz`] }
}

function run(command: string, args: readonly string[], cwd?: string): void {
  const ran = spawnSync(command, args, { cwd })
  if (ran.status !== 0) throw new Error(`${command}: ${ran.error?.message ?? String(ran.stderr)}`)
}

/** A row but for who vouches for a file's time, which is what differs, and the part of a second that some formats do not keep. */
function comparable(row: Row, seconds: true | undefined): unknown {
  const { mtime_from: _, ...details } = row.details
  const cut = seconds && row.details.time_source === 'file-mtime'
  return { ...row, details, timestamp_utc: cut ? row.timestamp_utc.slice(0, 19) : row.timestamp_utc }
}

describe.each(Object.entries(WRAPPINGS))('a recorded home in %s', (_, { make, from, seconds }) => {
  test.each(RECORDED.map((given) => [given.name, given] as const))('%s gives the same rows as the home', async (_, given) => {
    const home = await parse({ homes: [given.home] })
    const wrapped = await parse(make(given))
    expect(wrapped.rows.map((row) => comparable(row, seconds))).toEqual(home.rows.map((row) => comparable(row, seconds)))
    const vouchers = wrapped.rows.flatMap((row) => row.details.mtime_from ?? [])
    expect(new Set(vouchers)).toEqual(new Set(vouchers.length > 0 ? [from] : []))
    expect(wrapped.runs.flatMap(({ run }) => [...run.projectsNotFound]).sort()).toEqual(
      home.runs.flatMap(({ run }) => [...run.projectsNotFound]).sort(),
    )
  })
})

test('some of these homes have rows at a file time, so that times are really compared', async () => {
  const found = await Promise.all(RECORDED.map(({ home }) => parse({ homes: [home] })))
  expect(found.flatMap(({ rows }) => rows).some((row) => row.details.time_source === 'file-mtime')).toBe(true)
})
