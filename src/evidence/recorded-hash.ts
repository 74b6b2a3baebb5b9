import { createHash } from 'node:crypto'
import type { Read } from './member-tree.js'

export type HashAlgorithm = 'sha256' | 'sha1' | 'md5'

/** The hash of a file's bytes as a collector recorded it, and where: errors name both. */
export interface RecordedHash {
  readonly algorithm: HashAlgorithm
  readonly hex: string
  readonly from: string
}

const NAMES: Record<HashAlgorithm, string> = { sha256: 'SHA-256', sha1: 'SHA-1', md5: 'MD5' }

const LENGTHS: Record<number, HashAlgorithm> = { 64: 'sha256', 40: 'sha1', 32: 'md5' }

/** A hash of some text's form; undefined for what is none. */
export function recordedHash(hex: unknown, from: string): RecordedHash | undefined {
  if (typeof hex !== 'string' || !/^[0-9A-Fa-f]+$/.test(hex)) return undefined
  const algorithm = LENGTHS[hex.length]
  return algorithm && { algorithm, hex: hex.toLowerCase(), from }
}

/** Of two hashes of one file, the one that is harder to forge. */
export function strongest(a: RecordedHash | undefined, b: RecordedHash | undefined): RecordedHash | undefined {
  if (!a || !b) return a ?? b
  return a.hex.length >= b.hex.length ? a : b
}

/** Checks the bytes while they are read; a difference is noted when the last has passed, and the bytes are still given. */
export function hashed(read: Read, recorded: RecordedHash): Read {
  return async function* (note) {
    const hash = createHash(recorded.algorithm)
    for await (const chunk of read(note)) {
      hash.update(chunk)
      yield chunk
    }
    const found = hash.digest('hex')
    if (found !== recorded.hex)
      note(`does not have the ${NAMES[recorded.algorithm]} that ${recorded.from} records: ${found} instead of ${recorded.hex}`)
  }
}
