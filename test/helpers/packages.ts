import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { letta } from '../../src/catalog/index.js'
import { Evidence, type EvidenceOptions, type ManifestLine } from '../../src/evidence/index.js'
import { collect, type Collection, type CollectOptions } from '../../src/evidence/collect/index.js'
import { LettaParser } from '../../src/parsers/letta/index.js'
import { ParserRun } from '../../src/parsers/index.js'
import { SHARED } from './fixtures.js'

export interface Collected {
  readonly collection: Collection
  readonly directory: string
  readonly lines: ManifestLine[]
}

/** A folder for one test, below which everything it makes lies. */
export function scratch(): string {
  return fs.mkdtempSync(path.join(os.tmpdir(), 'agent-forensics-collect-'))
}

/** A package of some evidence, as a folder unless `output` says otherwise, and its manifest. */
export async function package_(evidence: EvidenceOptions, options: Partial<CollectOptions> = {}): Promise<Collected> {
  const directory = options.output ?? path.join(scratch(), 'package')
  const lines: ManifestLine[] = []
  const collection = await collect({
    output: directory,
    entries: [letta],
    evidence: new Evidence(evidence),
    temps: [],
    about: { case: 'test', examiner: '', tool: { name: 'agent-forensics', version: '0', node: '' }, catalogs: [], arguments: [] },
    nameProjects: async (home) => {
      const run = new ParserRun()
      await new LettaParser(letta).nameProjects(home, run)
      return { notFound: [...run.projectsNotFound], refused: [...run.projectsRefused] }
    },
    onLine: (line) => lines.push(line),
    ...options,
  })
  return { collection, directory, lines }
}

/** Every file below a folder, by relative path. */
export function filesBelow(directory: string): string[] {
  return fs
    .readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(directory, path.join(entry.parentPath, entry.name)))
    .sort()
}

/** A recorded home of the reference, unpacked with its times; undefined where the reference is not. */
export function recordedHome(archive: string): string | undefined {
  const file = path.join(SHARED, 'evidence', archive)
  if (!fs.existsSync(file)) return undefined
  const directory = scratch()
  const ran = spawnSync('tar', ['xzf', file, '-C', directory])
  if (ran.status !== 0) throw new Error(`tar: ${ran.stderr}`)
  const [user] = fs.readdirSync(path.join(directory, 'home'))
  return path.join(directory, 'home', user!)
}

export const RECORDED_HOMES = [
  'letta-0.25.9-local-home.tar.gz',
  'letta-0.25.9-migrated-0.32.18-local-home.tar.gz',
  'letta-0.30.28-local-home.tar.gz',
  'letta-0.32.18-after-agent-delete-home.tar.gz',
  'letta-0.32.18-api-home.tar.gz',
  'letta-0.32.18-local-home.tar.gz',
  'letta-0.32.18-rewrite-home.tar.gz',
  'letta-code-0.32.18-home.tar.gz',
  'seed-home.tar.gz',
]

/** Whether a program is installed; a test that needs it says loudly when it is not. */
export function installed(program: string): boolean {
  const found = spawnSync('sh', ['-c', `command -v ${program}`]).status === 0
  if (!found) console.warn(`SKIPPED: ${program} is not installed, so what it would check is not checked`)
  return found
}
