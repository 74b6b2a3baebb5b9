import fs from 'node:fs'
import path from 'node:path'
import { MemberTree } from '../member-tree.js'
import { openWithoutAccessTime, readable } from '../tree.js'
import { EvidenceTrouble, EvidenceUsageError } from '../trouble.js'
import type { Archive, ArchiveIndex } from './archive.js'
import { ARCHIVE_LIMITS, type ArchiveLimits } from './limits.js'
import { openTar, openTarGz } from './tar.js'
import { openZip } from './zip.js'

export type { Archive } from './archive.js'
export { ARCHIVE_LIMITS, type ArchiveLimits } from './limits.js'

export interface OpenArchive extends Archive {
  readonly tree: MemberTree
  /** Entries that are not read, each named as `<archive>/<entry>`, with the reason. */
  readonly refused: EvidenceTrouble[]
}

export interface ArchiveOptions {
  readonly limits?: Partial<ArchiveLimits>
  /** Where a compressed tar too large for memory is unpacked to. */
  readonly tempDir?: string | null
}

/** Opens a zip, tar or tar.gz, told by its first bytes. */
export async function openArchive(file: string, options: ArchiveOptions = {}): Promise<OpenArchive> {
  const limits = { ...ARCHIVE_LIMITS, ...options.limits }
  const name = path.basename(file)
  const tree = new MemberTree(path.resolve(file))
  const refused: EvidenceTrouble[] = []
  const refuse = (at: string, problem: string) =>
    void refused.push(new EvidenceTrouble(at === '' ? name : `${name}/${readable(at)}`, problem))
  const index: ArchiveIndex = {
    member: (at, member) => {
      const problem = tree.add(at, member)
      if (problem !== undefined) refuse(at, problem)
    },
    directory: (at) => {
      const problem = tree.addDirectory(at)
      if (problem !== undefined) refuse(at, problem)
    },
    refuse,
  }
  const fd = openWithoutAccessTime(fs.realpathSync(file))
  try {
    const archive = await openFor(fd, file)(fd, index, limits, options.tempDir)
    return { ...archive, tree, refused }
  } catch (error) {
    if (error instanceof EvidenceUsageError) fs.closeSync(fd)
    throw error
  }
}

/** A local header, an empty archive, the first part of a split one. */
const ZIP_MAGIC = ['PK\x03\x04', 'PK\x05\x06', 'PK\x07\x08']

type Open = (fd: number, index: ArchiveIndex, limits: ArchiveLimits, tempDir?: string | null) => Promise<Archive>

const NOT_READ: readonly { readonly magic: string; readonly what: string }[] = [
  { magic: 'vhdxfile', what: 'a VHDX disk image: mount it and pass --root' },
  { magic: 'EVF\x09\x0d\x0a\xff\x00', what: 'an EWF (E01) disk image: mount it and pass --root' },
  { magic: '7z\xbc\xaf\x27\x1c', what: 'a 7-Zip archive: unpack it and pass --root' },
  { magic: '\xfd7zXZ\x00', what: 'packed with xz: unpack it first' },
  { magic: '\x28\xb5\x2f\xfd', what: 'packed with zstd: unpack it first' },
]

function openFor(fd: number, file: string): Open {
  const head = Buffer.alloc(BLOCK)
  fs.readSync(fd, head, 0, BLOCK, 0)
  const text = head.toString('latin1')
  if (ZIP_MAGIC.some((magic) => text.startsWith(magic))) return openZip
  if (text.startsWith('\x1f\x8b')) return openTarGz
  if (text.startsWith('ustar', 257)) return openTar
  const known = NOT_READ.find(({ magic }) => text.startsWith(magic))
  throw new EvidenceUsageError(`--package ${file}: this is ${known?.what ?? 'neither a folder nor a zip, tar or tar.gz archive'}`)
}

const BLOCK = 512
