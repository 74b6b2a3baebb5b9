import fs from 'node:fs'
import path from 'node:path'
import { Readable } from 'node:stream'
import { list as listTar, type ReadEntry } from 'tar'
import yauzl from 'yauzl'
import { byCodeUnit } from '../../rows/index.js'
import { EvidenceUsageError } from '../trouble.js'

/** One entry of a package, as it stands there. */
export interface PackagedFile {
  /** Its name in the package, `/` as separator, as recorded: never a path on this disk. */
  readonly name: string
  readonly kind: 'file' | 'link' | 'special'
}

/** Called for each entry in turn; the bytes are only valid while it runs. */
export type Visitor = (file: PackagedFile, bytes: AsyncIterable<Buffer>) => Promise<void>

/** A package that cannot be read to its end. */
export class BrokenPackageError extends Error {
  constructor(problem: string) {
    super(problem)
    this.name = 'BrokenPackageError'
  }
}

/** Reads every entry of a package: a folder, a `.zip` or a `.tar.gz`. Nothing is unpacked, no link is followed. */
export async function visitPackage(at: string, visit: Visitor): Promise<void> {
  const stat = fs.statSync(at, { throwIfNoEntry: false })
  if (!stat) throw new EvidenceUsageError(`${at}: no such package`)
  if (stat.isDirectory()) return visitFolder(path.resolve(at), '', visit)
  if (!stat.isFile()) throw new EvidenceUsageError(`${at}: neither a folder nor an archive`)
  const form = formOf(at)
  if (!form) throw new EvidenceUsageError(`${at}: neither a zip nor a gzip file`)
  try {
    await form(at, visit)
  } catch (error) {
    throw error instanceof Error && isArchiveError(error) ? new BrokenPackageError(error.message) : error
  }
}

/** What the first bytes say, whatever the name does. */
function formOf(at: string): typeof visitZip | undefined {
  const head = Buffer.alloc(4)
  const fd = fs.openSync(at, 'r')
  fs.readSync(fd, head, 0, 4, 0)
  fs.closeSync(fd)
  if (head.subarray(0, 2).equals(Buffer.from('PK'))) return visitZip
  return head.subarray(0, 2).equals(Buffer.from([0x1f, 0x8b])) ? visitTar : undefined
}

/** Errors of the archive libraries have no system call; those of this disk do. */
function isArchiveError(error: NodeJS.ErrnoException): boolean {
  return error.syscall === undefined && !(error instanceof TypeError)
}

async function visitFolder(root: string, below: string, visit: Visitor): Promise<void> {
  for (const entry of fs.readdirSync(path.join(root, below), { withFileTypes: true }).sort((a, b) => byCodeUnit(a.name, b.name))) {
    const name = below === '' ? entry.name : `${below}/${entry.name}`
    if (entry.isDirectory()) await visitFolder(root, name, visit)
    else if (entry.isFile()) await visit({ name, kind: 'file' }, bytesOf(path.join(root, name)))
    else await visit({ name, kind: entry.isSymbolicLink() ? 'link' : 'special' }, nothing())
  }
}

async function* bytesOf(file: string): AsyncGenerator<Buffer> {
  const fd = fs.openSync(file, fs.constants.O_RDONLY | (fs.constants.O_NOFOLLOW ?? 0))
  try {
    const buffer = Buffer.allocUnsafe(1 << 20)
    for (let length = fs.readSync(fd, buffer); length > 0; length = fs.readSync(fd, buffer)) yield buffer.subarray(0, length)
  } finally {
    fs.closeSync(fd)
  }
}

async function* nothing(): AsyncGenerator<Buffer> {}

async function visitZip(at: string, visit: Visitor): Promise<void> {
  const zip = await yauzl.openPromise(at, { lazyEntries: true, autoClose: false, strictFileNames: true })
  try {
    for await (const entry of zip.eachEntry()) {
      const name = entry.fileName
      if (name.endsWith('/')) continue
      const link = entry.externalFileAttributes >>> 28 === 0xa
      const stream = await zip.openReadStreamPromise(entry)
      await visit({ name, kind: link ? 'link' : 'file' }, stream)
    }
  } finally {
    zip.close()
  }
}

async function visitTar(at: string, visit: Visitor): Promise<void> {
  const visits: Promise<void>[] = []
  const onReadEntry = (entry: ReadEntry) => {
    const kind = entry.type === 'File' || entry.type === 'OldFile' ? 'file' : entry.type.endsWith('Link') ? 'link' : 'special'
    if (entry.type === 'Directory' || entry.type === 'GNUDumpDir') entry.resume()
    else visits.push(visit({ name: entry.path, kind }, Readable.from(entry as AsyncIterable<Buffer>)))
  }
  await listTar({ file: at, strict: true, onReadEntry })
  await Promise.all(visits)
}
