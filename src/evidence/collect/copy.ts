import { createHash } from 'node:crypto'
import fs from 'node:fs'
import type { Credential } from '../../catalog/index.js'
import { breath } from '../breath.js'
import type { FolderTree, Listing, TreePath } from '../tree.js'
import { masked, UnscannableError } from './mask.js'

/** What came of copying a file. */
export interface Copy {
  /** As it was listed before the bytes that were kept were read. */
  readonly listing: Listing
  /** Of the bytes in the evidence. */
  readonly sha256: string
  readonly storedSha256: string
  readonly storedSize: number
  readonly masked: number | null
  /** The file differed before and after, twice. */
  readonly changed?: string
}

/** Larger files are not masked but withheld: their masking would hold them whole in memory. */
const LARGEST_MASKED = 64 * 1024 * 1024

/**
 * Copies a file while it is hashed, as far as it went when it was listed. Differs it afterwards in size, time or identity, it is copied once
 * more. Throws `EvidenceTrouble` when it cannot be read.
 */
export async function copy(tree: FolderTree, at: TreePath, listed: Listing, to: string): Promise<Copy> {
  return twice(tree, at, listed, (listing) => copyOnce(tree, at, listing, to))
}

/** Copies a file with the values masked that these rules call secret. Throws `UnscannableError` when nobody can say where they stand. */
export async function copyMasked(tree: FolderTree, at: TreePath, listed: Listing, to: string, rules: readonly Credential[]): Promise<Copy> {
  return twice(tree, at, listed, (listing) => copyMaskedOnce(tree, at, listing, to, rules))
}

type Once = (listing: Listing) => Promise<Omit<Copy, 'changed'>>

async function twice(tree: FolderTree, at: TreePath, listed: Listing, once: Once): Promise<Copy> {
  const first = await once(listed)
  const after = tree.list(at)
  if (after && unchanged(listed, after)) return first
  if (after?.kind !== 'file')
    return { ...first, changed: after ? `it was replaced by a ${after.kind} while it was copied` : 'it was removed while it was copied' }
  const second = await once(after)
  const last = tree.list(at)
  if (last && unchanged(after, last)) return second
  return { ...second, changed: `it changed while it was copied, twice: ${listed.size}, ${after.size}, ${last?.size ?? 'no'} bytes` }
}

function unchanged(before: Listing, after: Listing): boolean {
  return (['kind', 'size', 'mtimeNs', 'inode', 'device'] as const).every((field) => before[field] === after[field])
}

async function copyOnce(tree: FolderTree, at: TreePath, listing: Listing, to: string): Promise<Omit<Copy, 'changed'>> {
  const hash = createHash('sha256')
  let size = 0
  const fd = fs.openSync(to, 'w', 0o600)
  try {
    for await (const chunk of bounded(tree, at, listing)) {
      hash.update(chunk)
      writeAll(fd, chunk)
      size += chunk.length
    }
  } finally {
    fs.closeSync(fd)
  }
  const sha256 = hash.digest('hex')
  return { listing, sha256, storedSha256: sha256, storedSize: size, masked: null }
}

async function copyMaskedOnce(tree: FolderTree, at: TreePath, listing: Listing, to: string, rules: readonly Credential[]) {
  if (listing.size > LARGEST_MASKED) throw new UnscannableError(`it is ${listing.size} bytes, too large to be masked`)
  const parts: Buffer[] = []
  for await (const chunk of bounded(tree, at, listing)) parts.push(Buffer.from(chunk))
  const bytes = Buffer.concat(parts)
  const copy = masked(bytes, rules)
  fs.writeFileSync(to, copy.bytes, { mode: 0o600 })
  return { listing, sha256: sha256Of(bytes), storedSha256: sha256Of(copy.bytes), storedSize: copy.bytes.length, masked: copy.count }
}

/** A file that grows without end is read as far as it went when it was listed. */
async function* bounded(tree: FolderTree, at: TreePath, listing: Listing): AsyncGenerator<Buffer> {
  let left = listing.size
  for await (const chunk of tree.read(at, listing)) {
    await breath()
    if (chunk.length >= left) {
      yield chunk.subarray(0, left)
      return
    }
    left -= chunk.length
    yield chunk
  }
}

function writeAll(fd: number, bytes: Buffer): void {
  for (let written = 0; written < bytes.length;) written += fs.writeSync(fd, bytes, written)
}

export function sha256Of(bytes: Buffer | string): string {
  return createHash('sha256').update(bytes).digest('hex')
}
