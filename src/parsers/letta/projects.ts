import { EvidenceTrouble, type EvidenceFile } from '../../evidence/index.js'
import { isObject } from '../json.js'

/** Bytes in which a header stands: it is the first line, and holds little more than a path. */
const HEAD = 64 * 1024

/**
 * The working directories in the headers of a messages.jsonl (letta-stores 4.5): `{"type":"session","cwd":...}`, the first line of every
 * file of schema 3. Only the head is read: these are the largest files of a home.
 */
export async function headerDirectories({ tree, at, listing }: EvidenceFile): Promise<string[]> {
  try {
    for await (const chunk of tree.read(at, { ...listing, size: Math.min(listing.size, HEAD) }))
      return chunk
        .toString('utf8')
        .split('\n')
        .flatMap((text) => (text.includes('"session"') ? directoryOf(text) : []))
  } catch (error) {
    if (!(error instanceof EvidenceTrouble)) throw error
  }
  return []
}

function directoryOf(text: string): string[] {
  try {
    const record: unknown = JSON.parse(text)
    return isObject(record) && record.type === 'session' && typeof record.cwd === 'string' ? [record.cwd] : []
  } catch {
    return []
  }
}
