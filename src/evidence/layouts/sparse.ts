import type { Member } from '../member-tree.js'
import { hashed, type RecordedHash } from '../recorded-hash.js'
import type { Tree, TreePath } from '../tree.js'
import { parsed, textOf } from './layout.js'

/** One run of a sparse file: `stored` bytes of it are in the package, 0 for a hole of `length` zeros. */
interface Run {
  readonly length: number
  readonly stored: number
}

/** The index beside a sparse member (evidence/collectors, Velociraptor): zero fields are left out, `file_length` 0 is a hole. */
export async function runsOf(tree: Tree, at: TreePath): Promise<readonly Run[] | undefined> {
  const ranges = parsed((await textOf(tree, at)) ?? '')?.ranges
  if (!Array.isArray(ranges)) return undefined
  const runs = ranges.map((range: Record<string, unknown>) => ({ length: count(range?.length), stored: count(range?.file_length) }))
  return runs.every(({ length, stored }) => stored === 0 || stored === length) ? runs : undefined
}

function count(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : 0
}

const HOLE = Buffer.alloc(1 << 16)

/** The file as it was on its own disk, holes filled in. The recorded hash is that of the stored bytes, so it is checked on those. */
export function expanded(stored: Member, runs: readonly Run[], hash: RecordedHash | undefined): Member {
  const size = runs.reduce((sum, { length }) => sum + length, 0)
  const read = hash ? hashed(stored.read, hash) : stored.read
  return {
    listing: { ...stored.listing, size, allocated: stored.listing.size },
    async *read(note) {
      const bytes = read(note)
      let rest: Buffer = Buffer.alloc(0)
      for (const run of runs) {
        for (let hole = run.stored === 0 ? run.length : 0; hole > 0; hole -= HOLE.length)
          yield HOLE.subarray(0, Math.min(hole, HOLE.length))
        for (let wanted = run.stored; wanted > 0;) {
          if (rest.length === 0) {
            const next = await bytes.next()
            if (next.done) return note('is shorter than its index says')
            rest = next.value
          }
          const part = rest.subarray(0, wanted)
          yield part
          wanted -= part.length
          rest = rest.subarray(part.length)
        }
      }
      const more = await bytes.next()
      if (rest.length > 0 || !more.done) note('is longer than its index says')
    },
  }
}
