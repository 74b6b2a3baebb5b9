import { createHash } from 'node:crypto'
import { recordedTime } from '../rows/index.js'
import { EvidenceTrouble } from './trouble.js'
import type { Listing, Tree, TreePath } from './tree.js'

/** How rows name a file, and where it belongs. */
export interface FileName {
  /** The catalog store it falls under. */
  readonly store: string
  /** Logical path, the `source_file` of its rows. */
  readonly path: string
  /** The path as seen from the home or the project, the `<file>` of row texts. */
  readonly shortPath: string
  /** The project that holds it, as recorded; empty for a file of the home. */
  readonly project: string
}

/** What the run record says of a file that was read. */
export interface FileRead {
  readonly path: string
  readonly size: number
  readonly mtime: string
  readonly mtime_from: string
  readonly sha256: string
}

/** One file of the evidence: where it is found, how rows name it, its times from the source, its bytes on demand. */
export class EvidenceFile implements FileName {
  readonly store: string
  readonly path: string
  readonly shortPath: string
  readonly project: string
  #sha256: string | undefined
  #bytes = 0

  constructor(
    readonly tree: Tree,
    readonly at: TreePath,
    readonly listing: Listing,
    name: FileName,
  ) {
    this.store = name.store
    this.path = name.path
    this.shortPath = name.shortPath
    this.project = name.project
  }

  /** Modification time in the row form; empty outside the years 1970-9999. */
  get mtime(): string {
    return isoOf(this.listing.mtimeNs)
  }

  /** The bytes in order; the first whole pass also takes their SHA-256. Throws `EvidenceTrouble` under the logical path. */
  async *chunks(): AsyncGenerator<Buffer> {
    const hash = this.#sha256 === undefined ? createHash('sha256') : undefined
    let bytes = 0
    try {
      for await (const chunk of this.tree.read(this.at, this.listing)) {
        hash?.update(chunk)
        bytes += chunk.length
        yield chunk
      }
    } catch (error) {
      throw error instanceof EvidenceTrouble ? new EvidenceTrouble(this.path, error.problem) : error
    }
    if (!hash) return
    this.#sha256 = hash.digest('hex')
    this.#bytes = bytes
  }

  /** For the run record; undefined until the file was read to its end. */
  get wasRead(): FileRead | undefined {
    if (this.#sha256 === undefined) return undefined
    return {
      path: this.path,
      size: this.#bytes,
      mtime: preciseTime(this.listing.mtimeNs),
      mtime_from: this.listing.mtimeFrom,
      sha256: this.#sha256,
    }
  }
}

function isoOf(ns: bigint): string {
  return ns < 0n ? '' : recordedTime(Number(ns / 1_000_000n)).iso
}

/** ISO 8601 with nanoseconds; empty where `isoOf` is. */
function preciseTime(ns: bigint): string {
  const iso = isoOf(ns)
  return iso && `${iso.slice(0, 19)}.${(ns % 1_000_000_000n).toString().padStart(9, '0')}Z`
}
