import { createHash } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { Flags } from '@oclif/core'
import { DateTime } from 'luxon'
import type { CatalogEntry } from '../catalog/index.js'
import { EvidenceUsageError, PACKAGE_FILES, type CollectionRecord, type Evidence, type Home, type ManifestLine } from '../evidence/index.js'
import { collect, type Collection } from '../evidence/collect/index.js'
import { ProgressLine, visible } from '../output/index.js'
import { ParserRun, type Parser, type Registered } from '../parsers/index.js'
import { compactJson } from '../rows/index.js'
import { evidenceFlags, evidenceFrom } from './evidence-flags.js'
import { Verb } from './verb.js'

/** Exit codes (architecture.md): 2 wrong usage, 3 part of the evidence could not be read. */
const USAGE = 2
const PARTLY_READ = 3

const sizeFlag = Flags.custom<number>({
  parse: async (text) => {
    const [, digits, unit = ''] = /^(\d+)\s*([kMGT]?)(?:i?B)?$/i.exec(text) ?? []
    if (digits === undefined) throw new Error(`a size is a number of bytes, or one with k, M, G or T: ${text}`)
    return Number(digits) * 1024 ** ['', 'K', 'M', 'G', 'T'].indexOf(unit.toUpperCase())
  },
})

const timeFlag = Flags.custom<bigint>({
  parse: async (text) => {
    const days = /^-(\d+)d$/.exec(text)
    const at = days ? DateTime.utc().minus({ days: Number(days[1]) }) : DateTime.fromISO(text, { zone: 'utc' })
    if (!at.isValid) throw new Error(`a time is ISO 8601, or -3d for three days ago: ${text}`)
    return BigInt(at.toMillis()) * 1_000_000n
  },
})

/** A package is not collected again. */
const { 'temp-dir': _, package: __, ...whichEvidence } = evidenceFlags

/** The verb `collect`, for one agent or, without one, for all. */
export abstract class CollectCommand extends Verb {
  static override flags = {
    ...whichEvidence,
    output: Flags.string({
      char: 'o',
      description: 'the package: a new folder, FILE.zip or FILE.tar.gz; never inside the evidence, never overwritten',
      helpGroup: 'PACKAGE',
    }),
    'dry-run': Flags.boolean({ description: 'say what would be done about each path, and write nothing', helpGroup: 'PACKAGE' }),
    case: Flags.string({ description: 'the case that the package belongs to', default: '', helpGroup: 'PACKAGE' }),
    examiner: Flags.string({ description: 'who collects', default: '', helpGroup: 'PACKAGE' }),
    since: timeFlag({ description: 'only files modified at this time or later: ISO 8601, or -3d', helpGroup: 'WHAT' }),
    'include-credentials': Flags.boolean({ description: 'copy keys and tokens too, in clear', helpGroup: 'WHAT' }),
    'no-databases': Flags.boolean({ description: 'leave databases out: they may hold keys and are not masked', helpGroup: 'WHAT' }),
    'max-file-size': sizeFlag({ description: 'larger files are named, not copied: 500M', helpGroup: 'WHAT' }),
    'include-scratch': Flags.boolean({ description: "copy the agent's own working copies too", helpGroup: 'WHAT' }),
    json: Flags.boolean({ description: 'the collection record on stdout', helpGroup: 'OUTPUT' }),
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(this.constructor as typeof CollectCommand)
    if (flags.output === undefined && !flags['dry-run'])
      this.error('pass --output DIR, FILE.zip or FILE.tar.gz, or --dry-run', { exit: USAGE })
    const { registry, registered, entries, parsers } = await this.readers()
    const evidence = await evidenceFrom(flags, entries)
    if (flags.output !== undefined) refuseInside(flags.output, evidence, entries, flags['project-dir'] ?? [])

    const progress = new ProgressLine('collect')
    const collection = await collect({
      output: flags['dry-run'] ? undefined : flags.output,
      entries,
      evidence,
      temps: tempDirectories(evidence, flags.root ?? []),
      nameProjects: (home) =>
        nameProjects(
          home,
          parsers.map(({ parser }) => parser),
        ),
      about: {
        case: flags.case,
        examiner: flags.examiner,
        tool: { name: 'agent-forensics', version: this.config.version, node: process.version },
        catalogs: registered.map(catalogOf),
        arguments: [...this.argv],
      },
      includeCredentials: flags['include-credentials'],
      noDatabases: flags['no-databases'],
      includeScratch: flags['include-scratch'],
      maxFileSize: flags['max-file-size'],
      sinceNs: flags.since,
      onLine: flags['dry-run'] && !flags.json ? (line) => this.log(dryLine(line)) : undefined,
      onProgress: (step) => progress.step(step),
    }).finally(() => progress.end())

    for (const line of summary(
      collection,
      registry.notes.map(({ message }) => message),
    ))
      this.logToStderr(line)
    if (flags.json) this.log(JSON.stringify(collection.record, null, 2))
    else if (!flags['dry-run']) this.log(`${collection.record.manifest_sha256}  ${PACKAGE_FILES.manifest}`)
    if (collection.troubles.length > 0 || registry.notes.some(({ kind }) => kind === 'conflict')) process.exitCode = PARTLY_READ
  }
}

async function nameProjects(home: Home, parsers: readonly Parser[]) {
  const runs = parsers.map((parser) => ({ parser, run: new ParserRun() }))
  for (const { parser, run } of runs) await parser.nameProjects(home, run)
  const all = (of: (run: ParserRun) => Set<string>) => [...new Set(runs.flatMap(({ run }) => [...of(run)]))].sort()
  return { notFound: all((run) => run.projectsNotFound), refused: all((run) => run.projectsRefused) }
}

function catalogOf({ entry, by }: Registered): CollectionRecord['catalogs'][number] {
  return {
    agent: entry.agent,
    plugin: by.name,
    plugin_version: by.version,
    catalog_version: entry.version,
    catalog_sha256: createHash('sha256').update(compactJson(entry)).digest('hex'),
  }
}

/** Temp directories below the root of an image, and below a Windows profile. */
const TEMPS_OF_ROOT = [['tmp'], ['var', 'tmp'], ['private', 'tmp'], ['Windows', 'Temp']]
const TEMP_OF_PROFILE = ['AppData', 'Local', 'Temp']

/** Where the temp directories of the evidence's machine are: this machine's own, when it is the evidence, else what its image or profiles hold. */
function tempDirectories(evidence: Evidence, roots: readonly string[]): string[] {
  const ours = process.platform === 'win32' ? [os.tmpdir()] : [os.tmpdir(), '/tmp']
  const found = [
    ...(evidence.live ? ours.filter(isDirectory).map((directory) => fs.realpathSync(directory)) : []),
    ...(evidence.live ? [] : roots).flatMap((root) => TEMPS_OF_ROOT.map((below) => plainDirectory(root, below))),
    ...evidence.homes.map(({ directory }) => plainDirectory(directory, TEMP_OF_PROFILE)),
  ]
  return [...new Set(found.filter((directory) => directory !== undefined))]
}

/** A directory of the evidence that is reached without a link: a link could lead out of the evidence. */
function plainDirectory(base: string, below: readonly string[]): string | undefined {
  let at = base
  for (const step of below) {
    at = path.join(at, step)
    if (fs.lstatSync(at, { throwIfNoEntry: false })?.isDirectory() !== true) return undefined
  }
  return path.resolve(at)
}

function isDirectory(directory: string): boolean {
  return fs.statSync(directory, { throwIfNoEntry: false })?.isDirectory() === true
}

/** The evidence is never written to: not a copied home or a project at all, on a live machine not where the agent keeps its files. */
function refuseInside(output: string, evidence: Evidence, entries: readonly CatalogEntry[], projects: readonly string[]): void {
  const parent = path.dirname(path.resolve(output))
  if (!isDirectory(parent)) throw new EvidenceUsageError(`--output ${output}: there is no directory ${parent}`)
  const real = path.join(fs.realpathSync(parent), path.basename(output))
  for (const directory of [...evidence.homes.flatMap((home) => evidenceFolders(home, evidence.live, entries)), ...projects]) {
    const inside = path.relative(fs.existsSync(directory) ? fs.realpathSync(directory) : directory, real)
    if (!inside.startsWith('..') && !path.isAbsolute(inside))
      throw new EvidenceUsageError(`--output ${output} lies in the evidence, which is never written to`)
  }
}

function evidenceFolders({ directory }: Home, live: boolean, entries: readonly CatalogEntry[]): string[] {
  if (!live) return [directory]
  const globs = entries.flatMap(({ stores }) => stores).flatMap(({ scope, globs }) => (scope === 'home' ? globs : []))
  const firsts = globs.filter((glob) => glob.includes('/')).map((glob) => glob.split('/')[0]!)
  return [...new Set(firsts)].filter((first) => first.startsWith('.') && first !== '.config').map((first) => path.join(directory, first))
}

function dryLine({ action, size, original_path, reason, rule }: ManifestLine): string {
  return `${action.padEnd(9)} ${String(size).padStart(12)}  ${visible(original_path)}  (${rule}: ${reason})`
}

/** What a person wants to know after a collection, in a few lines. */
function summary({ record, troubles, notes }: Collection, registryNotes: readonly string[]): string[] {
  const counted = Object.entries(record.counts).filter(([, count]) => count > 0)
  const lines = [...registryNotes, ...notes.map(visible)]
  lines.push(
    counted.length === 0 ? 'nothing that the catalog names was found' : counted.map(([action, count]) => `${action} ${count}`).join(', '),
  )
  for (const home of record.homes) {
    lines.push(`${visible(home.user)}: ${home.projects.length} projects found in the evidence`)
    lines.push(...named('projects not found in the evidence', home.projects_not_found))
    lines.push(...named('recorded paths that are never opened', home.projects_refused))
  }
  lines.push(
    ...named(
      'not read, or changed while it was read',
      troubles.map((line) => `${line.original_path} ${line.problem ?? line.reason}`),
    ),
  )
  if (record.includes_credentials) lines.push('the package holds keys and tokens in clear: --include-credentials')
  return lines
}
const MOST_NAMED = 5

function named(what: string, items: readonly string[]): string[] {
  if (items.length === 0) return []
  const rest = items.length > MOST_NAMED ? `, and ${items.length - MOST_NAMED} more` : ''
  return [`  ${what}: ${items.slice(0, MOST_NAMED).map(visible).join(', ')}${rest}`]
}
