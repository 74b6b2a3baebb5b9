import fs from 'node:fs'
import path from 'node:path'
import glob, { type FileSystemAdapter } from 'fast-glob'
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
}

export interface FindOptions {
  /** Directories that are not entered. */
  readonly ignore?: readonly string[]
  /** How many levels below `prefix` are entered. */
  readonly deep?: number
}

/** A path below a tree's root: `/` separators, names as the bytes that the source holds, each byte one character (latin1). */
export type TreePath = string

/** A directory tree that is evidence: a folder now, a package or an archive beside it. Read-only by construction. */
export interface Tree {
  find(prefix: TreePath, globs: readonly string[], options?: FindOptions): TreePath[]
  list(at: TreePath): Listing | undefined
  names(at: TreePath): string[]
  /** The file's bytes in order. A chunk is only valid until the next one is asked for. */
  read(at: TreePath, listed: Listing): AsyncGenerator<Buffer>
  /** Names one path across the trees of one run, so that nothing is read twice. */
  identity(at: TreePath): string
  /** What could not be listed, since the last call. */
  takeTroubles(): EvidenceTrouble[]
}

const CHUNK = 1 << 18
const SPARSE_FROM = 1 << 20
const OPEN_FLAGS =
  fs.constants.O_RDONLY |
  (fs.constants.O_NOFOLLOW ?? 0) |
  (fs.constants.O_NONBLOCK ?? 0) |
  ((fs.constants as { O_NOATIME?: number }).O_NOATIME ?? 0)
const OPEN_FLAGS_NOT_OWNER = OPEN_FLAGS & ~((fs.constants as { O_NOATIME?: number }).O_NOATIME ?? 0)
const BYTES = process.platform !== 'win32'

/** Bytes of a name, each as one character, to the text that people read; bytes that are not UTF-8 become U+FFFD. */
export function readable(at: TreePath): string {
  return BYTES ? Buffer.from(at, 'latin1').toString('utf8') : at
}

/** The inverse of `readable` for a name that is text. */
export function treePath(text: string): TreePath {
  return BYTES ? Buffer.from(text, 'utf8').toString('latin1') : text
}

export function join(...parts: TreePath[]): TreePath {
  return parts.filter((part) => part !== '').join('/')
}

/** Where fast-glob believes that it works; the adapter maps it onto the tree, so that names can stay bytes. */
const VIRTUAL_ROOT = path.resolve('/evidence')

/** A folder on this machine's disk. Nothing below its root is reached through a link. */
export class FolderTree implements Tree {
  readonly #root: string
  readonly #rootBytes: Buffer
  readonly #troubles = new Map<string, EvidenceTrouble>()
  readonly #plainDirectories = new Map<TreePath, boolean>()

  constructor(root: string) {
    this.#root = path.resolve(root)
    this.#rootBytes = Buffer.from(this.#root === path.sep ? '' : this.#root)
  }

  find(prefix: TreePath, globs: readonly string[], options: FindOptions = {}): TreePath[] {
    if (!this.#isPlainDirectory(prefix)) return []
    const found = glob.sync([...globs], {
      cwd: path.join(VIRTUAL_ROOT, prefix),
      fs: this.#adapter,
      dot: true,
      onlyFiles: false,
      followSymbolicLinks: false,
      suppressErrors: true,
      ignore: [...(options.ignore ?? [])],
      ...(options.deep === undefined ? {} : { deep: options.deep }),
    })
    return found.map((at) => join(prefix, at))
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

  identity(at: TreePath): string {
    const real = this.#real(at)
    try {
      return fs.realpathSync(real, { encoding: 'latin1' as BufferEncoding })
    } catch {
      return real.toString('latin1')
    }
  }

  takeTroubles(): EvidenceTrouble[] {
    const troubles = [...this.#troubles.values()]
    this.#troubles.clear()
    return troubles
  }

  /** Opens only what was listed: a regular file, the same one, with its bytes really there. */
  #open(at: TreePath, listed: Listing): number {
    const name = readable(at)
    if (listed.kind === 'link') throw new EvidenceTrouble(name, 'is a symbolic link, which is not followed')
    if (listed.kind !== 'file') throw new EvidenceTrouble(name, 'is not a regular file')
    if (isSparse(listed))
      throw new EvidenceTrouble(name, `is sparse: ${listed.size} bytes long with ${listed.allocated} allocated; not read`)
    if (!this.#isPlainDirectory(parent(at))) throw new EvidenceTrouble(name, 'lies behind a symbolic link, which is not followed')
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

  /** Whether every step from the root to here is a directory itself, not a link to one. */
  #isPlainDirectory(at: TreePath): boolean {
    if (at === '') return true
    const known = this.#plainDirectories.get(at)
    if (known !== undefined) return known
    const plain = this.#isPlainDirectory(parent(at)) && this.#isDirectory(at)
    this.#plainDirectories.set(at, plain)
    return plain
  }

  #isDirectory(at: TreePath): boolean {
    try {
      const stat = fs.lstatSync(this.#real(at))
      if (stat.isSymbolicLink()) this.#troubles.set(at, new EvidenceTrouble(readable(at), 'is a symbolic link, which is not followed'))
      return stat.isDirectory()
    } catch (error) {
      this.#note(at, error)
      return false
    }
  }

  #note(at: TreePath, error: unknown): void {
    const code = (error as NodeJS.ErrnoException).code
    if (code === 'ENOENT' || code === 'ENOTDIR') return
    this.#troubles.set(at, new EvidenceTrouble(readable(at), problemOf(error)))
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
        return fs.readdirSync(this.#real(inTree), { withFileTypes: true, encoding: 'latin1' as BufferEncoding })
      } catch (error) {
        this.#note(inTree, error)
        throw error
      }
    }) as unknown as FileSystemAdapter['readdirSync'],
  }

  #fromVirtual(at: string): TreePath {
    return path.relative(VIRTUAL_ROOT, at).split(path.sep).join('/')
  }
}

function parent(at: TreePath): TreePath {
  const cut = at.lastIndexOf('/')
  return cut === -1 ? '' : at.slice(0, cut)
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
    allocated: Number(stat.blocks) * 512,
  }
}

/** Allocated under 1 % of its size: a file made to exhaust its reader. */
function isSparse(listed: Listing): boolean {
  return listed.allocated !== undefined && listed.size > SPARSE_FROM && listed.allocated < listed.size / 100 && BYTES
}

function openWithoutAccessTime(real: Buffer): number {
  try {
    return fs.openSync(real, OPEN_FLAGS)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') throw error
    return fs.openSync(real, OPEN_FLAGS_NOT_OWNER)
  }
}
