import { letta, type Store } from '../catalog/index.js'
import { byCodeUnit } from '../rows/index.js'
import { driveOf, recordedHomes, recordedPath, type RecordedPath } from './recorded-path.js'
import { walk } from './sub-tree.js'
import { join, readable, treePath, type Tree, type TreePath } from './tree.js'
import { EvidenceTrouble } from './trouble.js'

/** A home directory found on a machine. */
export interface FoundHome {
  readonly at: TreePath
  readonly user: string
  /** Where it may have stood: more than one when a copy does not tell. */
  readonly stood: readonly RecordedPath[]
  /** Projects that the source itself names. */
  readonly projects?: readonly string[]
}

/** What a machine's homes are told by: the catalog's stores. */
export interface HomeMarks {
  /** Directories that an agent makes in a home: `.letta`, `.config/letta`. */
  readonly directories: readonly string[]
  /** Patterns of files that lie in a home and in no project. */
  readonly homeOnly: readonly string[]
}

export function homeMarks(stores: readonly Store[] = letta.stores): HomeMarks {
  const home = stores.filter(({ scope }) => scope === 'home').flatMap(({ globs }) => globs)
  const project = new Set(stores.filter(({ scope }) => scope === 'project').flatMap(({ globs }) => globs))
  const directories = new Set(home.flatMap((glob) => /^\.config\/[^/*{]+(?=\/)|^\.[^/*{]+(?=\/)/.exec(glob)?.[0] ?? []))
  for (const shared of ['.config', '.local', '.git', '.agents']) directories.delete(shared)
  return { directories: [...directories], homeOnly: home.filter((glob) => !project.has(glob)) }
}

/** Folders of homes, by lower case; macOS keeps root's in `var/root`. */
const HOLDERS = ['home', 'users', 'documents and settings']
const MORE_HOLDERS = ['export/home', 'usr/home', 'u']
const ROOT_HOMES = ['root', 'var/root', 'private/var/root']
const PASSWD = ['etc/passwd', 'private/etc/passwd']
/** No one's own: counted as a home only when an agent left something there. */
const NOBODYS = ['shared', 'public', 'default', 'default user', 'defaultuser0', 'all users', 'guest', 'lost+found']

/** One machine's files, as a mounted image or a collection holds them. */
export class Machine {
  readonly #volumes: readonly Volume[]
  /** What kept homes from being found: a folder of homes that cannot be listed. */
  readonly troubles: EvidenceTrouble[] = []

  constructor(
    readonly tree: Tree,
    /** Where the tree lies, as a person named it: its end can tell where bare folders stood. */
    readonly label: string,
  ) {
    this.#volumes = volumesOf(tree)
  }

  /** Every home: standard places, the account list, and any other directory in which an agent left what it leaves in homes. */
  async homes(marks: HomeMarks): Promise<FoundHome[]> {
    const found = new Map<TreePath, FoundHome>()
    const add = (home: FoundHome) => {
      if (!found.has(home.at)) found.set(home.at, home)
    }
    for (const volume of this.#volumes) for (const home of this.#standardHomes(volume, marks)) add(home)
    for (const home of await this.#accountHomes(marks)) add(home)
    this.troubles.push(...this.tree.takeTroubles())
    for (const home of this.#markedHomes(marks, [...found.keys()])) add(home)
    // Folders on the way that are not ours to read say nothing of homes.
    this.tree.takeTroubles()
    return [...found.values()].sort((a, b) => byCodeUnit(a.at, b.at))
  }

  /** Where a recorded absolute path lies, if a directory is there. Windows paths match whatever their case. */
  find(recorded: RecordedPath): TreePath | undefined {
    const windows = recorded.style === 'windows'
    const hasDrives = this.#volumes.some(({ drive }) => drive !== '')
    for (const { drive, at } of this.#volumes) {
      const fits = windows ? (hasDrives ? drive === recorded.drive : true) : drive === ''
      const place = fits ? walk(this.tree, at, recorded.segments.map(treePath), windows) : undefined
      if (place !== undefined) return place
    }
    return undefined
  }

  *#standardHomes(volume: Volume, marks: HomeMarks): Generator<FoundHome> {
    for (const holder of holdersIn(this.tree, volume)) {
      for (const name of this.tree.names(holder).sort()) {
        const at = join(holder, name)
        if (this.tree.list(at)?.kind !== 'directory') continue
        if (NOBODYS.includes(name.toLowerCase()) && !isMarked(this.tree, at, marks)) continue
        yield { at, user: readable(name), stood: stoodIn(volume, at) }
      }
    }
    if (volume.drive !== '') return
    for (const at of ROOT_HOMES) if (this.tree.list(at)?.kind === 'directory') yield { at, user: 'root', stood: stoodIn(volume, at) }
  }

  /** Accounts whose home is elsewhere; system accounts (`/usr/sbin`) only when an agent left something there. */
  async #accountHomes(marks: HomeMarks): Promise<FoundHome[]> {
    const homes: FoundHome[] = []
    for (const file of PASSWD) {
      for (const line of (await smallText(this.tree, file)).split('\n')) {
        const recorded = recordedPath(line.split(':')[5] ?? '')
        const at = recorded && this.find(recorded)
        if (!recorded || at === undefined || !isMarked(this.tree, at, marks)) continue
        homes.push({ at, user: recorded.segments.at(-1) ?? '', stood: [recorded] })
      }
    }
    return homes
  }

  /** Homes in no known place: CyLR brings no account list, and a zip of one home begins with it. Below a home, folders are its projects. */
  *#markedHomes(marks: HomeMarks, known: readonly TreePath[]): Generator<FoundHome> {
    const holders = new Set(
      marks.directories
        .filter((mark) => !mark.includes('/'))
        .flatMap((mark) => this.tree.find('', atDepths(mark), { ignore: NOT_SEARCHED, deep: DEEPEST_HOME + 1 }))
        .map((at) => at.slice(0, Math.max(0, at.lastIndexOf('/')))),
    )
    const taken = [...known]
    for (const at of [...holders].sort((a, b) => a.length - b.length || byCodeUnit(a, b))) {
      if (taken.some((home) => home === '' || at === home || at.startsWith(`${home}/`))) continue
      if (this.tree.find(at, marks.homeOnly).length === 0) continue
      taken.push(at)
      yield { at, user: readable(at.slice(at.lastIndexOf('/') + 1)), stood: this.#stoodBare(at) }
    }
  }

  #stoodBare(at: TreePath): RecordedPath[] {
    const volume = this.#volumes.find(({ drive, at: root }) => drive !== '' && at.startsWith(`${root}/`)) ?? this.#volumes[0]!
    const segments = readable(at).split('/').filter(Boolean)
    const name = segments.at(-1)
    if (name === undefined || volume.drive !== '') return stoodIn(volume, at)
    const byEnd = recordedHomes(`${this.label}/${readable(at)}`)
    const usual: RecordedPath[] = [
      { style: 'posix', drive: '', segments: ['home', name] },
      { style: 'posix', drive: '', segments: ['Users', name] },
      { style: 'windows', drive: '', segments: ['Users', name] },
    ]
    if (byEnd.length > 0) return byEnd
    return segments.length === 1 ? [...usual, { style: 'posix', drive: '', segments }] : [{ style: 'posix', drive: '', segments }]
  }
}

/** A drive of Windows, or the one root of any machine. */
interface Volume {
  /** `C:`; empty for the root. */
  readonly drive: string
  readonly at: TreePath
}

const DEEPEST_HOME = 3
const NOT_SEARCHED = [
  '{proc,sys,dev,run,snap,nix,usr,boot,Windows,Program Files*,ProgramData}/**',
  '**/{node_modules,.git}/**',
  '__MACOSX/**',
]

function atDepths(mark: string): string[] {
  return Array.from({ length: DEEPEST_HOME + 1 }, (_, depth) => `${'*/'.repeat(depth)}${mark}`)
}

function volumesOf(tree: Tree): Volume[] {
  const drives = tree.names('').flatMap((name) => {
    const drive = driveOf(name)
    return drive !== undefined && tree.list(name)?.kind === 'directory' ? [{ drive, at: name }] : []
  })
  return [{ drive: '', at: '' }, ...drives]
}

function holdersIn(tree: Tree, { drive, at }: Volume): TreePath[] {
  const standard = tree
    .names(at)
    .filter((name) => HOLDERS.includes(name.toLowerCase()))
    .map((name) => join(at, name))
  const more = drive === '' ? MORE_HOLDERS : []
  return [...standard, ...more].filter((holder) => tree.list(holder)?.kind === 'directory').sort()
}

function stoodIn({ drive, at }: Volume, home: TreePath): RecordedPath[] {
  if (drive === '') {
    const usual = recordedHomes(`/${readable(home)}`)
    return usual.length > 0 ? usual : [{ style: 'posix', drive, segments: readable(home).split('/') }]
  }
  return [{ style: 'windows', drive, segments: readable(home.slice(at.length + 1)).split('/') }]
}

function isMarked(tree: Tree, at: TreePath, marks: HomeMarks): boolean {
  return marks.directories.some((mark) => tree.list(join(at, mark)) !== undefined)
}

/** Whether a directory looks like the root of a machine, or holds homes or is one: a place where reading begins. */
export function holdsHomes(tree: Tree, marks: HomeMarks): boolean {
  const names = tree.names('')
  if (isMarked(tree, '', marks) || PASSWD.some((at) => tree.list(at)?.kind === 'file')) return true
  const isDirectory = (at: TreePath) => tree.list(at)?.kind === 'directory'
  if (names.some((name) => HOLDERS.includes(name.toLowerCase()) && isDirectory(name))) return true
  if (volumesOf(tree).some((volume) => volume.drive !== '' && holdersIn(tree, volume).length > 0)) return true
  return names.some((name) => isDirectory(name) && isMarked(tree, name, marks))
}

const SMALL = 4 * 2 ** 20

async function smallText(tree: Tree, at: TreePath): Promise<string> {
  const listing = tree.list(at)
  if (listing?.kind !== 'file' || listing.size > SMALL) return ''
  const parts: Buffer[] = []
  try {
    for await (const chunk of tree.read(at, listing)) parts.push(Buffer.from(chunk))
  } catch (error) {
    if (!(error instanceof EvidenceTrouble)) throw error
  }
  return Buffer.concat(parts).toString('utf8')
}

/** `etc/hostname` of a Linux root; empty where there is none. */
export async function etcHostname(tree: Tree): Promise<string> {
  const name = (await smallText(tree, 'etc/hostname')).trim()
  return /^[A-Za-z0-9._-]{1,255}$/.test(name) ? name : ''
}
