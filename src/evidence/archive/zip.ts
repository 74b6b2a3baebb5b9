import fs from 'node:fs'
import { isUtf8 } from 'node:buffer'
import zlib from 'node:zlib'
import yauzl, { type Entry, type ZipFile } from 'yauzl'
import type { Read } from '../member-tree.js'
import { treePath, treePathOf, type Listing, type TreePath } from '../tree.js'
import { EvidenceTrouble } from '../trouble.js'
import { entryName } from './entry-name.js'
import { isBomb, type ArchiveLimits } from './limits.js'
import type { Archive, ArchiveIndex } from './archive.js'

/** Who made an entry, from the upper byte of "version made by" (APPNOTE 4.4.2): these write `\` or code page names at times. */
const MADE_ON_DOS = [0, 10, 11, 14]
const MADE_ON_UNIX = 3
const UTF8_NAME = 0x800
const ENCRYPTED_METHOD = 99
const EXTENDED_TIME = 0x5455
const NTFS_TIMES = 0x000a
const ZIP64 = 1
const LOCAL_HEADER = 30
/** Node 20.15 and later; before that recorded hashes and the unpacking itself are the only checks. */
const HAS_CRC32 = typeof zlib.crc32 === 'function'

/** Reads the central directory; the entries' bytes are read where they lie, in any order. */
export async function openZip(fd: number, index: ArchiveIndex, limits: ArchiveLimits): Promise<Archive> {
  let zip: ZipFile
  try {
    zip = await yauzl.fromFdPromise(fd, { autoClose: false, lazyEntries: true, decodeStrings: false })
  } catch (error) {
    index.refuse('', `cannot be read as a zip: ${(error as Error).message}`)
    return { kind: 'zip', comment: '', everyEntryZip64: false, close: () => fs.closeSync(fd) }
  }
  const entries = await entriesOf(zip, index, limits)
  const overlapping = overlaps(entries, zip.fileSize)
  const encrypted: TreePath[] = []
  let total = 0
  for (const entry of entries) {
    const stored = storedName(entry)
    const name = entryName(stored, isDosName(entry))
    if ('refused' in name) index.refuse(stored, name.refused)
    else if (/[\\/]$/.test(stored)) index.directory(name.at)
    else {
      total += entry.uncompressedSize
      const problem = problemOf(entry, overlapping.has(entry), total, limits)
      if (isEncrypted(entry)) encrypted.push(name.at)
      else if (problem !== undefined) index.refuse(name.at, problem)
      else index.member(name.at, { listing: listing(entry), read: reader(zip, entry) })
    }
  }
  if (encrypted.length > 0)
    index.refuse('', `${encrypted.length} of ${entries.length} entries are encrypted and were not read, the first is ${encrypted[0]}`)
  return {
    kind: 'zip',
    comment: commentOf(zip),
    everyEntryZip64: entries.length > 0 && entries.every((entry) => entry.extraFields.some(({ id }) => id === ZIP64)),
    close: () => zip.close(),
  }
}

async function entriesOf(zip: ZipFile, index: ArchiveIndex, limits: ArchiveLimits): Promise<Entry[]> {
  const entries: Entry[] = []
  try {
    for await (const entry of zip.eachEntry()) {
      if (entries.length >= limits.entries) {
        index.refuse('', `holds more than ${limits.entries} entries; those after them were not read`)
        break
      }
      entries.push(entry)
    }
  } catch (error) {
    index.refuse('', `is damaged after ${entries.length} entries: ${(error as Error).message}`)
  }
  return entries
}

function isEncrypted(entry: Entry): boolean {
  return entry.isEncrypted() || entry.compressionMethod === ENCRYPTED_METHOD
}

function problemOf(entry: Entry, overlapping: boolean, total: number, limits: ArchiveLimits): string | undefined {
  if (overlapping) return 'overlaps another entry'
  if (isBomb(entry.uncompressedSize, entry.compressedSize, limits))
    return `would unpack to ${entry.uncompressedSize} bytes from ${entry.compressedSize}`
  if (total > limits.total) return `would take the archive over ${limits.total} bytes`
  if (!entry.canDecodeFileData() && !isEncrypted(entry)) return `is packed by a method (${entry.compressionMethod}) that is not read`
  return undefined
}

/** Entries whose packed bytes reach into another's: many names for the same bytes are how small zips are made to unpack without end. */
function overlaps(entries: readonly Entry[], fileSize: number): Set<Entry> {
  const found = new Set<Entry>()
  const inOrder = [...entries].sort((a, b) => a.relativeOffsetOfLocalHeader - b.relativeOffsetOfLocalHeader)
  for (const [i, entry] of inOrder.entries()) {
    const end = entry.relativeOffsetOfLocalHeader + LOCAL_HEADER + entry.fileNameLength + entry.compressedSize
    if (end > (inOrder[i + 1]?.relativeOffsetOfLocalHeader ?? fileSize)) found.add(entry)
  }
  return found
}

/** The name's bytes; code page 437 as DOS wrote it is turned into text. */
function storedName(entry: Entry): TreePath {
  const raw = entry.fileNameRaw
  if ((entry.generalPurposeBitFlag & UTF8_NAME) !== 0 || isUtf8(raw) || !isDos(entry)) return treePathOf(raw)
  return treePath(yauzl.getFileNameLowLevel(entry.generalPurposeBitFlag, raw, entry.extraFields, true))
}

function isDos(entry: Entry): boolean {
  return MADE_ON_DOS.includes(entry.versionMadeBy >>> 8)
}

/** Old Windows tools wrote `\` throughout; APPNOTE 4.4.17 wants `/`, and beside one a `\` is part of a name. */
function isDosName(entry: Entry): boolean {
  return isDos(entry) && !entry.fileNameRaw.includes('/')
}

function listing(entry: Entry): Listing {
  const time = timeOf(entry)
  const mode = entry.versionMadeBy >>> 8 === MADE_ON_UNIX ? (entry.externalFileAttributes >>> 16) & fs.constants.S_IFMT : 0
  const kind = mode === fs.constants.S_IFLNK ? 'link' : mode !== 0 && mode !== fs.constants.S_IFREG ? 'special' : 'file'
  return { kind, size: entry.uncompressedSize, ...time }
}

/**
 * The extended timestamp (UTC seconds, Info-ZIP) and NTFS times (UTC, 100 ns; APPNOTE 4.5.5) are the archive's word. A bare DOS time has
 * two-second steps and no zone: it is read as if it were UTC, and marked as unreliable. DOS date 0 is no time.
 */
function timeOf(entry: Entry): Pick<Listing, 'mtimeNs' | 'mtimeFrom'> {
  const precise = ntfsTime(entry) ?? extendedTime(entry)
  if (precise !== undefined) return { mtimeNs: precise, mtimeFrom: 'archive' }
  if (entry.lastModFileDate === 0) return { mtimeNs: -1n, mtimeFrom: 'unreliable' }
  const ms = entry.getLastModDate({ timezone: 'UTC', forceDosFormat: true }).getTime()
  return { mtimeNs: Number.isFinite(ms) ? BigInt(ms) * 1_000_000n : -1n, mtimeFrom: 'unreliable' }
}

function extendedTime(entry: Entry): bigint | undefined {
  const data = entry.extraFields.find(({ id }) => id === EXTENDED_TIME)?.data
  return data && data.length >= 5 && (data[0]! & 1) === 1 ? BigInt(data.readInt32LE(1)) * 1_000_000_000n : undefined
}

/** FILETIME: 100 ns since 1601. */
function ntfsTime(entry: Entry): bigint | undefined {
  const data = entry.extraFields.find(({ id }) => id === NTFS_TIMES)?.data
  if (!data || data.length < 16 || data.readUInt16LE(4) !== 1) return undefined
  const time = (data.readBigUInt64LE(8) - 116_444_736_000_000_000n) * 100n
  return time > 0n ? time : undefined
}

function reader(zip: ZipFile, entry: Entry): Read {
  return async function* (note) {
    let crc = 0
    try {
      for await (const chunk of await zip.openReadStreamPromise(entry)) {
        if (HAS_CRC32) crc = zlib.crc32(chunk as Buffer, crc)
        yield chunk as Buffer
      }
    } catch (error) {
      throw new EvidenceTrouble('', `cannot be unpacked: ${(error as Error).message}`)
    }
    if (HAS_CRC32 && crc !== entry.crc32) note('does not have the CRC-32 that the archive records')
  }
}

function commentOf(zip: ZipFile): string {
  const comment: unknown = zip.comment
  return Buffer.isBuffer(comment) ? comment.toString('utf8') : String(comment)
}
