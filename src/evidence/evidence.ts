import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import picomatch from 'picomatch'
import type { Store } from '../catalog/index.js'
import { byCodeUnit } from '../rows/index.js'
import type { ArchiveLimits } from './archive/index.js'
import { EvidenceFile } from './file.js'
import { MemberTree } from './member-tree.js'
import { below, recordedBelow, recordedHomes, recordedPath, slashed, type RecordedPath } from './recorded-path.js'
import type { OpenMachine, OpenSources } from './sources.js'
import { treeAt, walk } from './sub-tree.js'
import { FolderTree, join, matchable, readable, treePath, type Tree, type TreePath } from './tree.js'
import { EvidenceTrouble, EvidenceUsageError, problemOf } from './trouble.js'

/** A store that an environment variable had moved: where it is now, and which usual paths it stands for. */
export interface MovedStore {
  readonly directory: string
  /** The usual directory that `directory` takes the place of, and the usual paths below it that moved. */
  readonly base: string
  readonly paths: readonly string[]
}

export interface EvidenceOptions {
  /** Copied homes; none means the home of whoever runs the program, live. */
  readonly homes?: readonly string[]
  /** Where each home stood on its own machine, when its name does not say. */
  readonly homesWere?: readonly string[]
  /** The homes stand where they stood: this machine is the evidence. */
  readonly live?: boolean
  readonly projectDirs?: readonly string[]
  readonly moved?: readonly MovedStore[]
  /** Names a copied home; with several homes, keeps only these accounts. */
  readonly users?: readonly string[]
  readonly host?: string
  /** Mounted images and unpacked collections: every home in them is found. */
  readonly roots?: readonly string[]
  /** Packages of `collect` and of other collectors: folders or archives. */
  readonly packages?: readonly string[]
  /** What homes in roots and packages are told by; Letta Code's stores when left out. */
  readonly stores?: readonly Store[]
  /** Where a large compressed tar is unpacked to; null: nowhere. */
  readonly tempDir?: string | null
  readonly archiveLimits?: Partial<ArchiveLimits>
}

/** Folders in which nobody keeps a project of their own. */
export const NEVER_ENTERED = ['**/node_modules/**', '**/.git/**', '**/.hg/**', '**/.svn/**']
/** `.letta` folders are looked for in a project folder and up to this many folders below it (rows.md, Permission settings). */
export const FOLDERS_BELOW_PROJECT = 4

const NO_SOURCES: OpenSources = { machines: [], live: false, close: () => {} }

/** The machine or the copies that a run reads. */
export class Evidence {
  readonly homes: readonly Home[]
  readonly host: string
  readonly live: boolean
  /** The packages read, as folders or files of this machine. */
  readonly packages: readonly string[]
  /** The packages of our own among them, with the SHA-256 of each one's manifest as it is now. */
  readonly manifests: readonly { readonly package: string; readonly sha256: string }[]
  readonly #close: () => void

  /** Opens what the options name, roots and packages too. */
  static async open(options: EvidenceOptions = {}): Promise<Evidence> {
    if (!options.roots?.length && !options.packages?.length) return new Evidence(options)
    const { openSources } = await import('./sources.js')
    return new Evidence(options, await openSources(options))
  }

  /** Homes only; roots and packages need `open`. */
  constructor(options: EvidenceOptions = {}, sources: OpenSources = NO_SOURCES) {
    const given = options.homes ?? []
    this.live = options.live === true || (given.length === 0 && sources.machines.length === 0) || sources.live
    this.host = options.host ?? ''
    this.packages = options.packages ?? []
    this.manifests = sources.machines.flatMap(({ machine, manifestSha256: sha256 }) => (sha256 ? { package: machine.label, sha256 } : []))
    this.#close = sources.close
    const directories = given.length > 0 || sources.machines.length > 0 ? given : [os.homedir()]
    const were = options.homesWere ?? []
    if (were.length > directories.length) throw new EvidenceUsageError('there are more --home-was than --home')
    const users = options.users ?? []
    // On a live machine an account is what it is: there a name only chooses.
    const named = !this.live && directories.length === 1 && users.length === 1 ? users[0] : undefined
    const homes = directories.map((directory, i) => {
      assertDirectory(directory, '--home')
      return new Home(directory, { live: this.live, was: were[i], user: named, moved: options.moved ?? [], host: this.host })
    })
    const twice = homes.find((home, i) => homes.findIndex(({ user }) => user === home.user) < i)
    if (twice)
      throw new EvidenceUsageError(
        `two homes belong to ${twice.user}, and no row could say which: read each by itself, with --host or --user`,
      )
    const found = homesOn(sources.machines, options)
    const all = [...homes.map(({ user }) => user), ...sources.machines.flatMap((on) => on.homes.map(({ user }) => user))]
    this.homes = [...(users.length === 0 ? homes : homes.filter((home) => users.includes(home.user))), ...found]
    if (this.homes.length === 0) throw new EvidenceUsageError(`--user ${users.join(', ')}: no such account here, only ${all.join(', ')}`)
    for (const directory of options.projectDirs ?? []) {
      assertDirectory(directory, '--project-dir')
      const home = this.homes.find((home) => home.holds(directory)) ?? this.homes[0]!
      home.addProjectDirectory(directory)
    }
  }

  /** Lets go of open archives and of what was unpacked. */
  close(): void {
    this.#close()
  }
}

/** The homes of machines in roots and packages, and a place without an account for what else of each source was not read. */
function homesOn(machines: readonly OpenMachine[], options: EvidenceOptions): Home[] {
  const users = options.users ?? []
  return machines.flatMap((on) => {
    const host = options.host ?? on.host
    const trees = on.homes.map(({ at }) => treeAt(on.machine.tree, at))
    const homes = on.homes.map((found, i) => {
      const directory = path.join(on.machine.label, readable(found.at))
      const unnamed = found.user === '' && users.length === 1 ? users[0] : undefined
      const user = unnamed ?? found.user
      const home = new Home(directory, {
        live: false,
        was: undefined,
        user,
        moved: [],
        host,
        tree: trees[i]!,
        stood: found.stood,
        on,
        siblings: trees,
      })
      for (const project of found.projects ?? []) home.nameProject(project)
      return home
    })
    const wanted = users.length > 0 ? homes.filter(({ user }) => users.includes(user)) : homes
    if (on.troubles.length === 0 && homes.length > 0) return wanted
    const rest = new MemberTree(`${on.machine.label}\0rest`)
    for (const { path, problem } of on.troubles) rest.note(treePath(path), problem)
    return [...wanted, new Home(on.machine.label, { live: false, was: undefined, user: '', moved: [], host, tree: rest, stood: [], on })]
  })
}

function assertDirectory(directory: string, flag: string): void {
  const stat = statOf(directory, flag)
  if (!stat) throw new EvidenceUsageError(`${flag} ${directory}: no such directory`)
  if (!stat.isDirectory()) throw new EvidenceUsageError(`${flag} ${directory}: this is a file, not a directory`)
}

function statOf(directory: string, flag: string): fs.Stats | undefined {
  try {
    return fs.statSync(directory)
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined
    throw new EvidenceUsageError(`${flag} ${directory} ${problemOf(error)}`)
  }
}

interface HomeOptions {
  readonly live: boolean
  readonly was: string | undefined
  readonly user: string | undefined
  readonly moved: readonly MovedStore[]
  readonly host: string
  /** The home in a root or a package, instead of a directory of this machine. */
  readonly tree?: Tree
  readonly stood?: readonly RecordedPath[]
  /** The machine that it belongs to: recorded paths elsewhere on it are found. */
  readonly on?: OpenMachine
  /** The homes of that machine: each reads its own settings. */
  readonly siblings?: readonly Tree[]
}

/** A directory that may hold an agent's project files. */
interface ProjectPlace {
  readonly tree: Tree
  readonly prefix: TreePath
  readonly recorded: string
}

/** A folder that a collection walks: a store that was moved, the home itself, or a project. */
export interface WalkedFolder {
  readonly kind: 'moved' | 'home' | 'project'
  readonly tree: FolderTree
  readonly prefix: TreePath
  /** The project as recorded; empty for the others. */
  readonly recorded: string
  readonly moved?: MovedStore
}

/** What became of a project path that a record names. */
export type ProjectOutcome = 'found' | 'not-found' | 'refused'

/** One account's home directory. */
export class Home {
  readonly user: string
  readonly host: string
  readonly directory: string
  readonly #tree: Tree
  readonly #live: boolean
  readonly #on: OpenMachine | undefined
  readonly #siblings: readonly Tree[]
  readonly #stood: readonly RecordedPath[]
  readonly #moved: readonly { readonly store: MovedStore; readonly tree: FolderTree }[]
  readonly #projects = new Map<string, ProjectPlace>()
  /** Trees beside the home's own, each with what stands for its root in logical paths. */
  readonly #extraTrees: { readonly tree: Tree; readonly base: string }[] = []

  /** Files of the home in whose place one of a moved store is read. */
  #shadowed: EvidenceTrouble[] = []

  constructor(directory: string, options: HomeOptions) {
    this.directory = path.resolve(directory)
    this.host = options.host
    this.#live = options.live
    this.#on = options.on
    this.#siblings = options.siblings ?? []
    this.#tree = options.tree ?? new FolderTree(this.directory)
    const was = options.was === undefined ? undefined : recordedPath(options.was)
    if (options.was !== undefined && !was) throw new EvidenceUsageError(`--home-was ${options.was}: not an absolute path of a machine`)
    this.#stood = was ? [was] : (options.stood ?? recordedHomes(this.directory))
    this.user = options.user ?? was?.segments.at(-1) ?? path.basename(this.directory)
    this.#moved = options.moved.map((store) => {
      assertDirectory(store.directory, 'moved store')
      return { store, tree: this.#tracked(new FolderTree(store.directory), store.base) }
    })
  }

  /** Every file of the home that falls under one of these stores, in order of logical path. */
  files(stores: readonly Store[]): EvidenceFile[] {
    const home = stores.filter((store) => store.scope === 'home')
    const usual = this.#tree.find(
      '',
      home.flatMap((store) => store.globs),
    )
    const match = matcher(home)
    const named = new Map<string, EvidenceFile>()
    for (const moved of this.#moved) {
      const found = moved.tree.find('', movedGlobs(home, moved.store))
      for (const at of found) this.#add(named, moved.tree, at, join(moved.store.base, readable(at)), match)
    }
    for (const at of usual) this.#add(named, this.#tree, at, readable(at), match)
    return [...named.values()].sort((a, b) => byCodeUnit(a.path, b.path))
  }

  #add(named: Map<string, EvidenceFile>, tree: Tree, at: TreePath, logical: string, match: (path: string) => string | undefined): void {
    const store = match(logical)
    if (store === undefined) return
    const listing = tree.list(at)
    if (!listing || listing.kind === 'directory' || isAppleDouble(tree, at)) return
    if (named.has(logical)) {
      this.#shadowed.push(new EvidenceTrouble(logical, 'stands in the moved store too; only that one was read'))
      return
    }
    named.set(logical, new EvidenceFile(tree, at, listing, { store, path: logical, shortPath: logical, project: '' }))
  }

  /**
   * Looks up a project path that a record names, inside the evidence only: below the home's own recorded location, on a live machine
   * anywhere on it. UNC, device and relative paths are refused, links are not followed (architecture.md).
   */
  nameProject(recorded: string): ProjectOutcome {
    if (this.#projects.has(slashed(recorded))) return 'found'
    const wanted = recordedPath(recorded)
    if (!wanted) return 'refused'
    const place =
      this.#placeInHome(wanted) ?? this.#placeOnImage(wanted, recorded) ?? (this.#live ? this.#placeOnMachine(wanted) : undefined)
    if (!place) return 'not-found'
    this.#projects.set(slashed(recorded), { ...place, recorded })
    return 'found'
  }

  /** Whether a directory of this machine is the home or lies in it. */
  holds(directory: string): boolean {
    const inHome = path.relative(this.directory, path.resolve(directory))
    return inHome.split(path.sep)[0] !== '..' && !path.isAbsolute(inHome)
  }

  /** A project directory that a person names: where it lies in the home gives its recorded path, else its path here. */
  addProjectDirectory(directory: string): void {
    const absolute = path.resolve(directory)
    const stood = this.#stood[0]
    if (this.holds(absolute) && stood) {
      const segments = path
        .relative(this.directory, absolute)
        .split(path.sep)
        .filter((segment) => segment !== '')
      const recorded = recordedBelow(homeText(stood), segments)
      this.#projects.set(slashed(recorded), { tree: this.#tree, prefix: join(...segments.map(treePath)), recorded })
      return
    }
    this.#projects.set(absolute, { tree: this.#tracked(new FolderTree(absolute), slashed(absolute)), prefix: '', recorded: absolute })
  }

  /** The files of every project named so far that fall under these stores; each file once. The home's own are read as the home's. */
  projectFiles(stores: readonly Store[], seen: Set<string>): EvidenceFile[] {
    const project = stores.filter((store) => store.scope === 'project')
    const match = matcher(project)
    const files: EvidenceFile[] = []
    for (const home of new Set([this.#tree, ...this.#siblings])) {
      const own = home.find(
        '',
        project.flatMap((store) => store.globs),
      )
      for (const at of own) seen.add(home.identity(at))
    }
    for (const place of [...this.#projects.values()].sort((a, b) => byCodeUnit(a.recorded, b.recorded))) {
      for (const at of place.tree
        .find(place.prefix, anyDepth(project), { ignore: NEVER_ENTERED, deep: FOLDERS_BELOW_PROJECT + depthOf(project) })
        .sort(byCodeUnit)) {
        const file = projectFile(place, at, match)
        const identity = place.tree.identity(at)
        if (!file || seen.has(identity)) continue
        seen.add(identity)
        files.push(file)
      }
    }
    return files
  }

  /** Where the home may have stood on its own machine. */
  get stood(): string[] {
    return this.#stood.map(homeText)
  }

  /** What a collection walks: moved stores, the home, then the projects named so far in order of path; only what lies in folders. */
  places(): WalkedFolder[] {
    const moved = this.#moved.map(({ store, tree }) => ({ kind: 'moved' as const, tree, prefix: '', recorded: '', moved: store }))
    const home = { kind: 'home' as const, tree: this.#tree, prefix: '', recorded: '' }
    const projects = [...this.#projects.values()]
      .sort((a, b) => byCodeUnit(a.recorded, b.recorded))
      .map((place) => ({ kind: 'project' as const, ...place }))
    return [...moved, home, ...projects].flatMap((place) => (place.tree instanceof FolderTree ? { ...place, tree: place.tree } : []))
  }

  /** A path that could not be listed, as a file without bytes or time, for the row that says so. */
  unlisted(at: string): EvidenceFile {
    const listing = { kind: 'special', size: 0, mtimeNs: -1n, mtimeFrom: 'filesystem' } as const
    return new EvidenceFile(this.#tree, treePath(at), listing, { store: 'unlisted', path: at, shortPath: at, project: '' })
  }

  /** What could not be listed since the last call. */
  takeTroubles(): EvidenceTrouble[] {
    const named = this.#extraTrees.flatMap(({ tree, base }) =>
      tree.takeTroubles().map(({ path, problem }) => new EvidenceTrouble(join(base, path), problem)),
    )
    const shadowed = this.#shadowed
    this.#shadowed = []
    return [...this.#tree.takeTroubles(), ...named, ...shadowed]
  }

  #tracked<T extends Tree>(tree: T, base: string): T {
    this.#extraTrees.push({ tree, base })
    return tree
  }

  #placeInHome(wanted: RecordedPath): Omit<ProjectPlace, 'recorded'> | undefined {
    for (const stood of this.#stood) {
      const segments = below(wanted, stood)
      const prefix = segments && walk(this.#tree, '', segments.map(treePath), wanted.style === 'windows')
      if (prefix !== undefined) return { tree: this.#tree, prefix }
    }
    return undefined
  }

  /** Anywhere on the machine that a root or a package shows. */
  #placeOnImage(wanted: RecordedPath, recorded: string): Omit<ProjectPlace, 'recorded'> | undefined {
    const at = this.#on?.machine.find(wanted)
    return at === undefined ? undefined : { tree: this.#tracked(treeAt(this.#on!.machine.tree, at), slashed(recorded)), prefix: '' }
  }

  /** On a live machine the machine is the evidence; what the kernel makes up is not. */
  #placeOnMachine(wanted: RecordedPath): Omit<ProjectPlace, 'recorded'> | undefined {
    if ((wanted.style === 'windows') !== (process.platform === 'win32')) return undefined
    if (isMadeUp(wanted)) return undefined
    const absolute = `${wanted.drive}${path.sep}${wanted.segments.join(path.sep)}`
    try {
      const real = fs.realpathSync(absolute)
      const place = recordedPath(real)
      if (!place || isMadeUp(place) || !fs.statSync(real).isDirectory()) return undefined
      return { tree: this.#tracked(new FolderTree(real), slashed(absolute)), prefix: '' }
    } catch {
      return undefined
    }
  }
}

/** `._name` beside `name`: what macOS keeps of a file's attributes on other file systems, no record of an agent (AppleDouble, RFC 1740). */
function isAppleDouble(tree: Tree, at: TreePath): boolean {
  const cut = at.lastIndexOf('/') + 1
  return at.startsWith('._', cut) && tree.list(`${at.slice(0, cut)}${at.slice(cut + 2)}`) !== undefined
}

function isMadeUp({ segments }: RecordedPath): boolean {
  return ['proc', 'sys', 'dev'].includes(segments[0] ?? '')
}

function homeText(stood: RecordedPath): string {
  return stood.style === 'windows' ? [stood.drive || 'C:', ...stood.segments].join('\\') : `/${stood.segments.join('/')}`
}

/** Which store a logical path falls under: the first whose globs match, in catalog order. */
export function matcher(stores: readonly Store[]): (path: string) => string | undefined {
  const tests = stores.map((store) => ({ id: store.id, test: picomatch([...store.globs], { dot: true }) }))
  return (path) => tests.find(({ test }) => test(matchable(path)))?.id
}

function movedGlobs(stores: readonly Store[], moved: MovedStore): string[] {
  const globs = stores
    .flatMap((store) => store.globs)
    .filter((glob) => moved.paths.some((usual) => glob === usual || glob.startsWith(`${usual}/`)))
  return moved.base === '' ? globs : globs.map((glob) => glob.slice(moved.base.length + 1))
}

/** The most folders and name that one of these stores' paths has. */
function depthOf(stores: readonly Store[]): number {
  return Math.max(0, ...stores.flatMap((store) => store.globs).map((glob) => glob.split('/').length))
}

function anyDepth(stores: readonly Store[]): string[] {
  return stores.flatMap((store) => store.globs).map((glob) => `**/${glob}`)
}

/** Splits a path below a project into the folder that holds `.letta`, which is its own project, and the rest. */
function projectFile(place: ProjectPlace, at: TreePath, match: (path: string) => string | undefined): EvidenceFile | undefined {
  const belowProject = readable(place.prefix === '' ? at : at.slice(place.prefix.length + 1)).split('/')
  const depth = belowProject.findIndex((_, i) => i <= FOLDERS_BELOW_PROJECT && match(belowProject.slice(i).join('/')) !== undefined)
  if (depth === -1) return undefined
  const shortPath = belowProject.slice(depth).join('/')
  const project = recordedBelow(place.recorded, belowProject.slice(0, depth))
  const listing = place.tree.list(at)
  if (!listing || listing.kind === 'directory' || isAppleDouble(place.tree, at)) return undefined
  return new EvidenceFile(place.tree, at, listing, {
    store: match(shortPath)!,
    path: `${slashed(project)}/${shortPath}`,
    shortPath,
    project,
  })
}
