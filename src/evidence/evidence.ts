import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import picomatch from 'picomatch'
import type { Store } from '../catalog/index.js'
import { byCodeUnit } from '../rows/index.js'
import { EvidenceFile } from './file.js'
import { below, recordedBelow, recordedHomes, recordedPath, slashed, type RecordedPath } from './recorded-path.js'
import { FolderTree, join, readable, treePath, type Tree, type TreePath } from './tree.js'
import { EvidenceTrouble, EvidenceUsageError } from './trouble.js'

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
}

/** Folders in which nobody keeps a project of their own. */
const NEVER_ENTERED = ['**/node_modules/**', '**/.git/**', '**/.hg/**', '**/.svn/**']
/** `.letta` folders are looked for in a project folder and up to this many folders below it (rows.md, Permission settings). */
const FOLDERS_BELOW_PROJECT = 4

/** The machine or the copies that a run reads. */
export class Evidence {
  readonly homes: readonly Home[]
  readonly host: string
  readonly live: boolean

  constructor(options: EvidenceOptions = {}) {
    this.live = options.live === true || (options.homes ?? []).length === 0
    this.host = options.host ?? ''
    const directories = options.homes?.length ? options.homes : [os.homedir()]
    const were = options.homesWere ?? []
    if (were.length > directories.length) throw new EvidenceUsageError('there are more --home-was than --home')
    const users = options.users ?? []
    // On a live machine an account is what it is: there a name only chooses.
    const named = !this.live && directories.length === 1 && users.length === 1 ? users[0] : undefined
    const homes = directories.map((directory, i) => {
      assertDirectory(directory, '--home')
      return new Home(directory, { live: this.live, was: were[i], user: named, moved: options.moved ?? [], host: this.host })
    })
    this.homes = users.length === 0 ? homes : homes.filter((home) => users.includes(home.user))
    if (this.homes.length === 0) {
      throw new EvidenceUsageError(`--user ${users.join(', ')}: no such account here, only ${homes.map(({ user }) => user).join(', ')}`)
    }
    for (const directory of options.projectDirs ?? []) {
      assertDirectory(directory, '--project-dir')
      const home = this.homes.find((home) => home.holds(directory)) ?? this.homes[0]!
      home.addProjectDirectory(directory)
    }
  }
}

function assertDirectory(directory: string, flag: string): void {
  const stat = fs.statSync(directory, { throwIfNoEntry: false })
  if (!stat) throw new EvidenceUsageError(`${flag} ${directory}: no such directory`)
  if (!stat.isDirectory()) throw new EvidenceUsageError(`${flag} ${directory}: this is a file, not a directory`)
}

interface HomeOptions {
  readonly live: boolean
  readonly was: string | undefined
  readonly user: string | undefined
  readonly moved: readonly MovedStore[]
  readonly host: string
}

/** A directory that may hold an agent's project files. */
interface ProjectPlace {
  readonly tree: Tree
  readonly prefix: TreePath
  readonly recorded: string
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
  readonly #stood: readonly RecordedPath[]
  readonly #moved: readonly { readonly store: MovedStore; readonly tree: FolderTree }[]
  readonly #projects = new Map<string, ProjectPlace>()
  /** Trees beside the home's own, each with what stands for its root in logical paths. */
  readonly #extraTrees: { readonly tree: FolderTree; readonly base: string }[] = []

  /** Files of the home in whose place one of a moved store is read. */
  #shadowed: EvidenceTrouble[] = []

  constructor(directory: string, options: HomeOptions) {
    this.directory = path.resolve(directory)
    this.host = options.host
    this.#live = options.live
    this.#tree = new FolderTree(this.directory)
    const was = options.was === undefined ? undefined : recordedPath(options.was)
    if (options.was !== undefined && !was) throw new EvidenceUsageError(`--home-was ${options.was}: not an absolute path of a machine`)
    this.#stood = was ? [was] : recordedHomes(this.directory)
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
    if (!listing || listing.kind === 'directory') return
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
    const place = this.#placeInHome(wanted) ?? (this.#live ? this.#placeOnMachine(wanted) : undefined)
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
    for (const at of this.#tree.find(
      '',
      project.flatMap((store) => store.globs),
    ))
      seen.add(this.#tree.identity(at))
    for (const place of [...this.#projects.values()].sort((a, b) => byCodeUnit(a.recorded, b.recorded))) {
      for (const at of place.tree
        .find(place.prefix, anyDepth(project), { ignore: NEVER_ENTERED, deep: FOLDERS_BELOW_PROJECT + 2 })
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

  #tracked(tree: FolderTree, base: string): FolderTree {
    this.#extraTrees.push({ tree, base })
    return tree
  }

  #placeInHome(wanted: RecordedPath): Omit<ProjectPlace, 'recorded'> | undefined {
    for (const stood of this.#stood) {
      const segments = below(wanted, stood)
      const prefix = segments && this.#walk(segments, wanted.style === 'windows')
      if (prefix !== undefined) return { tree: this.#tree, prefix }
    }
    return undefined
  }

  /** Step by step from the home, each a directory and not a link; on Windows paths whatever the case. */
  #walk(segments: readonly string[], ignoreCase: boolean): TreePath | undefined {
    let at: TreePath = ''
    for (const segment of segments) {
      const wanted = treePath(segment)
      const name = ignoreCase ? this.#tree.names(at).find((name) => name.toLowerCase() === wanted.toLowerCase()) : wanted
      if (name === undefined) return undefined
      at = join(at, name)
      if (this.#tree.list(at)?.kind !== 'directory') return undefined
    }
    return at
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

function isMadeUp({ segments }: RecordedPath): boolean {
  return ['proc', 'sys', 'dev'].includes(segments[0] ?? '')
}

function homeText(stood: RecordedPath): string {
  return stood.style === 'windows' ? [stood.drive || 'C:', ...stood.segments].join('\\') : `/${stood.segments.join('/')}`
}

/** Which store a logical path falls under: the first whose globs match, in catalog order. */
export function matcher(stores: readonly Store[]): (path: string) => string | undefined {
  const tests = stores.map((store) => ({ id: store.id, test: picomatch([...store.globs], { dot: true }) }))
  return (path) => tests.find(({ test }) => test(path))?.id
}

function movedGlobs(stores: readonly Store[], moved: MovedStore): string[] {
  const globs = stores
    .flatMap((store) => store.globs)
    .filter((glob) => moved.paths.some((usual) => glob === usual || glob.startsWith(`${usual}/`)))
  return globs.map((glob) => glob.slice(moved.base.length + 1))
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
  if (!listing || listing.kind === 'directory') return undefined
  return new EvidenceFile(place.tree, at, listing, {
    store: match(shortPath)!,
    path: `${slashed(project)}/${shortPath}`,
    shortPath,
    project,
  })
}
