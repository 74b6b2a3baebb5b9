import { isUtf8 } from 'node:buffer'
import fs from 'node:fs'
import path from 'node:path'
import glob, { type FileSystemAdapter } from 'fast-glob'
import picomatch from 'picomatch'
import type { MtimeFrom } from '../rows/index.js'
import { EvidenceTrouble, problemOf } from './trouble.js'

/** What a listing says of a path. `link` and `special` are named, never opened. */
export interface Listing {
  readonly kind: 'file' | 'directory' | 'link' | 'special'
  readonly size: number
  readonly mtimeNs: bigint
  readonly mtimeFrom: MtimeFrom
  /** Identity on its device and bytes really allocated, where the source knows them. */
  readonly device?: bigint
  readonly inode?: bigint
  readonly allocated?: number
  /** What else the source knows; a collection keeps it. */
  readonly detail?: ListingDetail
}

export interface ListingDetail {
  readonly mode: number
  readonly uid: number
  readonly gid: number
  readonly links: number
  readonly atimeNs: bigint
  readonly ctimeNs: bigint
  readonly birthtimeNs: bigint
}

/** A directory whose names were read, as it stood before: reading them changes its access time. */
export interface ListedDirectory {
  readonly at: TreePath
  readonly listing: Listing
}

export interface FindOptions {
  /** Directories that are not entered. */
  readonly ignore?: readonly string[]
  /** How many levels below `prefix` are entered. */
  readonly deep?: number
}

/** A path below a tree's root: `/` separators, names as the bytes that the source holds, each byte one character (latin1). */
export type TreePath = string

/** A directory tree that is evidence: a folder, or what an archive or a package holds. Read-only by construction. */
export interface Tree {
  find(prefix: TreePath, globs: readonly string[], options?: FindOptions): TreePath[]
  list(at: TreePath): Listing | undefined
  names(at: TreePath): string[]
  /** The file's bytes in order. A chunk is only valid until the next one is asked for. */
  read(at: TreePath, listed: Listing): AsyncGenerator<Buffer>
  /** Names one path across the trees of one run, so that nothing is read twice. */
  identity(at: TreePath): string
  /** What could not be listed at or below a directory since the last call, under paths relative to it. */
  takeTroubles(below?: TreePath): EvidenceTrouble[]
}

const IS_LINK = 'is a symbolic link, which is not followed'
const CHUNK = 1 << 18
const SPARSE_FROM = 1 << 20
const OPEN_FLAGS =
  fs.constants.O_RDONLY |
  (fs.constants.O_NOFOLLOW ?? 0) |
  (fs.constants.O_NONBLOCK ?? 0) |
  ((fs.constants as { O_NOATIME?: number }).O_NOATIME ?? 0)
const OPEN_FLAGS_NOT_OWNER = OPEN_FLAGS & ~((fs.constants as { O_NOATIME?: number }).O_NOATIME ?? 0)
const BYTES = process.platform !== 'win32'

/**
 * Bytes of a name, each as one character, to the text that people read; bytes that are not UTF-8 are written `\xff`, so that two
 * names never look the same.
 */
export function readable(at: TreePath): string {
  if (!BYTES) return at
  const bytes = Buffer.from(at, 'latin1')
  return isUtf8(bytes) ? bytes.toString('utf8') : withEscapes(bytes)
}

const LONGEST_CHARACTER = 4

function withEscapes(bytes: Buffer): string {
  let text = ''
  for (let start = 0; start < bytes.length;) {
    let end = Math.min(start + LONGEST_CHARACTER, bytes.length)
    while (end > start && !isOneCharacter(bytes.subarray(start, end))) end--
    text += end > start ? bytes.toString('utf8', start, end) : `\\x${bytes[start]!.toString(16).padStart(2, '0')}`
    start = Math.max(end, start + 1)
  }
  return text
}

function isOneCharacter(bytes: Buffer): boolean {
  return isUtf8(bytes) && [...bytes.toString('utf8')].length === 1
}

/** A name as an archive stores it, as a tree path. */
export function treePathOf(bytes: Buffer): TreePath {
  return bytes.toString(BYTES ? 'latin1' : 'utf8')
}

/** The inverse of `readable` for a name that is text. */
export function treePath(text: string): TreePath {
  return BYTES ? Buffer.from(text, 'utf8').toString('latin1') : text
}

export function join(...parts: TreePath[]): TreePath {
  return parts.filter((part) => part !== '').join('/')
}

/** The troubles of a tree by path, handed out once, each under its path relative to the directory that asks. */
export class Troubles {
  readonly #noted = new Map<TreePath, string>()

  note(at: TreePath, problem: string): void {
    this.#noted.set(at, problem)
  }

  take(below: TreePath = ''): EvidenceTrouble[] {
    const inside = below === '' ? '' : `${below}/`
    const taken = [...this.#noted].filter(([at]) => at === below || at.startsWith(inside))
    for (const [at] of taken) this.#noted.delete(at)
    return taken.map(([at, problem]) => new EvidenceTrouble(readable(at === below ? at : at.slice(inside.length)), problem))
  }
}

/** Where fast-glob believes that it works; the adapter maps it onto the tree, so that names can stay bytes. */
const VIRTUAL_ROOT = path.resolve('/evidence')

/** Line breaks in names, which the pattern `**` does not match, and what stands for them while fast-glob works: no byte's character. */
const LINE_BREAKS = /[\n\r]/g
const STAND_INS = /[\u240a\u240d]/g

/** A path as patterns match it: `**` in picomatch stops at a line break. */
export function matchable(at: string): string {
  return at.replace(LINE_BREAKS, (character) => (character === '\n' ? '\u240a' : '\u240d'))
}

function fromMatchable(at: string): string {
  return at.replace(STAND_INS, (character) => (character === '\u240a' ? '\n' : '\r'))
}

/** A folder on this machine's disk. Nothing below its root is reached through a link. */
export class FolderTree implements Tree {
  readonly #root: string
  #rootBytes: Buffer
  #realRoot: TreePath
  readonly #troubles = new Troubles()
  readonly #plainDirectories = new Map<TreePath, Listing>()
  readonly #listed = new Map<TreePath, Listing>()
  /** Links passed by while directories were listed. */
  readonly #links = new Set<TreePath>()

  constructor(root: string) {
    this.#root = path.resolve(root)
    this.#rootBytes = Buffer.from(this.#root === path.sep ? '' : this.#root)
    this.#realRoot = realPath(this.#root)
  }

  /** A directory of this folder as a folder of its own. */
  below(at: TreePath): FolderTree {
    if (at === '') return this
    const inside = new FolderTree(path.join(this.#root, readable(at)))
    inside.#rootBytes = this.#real(at)
    inside.#realRoot = join(this.#realRoot, at)
    return inside
  }

  find(prefix: TreePath, globs: readonly string[], options: FindOptions = {}): TreePath[] {
    if (!this.#isPlainDirectory(prefix)) return []
    const found = glob.sync([...globs], {
      cwd: path.join(VIRTUAL_ROOT, matchable(prefix)),
      fs: this.#adapter,
      dot: true,
      onlyFiles: false,
      followSymbolicLinks: false,
      suppressErrors: true,
      ignore: [...(options.ignore ?? [])],
      ...(options.deep === undefined ? {} : { deep: options.deep }),
    })
    this.#noteLinks(prefix, globs)
    return found.map((at) => join(prefix, fromMatchable(at)))
  }

  list(at: TreePath): Listing | undefined {
    if (!this.#isPlainDirectory(parent(at))) return undefined
    try {
      return listing(fs.lstatSync(this.#real(at), { bigint: true }))
    } catch (error) {
      this.#note(at, error)
      return undefined
    }
  }

  names(at: TreePath): string[] {
    if (!this.#isPlainDirectory(at)) return []
    try {
      this.#noteListed(at)
      return fs.readdirSync(this.#real(at), { encoding: 'latin1' as BufferEncoding })
    } catch (error) {
      this.#note(at, error)
      return []
    }
  }

  async *read(at: TreePath, listed: Listing): AsyncGenerator<Buffer> {
    const fd = this.#open(at, listed)
    try {
      const buffer = Buffer.allocUnsafe(Math.max(1, Math.min(CHUNK, listed.size + 1)))
      for (;;) {
        const length = this.#readInto(at, fd, buffer)
        if (length === 0) return
        yield buffer.subarray(0, length)
      }
    } finally {
      fs.closeSync(fd)
    }
  }

  /** Below the root no link is followed, so only the root itself can have two names. */
  identity(at: TreePath): string {
    return join(this.#realRoot, at)
  }

  takeTroubles(below?: TreePath): EvidenceTrouble[] {
    return this.#troubles.take(below)
  }

  /** Every directory whose names were read so far, each as it stood before the first time. */
  directories(): ListedDirectory[] {
    return [...this.#listed].map(([at, listing]) => ({ at, listing }))
  }

  /** The path on this machine, as bytes. */
  absolute(at: TreePath): Buffer {
    if (at !== '') return this.#real(at)
    return this.#rootBytes.length === 0 ? Buffer.from(path.sep) : this.#rootBytes
  }

  /** Where a link points, as it stands there; undefined when it cannot be told. */
  target(at: TreePath): string | undefined {
    if (!this.#isPlainDirectory(parent(at))) return undefined
    try {
      return readable(fs.readlinkSync(this.#real(at), { encoding: 'latin1' as BufferEncoding }))
    } catch {
      return undefined
    }
  }

  /** Opens only what was listed: a regular file, the same one, with its bytes really there. */
  #open(at: TreePath, listed: Listing): number {
    const name = readable(at)
    const problem = unreadableAs(listed)
    if (problem !== undefined) throw new EvidenceTrouble(name, problem)
    if (!this.#isPlainDirectory(parent(at))) throw new EvidenceTrouble(name, `lies behind ${IS_LINK.slice(3)}`)
    const real = this.#real(at)
    let fd: number
    try {
      fd = openWithoutAccessTime(real)
    } catch (error) {
      throw new EvidenceTrouble(name, problemOf(error))
    }
    const opened = fs.fstatSync(fd, { bigint: true })
    if (opened.isFile() && opened.ino === listed.inode && opened.dev === listed.device) return fd
    fs.closeSync(fd)
    throw new EvidenceTrouble(name, 'is not the file that was listed: it was replaced in between')
  }

  #readInto(at: TreePath, fd: number, buffer: Buffer): number {
    try {
      return fs.readSync(fd, buffer, 0, buffer.length, null)
    } catch (error) {
      throw new EvidenceTrouble(readable(at), problemOf(error))
    }
  }

  #real(at: TreePath): Buffer {
    if (!BYTES) return Buffer.from(path.join(this.#root, at))
    return Buffer.concat([this.#rootBytes, Buffer.from(`/${at}`, 'latin1')])
  }

  /** Names each link that stands where a pattern would have entered a directory: what lies behind it was not looked for. */
  #noteLinks(prefix: TreePath, globs: readonly string[]): void {
    if (this.#links.size === 0) return
    const wanted = picomatch([...new Set(globs.flatMap(directoriesOf))], { dot: true })
    for (const at of this.#links) {
      const inside = prefix === '' ? at : at.slice(prefix.length + 1)
      if (wanted(inside)) this.#troubles.note(at, IS_LINK)
    }
    this.#links.clear()
  }

  /** Whether every step from the root to here is a directory itself, not a link to one. */
  #isPlainDirectory(at: TreePath): boolean {
    if (at === '') return true
    if (this.#plainDirectories.has(at)) return true
    return this.#isPlainDirectory(parent(at)) && this.#isDirectory(at)
  }

  #isDirectory(at: TreePath): boolean {
    try {
      const stat = fs.lstatSync(this.#real(at), { bigint: true })
      if (stat.isSymbolicLink()) this.#troubles.note(at, IS_LINK)
      if (stat.isDirectory()) this.#plainDirectories.set(at, listing(stat))
      return stat.isDirectory()
    } catch (error) {
      this.#note(at, error)
      return false
    }
  }

  /** To be called before the names of a directory are read. */
  #noteListed(at: TreePath): void {
    if (this.#listed.has(at)) return
    const known = this.#plainDirectories.get(at) ?? listing(fs.lstatSync(this.#real(at), { bigint: true }))
    this.#listed.set(at, known)
  }

  #note(at: TreePath, error: unknown): void {
    const code = (error as NodeJS.ErrnoException).code
    if (code === 'ENOENT' || code === 'ENOTDIR') return
    this.#troubles.note(at, problemOf(error))
  }

  readonly #adapter: Partial<FileSystemAdapter> = {
    lstatSync: ((at: string) => {
      const inTree = this.#fromVirtual(at)
      if (!this.#isPlainDirectory(parent(inTree))) throw noEntry(at)
      try {
        return fs.lstatSync(this.#real(inTree))
      } catch (error) {
        this.#note(inTree, error)
        throw error
      }
    }) as FileSystemAdapter['lstatSync'],
    statSync: ((at: string) => fs.lstatSync(this.#real(this.#fromVirtual(at)))) as FileSystemAdapter['statSync'],
    readdirSync: ((at: string) => {
      const inTree = this.#fromVirtual(at)
      if (!this.#isPlainDirectory(inTree)) throw noEntry(at)
      try {
        this.#noteListed(inTree)
        const entries = fs.readdirSync(this.#real(inTree), { withFileTypes: true, encoding: 'latin1' as BufferEncoding })
        for (const entry of entries) {
          if (entry.isSymbolicLink()) this.#links.add(join(inTree, entry.name))
          entry.name = matchable(entry.name)
        }
        return entries
      } catch (error) {
        this.#note(inTree, error)
        throw error
      }
    }) as unknown as FileSystemAdapter['readdirSync'],
  }

  #fromVirtual(at: string): TreePath {
    return fromMatchable(path.relative(VIRTUAL_ROOT, at).split(path.sep).join('/'))
  }
}

/** Why a path is never read, by what its listing says; undefined when it may be. */
export function unreadableAs(listed: Listing): string | undefined {
  if (listed.kind === 'link') return IS_LINK
  if (listed.kind !== 'file') return 'is not a regular file'
  if (isSparse(listed)) return `is sparse: ${listed.size} bytes long with ${listed.allocated} allocated; not read`
  return undefined
}

export function parent(at: TreePath): TreePath {
  const cut = at.lastIndexOf('/')
  return cut === -1 ? '' : at.slice(0, cut)
}

/** Where a directory really lies, with `/` separators and none at the end. */
function realPath(directory: string): TreePath {
  try {
    return fs
      .realpathSync(directory, { encoding: 'latin1' as BufferEncoding })
      .split(path.sep)
      .join('/')
      .replace(/\/$/, '')
  } catch {
    return treePath(directory)
  }
}

/** The patterns of the directories that a pattern leads through, but for `**`, which every directory matches. */
function directoriesOf(pattern: string): string[] {
  const steps = pattern.split('/')
  return steps.slice(1).flatMap((_, i) => (steps[i] === '**' ? [] : [steps.slice(0, i + 1).join('/')]))
}

function noEntry(at: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`not entered: ${at}`), { code: 'ENOENT' })
}

function listing(stat: fs.BigIntStats): Listing {
  return {
    kind: stat.isFile() ? 'file' : stat.isDirectory() ? 'directory' : stat.isSymbolicLink() ? 'link' : 'special',
    size: Number(stat.size),
    mtimeNs: stat.mtimeNs,
    mtimeFrom: 'filesystem',
    device: stat.dev,
    inode: stat.ino,
    ...(BYTES ? { allocated: Number(stat.blocks) * 512 } : {}),
    detail: {
      mode: Number(stat.mode),
      uid: Number(stat.uid),
      gid: Number(stat.gid),
      links: Number(stat.nlink),
      atimeNs: stat.atimeNs,
      ctimeNs: stat.ctimeNs,
      birthtimeNs: stat.birthtimeNs,
    },
  }
}

/** Allocated under 1 % of its size: a file made to exhaust its reader. */
export function isSparse(listed: Listing): boolean {
  return listed.allocated !== undefined && listed.size > SPARSE_FROM && listed.allocated < listed.size / 100
}

/** Opens for reading without a trace in the file's access time, where the system lets us; a link is not followed. */
export function openWithoutAccessTime(real: Buffer | string): number {
  try {
    return fs.openSync(real, OPEN_FLAGS)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') throw error
    return fs.openSync(real, OPEN_FLAGS_NOT_OWNER)
  }
}
