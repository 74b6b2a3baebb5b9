import fs from 'node:fs'
import { Readable } from 'node:stream'
import zlib from 'node:zlib'
import type { Listing, TreePath } from '../tree.js'
import { treePathOf } from '../tree.js'
import { EvidenceTrouble } from '../trouble.js'
import type { Member } from '../member-tree.js'
import type { Archive, ArchiveIndex } from './archive.js'
import { entryName } from './entry-name.js'
import { isBomb, type ArchiveLimits } from './limits.js'
import { Spool } from './spool.js'

/** Bytes at offsets: a tar on disk, or an unpacked one. */
interface Bytes {
  readonly size: number
  read(offset: number, length: number): Buffer
}

/**
 * Indexes a tar by the offsets of its entries (POSIX.1-2001 pax and ustar; GNU long names), so that no entry is ever unpacked to a path.
 * Our own reader, because names must stay bytes and times nanoseconds, and entries are read in any order: no library gives the three.
 */
export async function openTar(fd: number, index: ArchiveIndex, limits: ArchiveLimits): Promise<Archive> {
  const size = fs.fstatSync(fd).size
  const file = { size, read: (offset: number, length: number) => readAt(fd, offset, Math.min(length, Math.max(0, size - offset))) }
  indexTar(file, index, limits)
  return { kind: 'tar', comment: '', everyEntryZip64: false, close: () => fs.closeSync(fd) }
}

/** A gzip stream cannot be read at an offset: the tar inside is unpacked as one piece, into memory or a private file (`Spool`). */
export async function openTarGz(fd: number, index: ArchiveIndex, limits: ArchiveLimits, tempDir?: string | null): Promise<Archive> {
  const spool = new Spool(limits.memory, tempDir)
  try {
    const problem = await unpack(fd, spool, limits)
    if (problem !== undefined) index.refuse('', problem)
    indexTar(spool, index, limits)
  } catch (error) {
    spool.close()
    throw error
  } finally {
    fs.closeSync(fd)
  }
  return { kind: 'tar', comment: '', everyEntryZip64: false, close: () => spool.close() }
}

async function unpack(fd: number, spool: Spool, limits: ArchiveLimits): Promise<string | undefined> {
  const packed = { read: 0 }
  const unpacked = Readable.from(chunksOf(fd, packed)).pipe(zlib.createGunzip())
  try {
    for await (const chunk of unpacked) {
      spool.append(chunk as Buffer)
      if (isBomb(spool.size, packed.read, limits)) return `was unpacked no further than ${spool.size} bytes, out of ${packed.read}`
      if (spool.size > limits.total) return `was unpacked no further than ${spool.size} bytes`
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === 'write') throw error
    return `breaks off after ${spool.size} unpacked bytes: ${(error as Error).message}`
  }
  return undefined
}

function* chunksOf(fd: number, packed: { read: number }): Generator<Buffer> {
  for (;;) {
    const chunk = readAt(fd, packed.read, PACKED_CHUNK)
    if (chunk.length === 0) return
    packed.read += chunk.length
    yield chunk
  }
}

function readAt(fd: number, offset: number, length: number): Buffer {
  const buffer = Buffer.allocUnsafe(length)
  let done = 0
  while (done < length) {
    const got = fs.readSync(fd, buffer, done, length - done, offset + done)
    if (got === 0) break
    done += got
  }
  return buffer.subarray(0, done)
}

const BLOCK = 512
const CHUNK = 1 << 20
const PACKED_CHUNK = 1 << 16
/** Names and pax records over this are not names. */
const LONGEST_RECORD = 1 << 20

/** What precedes an entry and speaks of it: pax records, or the long names of GNU tar. */
interface Before {
  readonly pax: ReadonlyMap<string, Buffer>
  readonly longName?: Buffer
  readonly longLink?: Buffer
}

function indexTar(bytes: Bytes, index: ArchiveIndex, limits: ArchiveLimits): void {
  const files = new Map<TreePath, Member>()
  let global: ReadonlyMap<string, Buffer> = new Map()
  let before: Before = { pax: new Map() }
  let entries = 0
  for (let offset = 0; offset + BLOCK <= bytes.size;) {
    const header = bytes.read(offset, BLOCK)
    if (header.every((byte) => byte === 0)) {
      offset += BLOCK
      continue
    }
    if (!hasChecksum(header)) return index.refuse('', `is damaged at byte ${offset} of the tar: what follows was not read`)
    if (++entries > limits.entries) return index.refuse('', `holds more than ${limits.entries} entries; those after them were not read`)
    const type = String.fromCharCode(header[156]!)
    const size = sizeOf(header, before)
    const start = offset + BLOCK + sparseMap(bytes, header, offset + BLOCK)
    offset = start + Math.ceil(size / BLOCK) * BLOCK
    if (type === 'x' || type === 'g' || type === 'L' || type === 'K') {
      if (size > LONGEST_RECORD) return index.refuse('', `has a name record of ${size} bytes at byte ${start}: what follows was not read`)
      const record = bytes.read(start, size)
      if (type === 'g') global = new Map([...global, ...paxRecords(record)])
      if (type === 'x') before = { ...before, pax: paxRecords(record) }
      if (type === 'L') before = { ...before, longName: untilNul(record) }
      if (type === 'K') before = { ...before, longLink: untilNul(record) }
      continue
    }
    note({ header, type, size, start, before: { ...before, pax: new Map([...global, ...before.pax]) } }, bytes, files, index)
    before = { pax: new Map() }
  }
}

interface RawEntry {
  readonly header: Buffer
  readonly type: string
  readonly size: number
  readonly start: number
  readonly before: Before
}

function note(entry: RawEntry, bytes: Bytes, files: Map<TreePath, Member>, index: ArchiveIndex): void {
  const stored = nameOf(entry)
  const name = entryName(stored, false)
  if ('refused' in name) return index.refuse(stored, name.refused)
  if (entry.type === '5' || (isFile(entry.type) && stored.endsWith('/'))) return index.directory(name.at)
  if (entry.type === '1') return noteHardLink(entry, name.at, files, index)
  const member = { listing: listing(entry), read: reader(entry, bytes) }
  if (member.listing.kind === 'file' && !files.has(name.at)) files.set(name.at, member)
  index.member(name.at, member)
}

/** A second name for bytes that came before under another: read from there. */
function noteHardLink(entry: RawEntry, at: TreePath, files: Map<TreePath, Member>, index: ArchiveIndex): void {
  const { pax, longLink } = entry.before
  const target = entryName(treePathOf(pax.get('linkpath') ?? longLink ?? untilNul(entry.header.subarray(157, 257))), false)
  const member = 'at' in target ? files.get(target.at) : undefined
  if (!member) return index.refuse(at, 'is a hard link to something that is not in the archive before it')
  index.member(at, { ...member, listing: { ...member.listing } })
}

/** Blocks of GNU's old sparse format that continue the map in the header, and stand before the data. */
function sparseMap(bytes: Bytes, header: Buffer, after: number): number {
  if (header[156] !== 0x53) return 0
  let length = 0
  for (let goesOn = header[482]; goesOn === 1; length += BLOCK) goesOn = bytes.read(after + length, BLOCK)[504]
  return length
}

function isFile(type: string): boolean {
  return type === '0' || type === '\0' || type === '7'
}

function listing(entry: RawEntry): Listing {
  const kind = entry.type === '2' ? 'link' : isFile(entry.type) && !isSparse(entry) ? 'file' : 'special'
  return { kind, size: entry.size, mtimeNs: mtimeOf(entry), mtimeFrom: 'archive' }
}

function isSparse({ before }: RawEntry): boolean {
  return [...before.pax.keys()].some((key) => key.startsWith('GNU.sparse.'))
}

function reader({ start, size }: RawEntry, bytes: Bytes): Member['read'] {
  return async function* () {
    for (let done = 0; done < size;) {
      const chunk = bytes.read(start + done, Math.min(CHUNK, size - done))
      if (chunk.length === 0) throw new EvidenceTrouble('', `is cut off after ${done} of ${size} bytes: the archive ends there`)
      yield chunk
      done += chunk.length
    }
  }
}

function nameOf({ header, before }: RawEntry): TreePath {
  const long = before.pax.get('GNU.sparse.name') ?? before.pax.get('path') ?? before.longName
  if (long) return treePathOf(long)
  const name = treePathOf(untilNul(header.subarray(0, 100)))
  const prefix = header.toString('latin1', 257, 263) === 'ustar\0' ? treePathOf(untilNul(header.subarray(345, 500))) : ''
  return prefix === '' ? name : `${prefix}/${name}`
}

function sizeOf(header: Buffer, before: Before): number {
  const recorded = before.pax.get('size')
  const size = recorded ? Number(recorded.toString('latin1')) : Number(numberOf(header.subarray(124, 136)))
  return Number.isSafeInteger(size) && size >= 0 ? size : 0
}

function mtimeOf({ header, before }: RawEntry): bigint {
  const recorded = before.pax.get('mtime')?.toString('latin1')
  const precise = recorded === undefined ? undefined : /^(\d+)(?:\.(\d+))?$/.exec(recorded)
  if (precise) return BigInt(precise[1]!) * 1_000_000_000n + BigInt((precise[2] ?? '').slice(0, 9).padEnd(9, '0'))
  return numberOf(header.subarray(136, 148)) * 1_000_000_000n
}

/** Octal digits, or base 256 when the first bit is set (GNU). */
function numberOf(field: Buffer): bigint {
  if ((field[0]! & 0x80) === 0) {
    const digits = /^[ \0]*([0-7]+)/.exec(field.toString('latin1'))
    return digits ? BigInt(`0o${digits[1]}`) : 0n
  }
  if (field[0]! === 0xff) return -1n
  return field.subarray(1).reduce((value, byte) => (value << 8n) | BigInt(byte), BigInt(field[0]! & 0x7f))
}

function hasChecksum(header: Buffer): boolean {
  let sum = 0
  for (const [i, byte] of header.entries()) sum += i >= 148 && i < 156 ? 32 : byte
  return numberOf(header.subarray(148, 156)) === BigInt(sum)
}

/** `<length> <key>=<value>\n`, the length counting itself. */
function paxRecords(record: Buffer): Map<string, Buffer> {
  const found = new Map<string, Buffer>()
  for (let at = 0; at < record.length;) {
    const space = record.indexOf(0x20, at)
    const length = space === -1 ? NaN : Number(record.toString('latin1', at, space))
    const equals = record.indexOf(0x3d, space)
    if (!Number.isInteger(length) || length <= 0 || at + length > record.length || equals === -1 || equals >= at + length) break
    found.set(record.toString('latin1', space + 1, equals), record.subarray(equals + 1, at + length - 1))
    at += length
  }
  return found
}

function untilNul(field: Buffer): Buffer {
  const end = field.indexOf(0)
  return end === -1 ? field : field.subarray(0, end)
}
