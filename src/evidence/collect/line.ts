import { isUtf8 } from 'node:buffer'
import type { DirectoryLine, ManifestLine } from '../manifest.js'
import { type ListedDirectory, type FolderTree, type Listing, type TreePath } from '../tree.js'
import type { Copy } from './copy.js'
import type { Decision } from './decide.js'
import type { Match, Obstacle } from './match.js'

/** Whose a path is, and where in the package its place is. */
export interface Whose {
  readonly user: string
  readonly scope: ManifestLine['scope']
  readonly place: string
}

/** The manifest's line for a path that the catalog matched. */
export function matchLine(
  match: Match,
  whose: Whose,
  decision: Decision,
  kept: { stored?: string; copy?: Copy; problem?: string },
): ManifestLine {
  const { ruling, tree, at } = match
  const { copy, stored, problem } = kept
  const listing = copy?.listing ?? match.listing
  return {
    action: decision.action,
    agent: ruling.agent,
    rule: decision.rule,
    rule_kind: decision.rule_kind,
    store: ruling.store?.id ?? '',
    reason: decision.reason,
    ...whose,
    source_file: match.sourceFile,
    short_path: ruling.shortPath,
    project: match.project,
    ...pathOf(tree, at),
    kind: listing.kind,
    ...targetOf(tree, at, listing),
    ...factsOf(listing),
    stored_path: stored ?? null,
    sha256: copy?.sha256 ?? null,
    stored_size: copy?.storedSize ?? null,
    stored_sha256: copy?.storedSha256 ?? null,
    credentials: ruling.credentials.map(({ id }) => id),
    contains_credentials: stored !== undefined && decision.containsCredentials === true,
    masked: copy?.masked ?? null,
    ...(problem === undefined ? {} : { problem }),
  }
}

/** The line for a folder that could not be listed, or a link in the place of one. */
export function obstacleLine({ tree, at, trouble }: Obstacle, whose: Whose, agent: string): ManifestLine {
  const listing = tree.list(at) ?? UNKNOWN
  const link = listing.kind === 'link'
  const path = pathOf(tree, at)
  return {
    action: link ? 'link' : 'failed',
    agent,
    rule: 'not-entered',
    rule_kind: 'run',
    store: '',
    reason: 'stands in the way of files that the catalog names',
    ...whose,
    source_file: whose.scope === 'home' ? trouble.path : path.original_path,
    short_path: trouble.path,
    project: '',
    ...path,
    kind: listing.kind,
    ...targetOf(tree, at, listing),
    ...factsOf(listing),
    stored_path: null,
    sha256: null,
    stored_size: null,
    stored_sha256: null,
    credentials: [],
    contains_credentials: false,
    masked: null,
    problem: trouble.problem,
  }
}
const UNKNOWN: Listing = { kind: 'special', size: 0, mtimeNs: -1n, mtimeFrom: 'filesystem' }

export function directoryLine(tree: FolderTree, { at, listing }: ListedDirectory): DirectoryLine {
  const { mtime_ns, atime_ns, ctime_ns, birthtime_ns, mode, uid, gid, inode, device } = factsOf(listing)
  return { ...pathOf(tree, at), mtime_ns, atime_ns, ctime_ns, birthtime_ns, mode, uid, gid, inode, device }
}

function pathOf(tree: FolderTree, at: TreePath): Pick<ManifestLine, 'original_path' | 'original_path_base64'> {
  const bytes = tree.absolute(at)
  const text = bytes.toString('utf8')
  return isUtf8(bytes) ? { original_path: text } : { original_path: text, original_path_base64: bytes.toString('base64') }
}

function targetOf(tree: FolderTree, at: TreePath, listing: Listing): Pick<ManifestLine, 'link_target'> {
  const target = listing.kind === 'link' ? tree.target(at) : undefined
  return target === undefined ? {} : { link_target: target }
}

function factsOf(listing: Listing) {
  const { detail } = listing
  return {
    size: listing.size,
    allocated: listing.allocated ?? null,
    mtime_ns: listing === UNKNOWN ? null : String(listing.mtimeNs),
    atime_ns: text(detail?.atimeNs),
    ctime_ns: text(detail?.ctimeNs),
    birthtime_ns: text(detail?.birthtimeNs),
    mtime_from: listing.mtimeFrom,
    mode: detail ? detail.mode.toString(8) : null,
    uid: detail?.uid ?? null,
    gid: detail?.gid ?? null,
    inode: text(listing.inode),
    device: text(listing.device),
    links: detail?.links ?? null,
  }
}

function text(value: bigint | undefined): string | null {
  return value === undefined ? null : String(value)
}
