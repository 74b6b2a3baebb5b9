import { createHash, type Hash } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { CatalogEntry } from '../../catalog/index.js'
import { byCodeUnit } from '../../rows/index.js'
import type { Evidence, Home, WalkedFolder } from '../evidence.js'
import {
  Action,
  EVIDENCE_FOLDER,
  MACHINE_FOLDER,
  PACKAGE_FILES,
  PACKAGE_FORMAT,
  PACKAGE_FORMAT_VERSION,
  type CollectionRecord,
  type ManifestLine,
} from '../manifest.js'
import { FolderTree, join, type TreePath } from '../tree.js'
import { EvidenceTrouble } from '../trouble.js'
import { copy, copyMasked, sha256Of, type Copy } from './copy.js'
import { decide, nothingMasked, withheldWhole, type Decision, type Wishes } from './decide.js'
import { directoryLine, matchLine, obstacleLine, type Whose } from './line.js'
import { UnscannableError } from './mask.js'
import { homeMatches, movedMatches, obstacles, projectMatches, tempMatches, type Match } from './match.js'
import { StoredNames } from './names.js'
import { packageWriter, type PackageWriter } from './package.js'
import { runningProcesses } from './processes.js'
import { Rules } from './rules.js'
import { hashdeep, sha256Sums, type Sum } from './sums.js'

/** Project paths of a home's records that led nowhere. */
export interface ProjectNames {
  readonly notFound: readonly string[]
  readonly refused: readonly string[]
}

export interface CollectOptions extends Wishes {
  /** The package to write; without one nothing is copied, and the lines say what would be. */
  readonly output?: string
  readonly entries: readonly CatalogEntry[]
  readonly evidence: Evidence
  /** Temp directories of the machine that the evidence comes from. */
  readonly temps: readonly string[]
  /** Has the home look up every project that its records name. */
  readonly nameProjects: (home: Home) => Promise<ProjectNames>
  readonly about: Pick<CollectionRecord, 'case' | 'examiner' | 'tool' | 'catalogs' | 'arguments'>
  /** Called for every line of the manifest. */
  readonly onLine?: (line: ManifestLine) => void
  readonly onProgress?: (progress: Progress) => void
}

export interface Progress {
  readonly files: number
  readonly bytes: number
  /** What is being read. */
  readonly path: string
}

/** What a collection gave. */
export interface Collection {
  readonly record: CollectionRecord
  /** Lines about what was not read, or not read in peace. */
  readonly troubles: readonly ManifestLine[]
  readonly notes: readonly string[]
}

/**
 * Copies what the catalog names, most volatile first: running processes, temp directories, the homes, then the projects that their records
 * name. The evidence is only read.
 */
export async function collect(options: CollectOptions): Promise<Collection> {
  const writer = options.output === undefined ? undefined : packageWriter(options.output)
  try {
    return await new Collector(options, writer).run()
  } catch (error) {
    writer?.abandon()
    throw error
  }
}

class Collector {
  readonly #started = new Date()
  readonly #names = new StoredNames()
  readonly #trees = new Set<FolderTree>()
  readonly #seen = new Set<string>()
  readonly #sums: Sum[] = []
  readonly #counts = Object.fromEntries(Action.options.map((action) => [action, 0])) as Record<Action, number>
  readonly #troubles: ManifestLine[] = []
  readonly #notes: string[] = []
  readonly #log: string[] = []
  readonly #homes: CollectionRecord['homes'] = []
  readonly #temps: CollectionRecord['temp'] = []
  readonly #manifest: TextFile | undefined
  #files = 0
  #bytes = 0

  constructor(
    readonly options: CollectOptions,
    readonly writer: PackageWriter | undefined,
  ) {
    this.#manifest = writer && new TextFile(writer.stage(PACKAGE_FILES.manifest))
  }

  async run(): Promise<Collection> {
    const { evidence } = this.options
    this.#say(`started; evidence: ${evidence.live ? 'this machine, live' : 'copies'}`)
    const processes = evidence.live ? this.#processes() : undefined
    const machine = this.#names.folder(EVIDENCE_FOLDER, MACHINE_FOLDER)
    for (const [i, directory] of this.options.temps.entries()) await this.#temp(directory, `${machine}/temp-${i + 1}`)
    for (const home of evidence.homes) if (home.places().length > 0) await this.#home(home)
    return this.#finish(processes)
  }

  #processes(): string {
    const { lines, problem } = runningProcesses(this.options.entries)
    if (problem !== undefined) this.#note(problem)
    const moving = new Set(
      this.options.entries.flatMap(({ environment }) => environment.flatMap(({ moves, variable }) => (moves ? [variable] : []))),
    )
    for (const { pid, environment } of lines) {
      for (const variable of Object.keys(environment).filter((name) => moving.has(name)))
        this.#note(`process ${pid} runs with ${variable}=${environment[variable]}: its stores may lie there`)
    }
    this.#say(`${lines.length} running processes`)
    return jsonLines(lines)
  }

  async #temp(directory: string, folder: string): Promise<void> {
    const tree = this.#tree(new FolderTree(directory))
    const whose: Whose = { user: '', scope: 'temp', place: below(folder) }
    this.#temps.push({ place: whose.place, directory })
    for (const entry of this.options.entries) {
      await this.#all(tempMatches(tree, this.#rules(entry, 'temp')), '', whose)
      this.#obstacles(tree, whose, entry)
    }
  }

  async #home(home: Home): Promise<void> {
    const folder = this.#names.folder(EVIDENCE_FOLDER, home.user)
    const record = { user: home.user, folder: below(folder), host: home.host, directory: home.directory, stood: [...home.stood] }
    const lists: Pick<CollectionRecord['homes'][number], 'moved' | 'projects'> = { moved: [], projects: [] }
    const places = home.places()
    for (const place of places.filter(({ kind }) => kind === 'moved')) {
      const name = `${folder}/moved-${lists.moved.length + 1}`
      lists.moved.push({ place: below(name), directory: place.moved!.directory, base: place.moved!.base })
      await this.#place(home, place, name)
    }
    for (const place of places.filter(({ kind }) => kind === 'home')) await this.#place(home, place, `${folder}/home`)
    const named = await this.options.nameProjects(home)
    for (const place of home.places().filter(({ kind }) => kind === 'project')) {
      const name = `${folder}/project-${lists.projects.length + 1}`
      const directory = place.tree.absolute(place.prefix).toString('utf8')
      lists.projects.push({ place: below(name), recorded: place.recorded, directory })
      await this.#place(home, place, name)
    }
    this.#say(`home ${JSON.stringify(home.directory)}: ${lists.projects.length} projects found, ${named.notFound.length} not`)
    this.#homes.push({ ...record, ...lists, projects_not_found: [...named.notFound], projects_refused: [...named.refused] })
  }

  async #place(home: Home, place: WalkedFolder, folder: string): Promise<void> {
    const tree = this.#tree(place.tree)
    const scope = place.kind === 'project' ? 'project' : 'home'
    const whose: Whose = { user: home.user, scope, place: below(folder) }
    for (const entry of this.options.entries) {
      const rules = this.#rules(entry, scope)
      await this.#all(matchesIn(place, rules), place.prefix, whose)
      this.#obstacles(tree, whose, entry)
    }
  }

  #rules(entry: CatalogEntry, scope: ManifestLine['scope']): Rules {
    return new Rules(entry, scope, this.options)
  }

  #tree(tree: FolderTree): FolderTree {
    this.#trees.add(tree)
    return tree
  }

  async #all(matches: readonly Match[], prefix: TreePath, whose: Whose): Promise<void> {
    for (const match of matches) if (this.#isNew(match.tree, match.at)) await this.#one(match, prefix, whose)
  }

  /** Each path once, whichever home, project or agent it is found for; what we write ourselves, never. */
  #isNew(tree: FolderTree, at: TreePath): boolean {
    const key = join(tree.identity(''), at)
    if (this.#seen.has(key) || (this.writer && key.startsWith(`${this.writer.partial}${path.sep}`))) return false
    this.#seen.add(key)
    return true
  }

  #obstacles(tree: FolderTree, whose: Whose, entry: CatalogEntry): void {
    for (const obstacle of obstacles(tree)) if (this.#isNew(tree, obstacle.at)) this.#put(obstacleLine(obstacle, whose, entry.agent))
  }

  async #one(match: Match, prefix: TreePath, whose: Whose): Promise<void> {
    this.options.onProgress?.({ files: this.#files, bytes: this.#bytes, path: match.sourceFile })
    const decision = decide(match, this.options)
    if (!this.writer || (decision.action !== 'copied' && decision.action !== 'redacted'))
      return this.#put(matchLine(match, whose, decision, {}))
    const stored = this.#names.path(`${EVIDENCE_FOLDER}/${whose.place}`, prefix === '' ? match.at : match.at.slice(prefix.length + 1))
    const staged = this.writer.stage(stored)
    try {
      await this.#keep(match, whose, decision, stored, await this.#copy(match, decision, staged))
    } catch (error) {
      fs.rmSync(staged, { force: true })
      this.#put(notKept(match, whose, decision, error))
    }
  }

  #copy({ tree, at, listing }: Match, { mask }: Decision, staged: string): Promise<Copy> {
    return mask ? copyMasked(tree, at, listing, staged, mask) : copy(tree, at, listing, staged)
  }

  async #keep(match: Match, whose: Whose, decision: Decision, stored: string, made: Copy): Promise<void> {
    const { listing, changed } = made
    await this.writer!.add(stored, { atimeNs: listing.detail?.atimeNs ?? listing.mtimeNs, mtimeNs: listing.mtimeNs })
    this.#sums.push({ stored, size: made.storedSize, sha256: made.storedSha256 })
    this.#files++
    this.#bytes += made.storedSize
    const told = made.masked === 0 ? nothingMasked(match) : decision
    const done: Decision = changed === undefined ? told : { ...told, action: 'changed' }
    this.#put(matchLine(match, whose, done, { stored, copy: made, problem: changed }))
  }

  #put(line: ManifestLine): void {
    this.#counts[line.action]++
    if (line.action === 'failed' || line.action === 'changed') this.#troubles.push(line)
    if (line.action !== 'copied') this.#say(`${line.action} ${JSON.stringify(line.original_path)}: ${line.problem ?? line.reason}`)
    this.#manifest?.write(`${JSON.stringify(line)}\n`)
    this.options.onLine?.(line)
  }

  async #finish(processes: string | undefined): Promise<Collection> {
    const manifest = this.#manifest?.close()
    const record = this.#record(manifest?.sha256 ?? sha256Of(''))
    if (this.writer && manifest) {
      await this.#add(PACKAGE_FILES.manifest, manifest)
      await this.#own(PACKAGE_FILES.directories, jsonLines(this.#directories()))
      if (processes !== undefined) await this.#own(PACKAGE_FILES.processes, processes)
      await this.#own(PACKAGE_FILES.collection, `${JSON.stringify(record, null, 2)}\n`)
      this.#say(`ended; SHA-256 of the manifest: ${record.manifest_sha256}`)
      await this.#own(PACKAGE_FILES.log, this.#log.map((line) => `${line}\n`).join(''))
      await this.#own(PACKAGE_FILES.hashdeep, hashdeep(this.#sums))
      await this.#own(PACKAGE_FILES.sums, sha256Sums(this.#sums))
      await this.writer.finish()
    }
    return { record, troubles: this.#troubles, notes: this.#notes }
  }

  #directories() {
    return [...this.#trees]
      .flatMap((tree) => tree.directories().map((listed) => directoryLine(tree, listed)))
      .sort((a, b) => byCodeUnit(a.original_path, b.original_path))
  }

  #record(manifest_sha256: string): CollectionRecord {
    const { evidence, about } = this.options
    return {
      format: PACKAGE_FORMAT,
      format_version: PACKAGE_FORMAT_VERSION,
      case: about.case,
      examiner: about.examiner,
      host: evidence.host || (evidence.live ? os.hostname() : ''),
      collected_on: { host: os.hostname(), platform: process.platform, release: os.release(), arch: process.arch, user: userName() },
      tool: about.tool,
      catalogs: about.catalogs,
      arguments: about.arguments,
      started: this.#started.toISOString(),
      ended: new Date().toISOString(),
      live: evidence.live,
      includes_credentials: this.options.includeCredentials === true,
      includes_databases: this.options.noDatabases !== true,
      homes: this.#homes,
      temp: this.#temps,
      counts: this.#counts,
      files: this.#files,
      bytes: this.#bytes,
      manifest_sha256,
    }
  }

  async #own(stored: string, text: string): Promise<void> {
    fs.writeFileSync(this.writer!.stage(stored), text, { mode: 0o600 })
    await this.#add(stored, { size: Buffer.byteLength(text), sha256: sha256Of(text) })
  }

  async #add(stored: string, sum: Omit<Sum, 'stored'>): Promise<void> {
    const now = BigInt(this.#started.getTime()) * 1_000_000n
    await this.writer!.add(stored, { atimeNs: now, mtimeNs: now })
    this.#sums.push({ stored, ...sum })
  }

  #note(text: string): void {
    this.#notes.push(text)
    this.#say(text)
  }

  #say(text: string): void {
    this.#log.push(`${new Date().toISOString()} ${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"')}`)
  }
}

/** Why a file that was to be copied was not. Only what the evidence is to blame for; the rest goes on. */
function notKept(match: Match, whose: Whose, decision: Decision, error: unknown): ManifestLine {
  if (error instanceof UnscannableError) return matchLine(match, whose, withheldWhole(decision, error.message), {})
  if (!(error instanceof EvidenceTrouble)) throw error
  const now = match.tree.list(match.at)
  const replaced = now?.kind === 'link' || now?.kind === 'special' ? now.kind : undefined
  const action = replaced ?? 'failed'
  const problem = replaced ? `was a file when it was listed, and then a ${replaced}: ${error.problem}` : error.problem
  return matchLine(replaced ? { ...match, listing: now! } : match, whose, { ...decision, action, containsCredentials: false }, { problem })
}

function matchesIn(place: WalkedFolder, rules: Rules): Match[] {
  if (place.moved) return movedMatches({ ...place, moved: place.moved }, rules)
  return place.kind === 'project' ? projectMatches(place, rules) : homeMatches(place, rules)
}

/** A text file that is hashed as it is written. */
class TextFile {
  readonly #fd: number
  readonly #hash: Hash = createHash('sha256')
  #size = 0
  #waiting: string[] = []

  constructor(file: string) {
    this.#fd = fs.openSync(file, 'wx', 0o600)
  }

  write(text: string): void {
    this.#waiting.push(text)
    if (this.#waiting.length >= 256) this.#flush()
  }

  close(): { readonly size: number; readonly sha256: string } {
    this.#flush()
    fs.closeSync(this.#fd)
    return { size: this.#size, sha256: this.#hash.digest('hex') }
  }

  #flush(): void {
    const bytes = Buffer.from(this.#waiting.join(''))
    this.#waiting = []
    this.#hash.update(bytes)
    for (let written = 0; written < bytes.length;) written += fs.writeSync(this.#fd, bytes, written)
    this.#size += bytes.length
  }
}

function jsonLines(records: readonly unknown[]): string {
  return records.map((record) => `${JSON.stringify(record)}\n`).join('')
}

/** A path in the package as it stands below `evidence/`. */
function below(folder: string): string {
  return folder.slice(EVIDENCE_FOLDER.length + 1)
}

function userName(): string {
  try {
    return os.userInfo().username
  } catch {
    return ''
  }
}
