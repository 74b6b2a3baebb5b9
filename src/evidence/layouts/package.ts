import { createHash } from 'node:crypto'
import type { FoundHome } from '../machine.js'
import { CollectionRecord, EVIDENCE_FOLDER, ManifestLine, PACKAGE_FILES } from '../manifest.js'
import type { Member } from '../member-tree.js'
import { recordedPath } from '../recorded-path.js'
import { join, treePath, treePathOf, type Listing, type Tree, type TreePath } from '../tree.js'
import { EvidenceTrouble } from '../trouble.js'
import {
  filesBelow,
  isDirectory,
  isFile,
  linesOf,
  Mapping,
  memberOf,
  originalPath,
  parsed,
  textOf,
  type Layout,
  type MappedMachine,
  type Place,
} from './layout.js'

/**
 * A package of our own (`manifest.ts`): nothing is told from a stored name, everything from the manifest. Homes stand where they stood;
 * each file's bytes are checked against the manifest while they are read. What was collected as unreadable is unreadable here too, so that
 * a package gives the rows of the home it came from.
 */
export const ownPackage: Layout = {
  id: 'package',
  // One of the two is enough: a package that lost its manifest must not pass for a folder of files.
  detect: ({ tree }) =>
    isDirectory(tree, EVIDENCE_FOLDER) && (isFile(tree, PACKAGE_FILES.manifest) || isFile(tree, PACKAGE_FILES.collection)),
  map,
}

type CollectedHome = CollectionRecord['homes'][number]

async function map(place: Place): Promise<MappedMachine> {
  const { tree } = place
  const mapping = new Mapping(place, 'package')
  const record = CollectionRecord.safeParse(parsed((await textOf(tree, PACKAGE_FILES.collection)) ?? ''))
  if (!record.success) {
    mapping.refuse(PACKAGE_FILES.collection, 'is not a collection record that this version reads; the package was not read')
    return mapping.as('')
  }
  const collection = record.data
  const manifestSha256 = await checkManifest(tree, mapping, collection.manifest_sha256)
  const homes = new Map(collection.homes.map((home) => [home.folder, { ...home, at: homePath(home) }]))
  const listed = new Set<TreePath>()
  for await (const { text, number } of linesOf(tree, PACKAGE_FILES.manifest)) {
    if (text === '') continue
    const line = ManifestLine.safeParse(parsed(text))
    if (!line.success) mapping.refuse(`${PACKAGE_FILES.manifest}:${number}`, 'is not a manifest line that this version reads')
    else put(mapping, tree, line.data, homes, listed)
  }
  for (const [at] of filesBelow(tree, EVIDENCE_FOLDER)) {
    if (!listed.has(at)) mapping.refuse(at, 'is in the package but not in its manifest; it was not read')
  }
  for (const { projects } of homes.values()) for (const { recorded } of projects) addProject(mapping, recorded)
  return { ...mapping.as(collection.host), homes: [...homes.values()].map(foundHome), manifestSha256 }
}

/** A home that nothing says the place of stands below its own folder name. */
function homePath({ stood, folder }: CollectedHome): TreePath {
  return originalPath(stood[0] ?? '') ?? treePath(folder)
}

function foundHome(home: CollectedHome & { readonly at: TreePath }): FoundHome {
  return {
    at: home.at,
    user: home.user,
    stood: home.stood.flatMap((text) => recordedPath(text) ?? []),
    projects: home.projects.map(({ recorded }) => recorded),
  }
}

/** The manifest's own hash, which is held against the one that the collection noted; undefined when it cannot be read. */
async function checkManifest(tree: Tree, mapping: Mapping, expected: string): Promise<string | undefined> {
  const hash = createHash('sha256')
  const listing = tree.list(PACKAGE_FILES.manifest)
  if (!listing) {
    mapping.refuse(PACKAGE_FILES.manifest, 'is not in the package')
    return undefined
  }
  try {
    for await (const chunk of tree.read(PACKAGE_FILES.manifest, listing)) hash.update(chunk)
  } catch (error) {
    if (!(error instanceof EvidenceTrouble)) throw error
    mapping.refuse(PACKAGE_FILES.manifest, error.problem)
    return undefined
  }
  const found = hash.digest('hex')
  if (found !== expected) mapping.refuse(PACKAGE_FILES.manifest, `does not have the SHA-256 that ${PACKAGE_FILES.collection} records`)
  return found
}

function put(
  mapping: Mapping,
  tree: Tree,
  line: ManifestLine,
  homes: ReadonlyMap<string, { readonly at: TreePath }>,
  listed: Set<TreePath>,
): void {
  const stored = line.stored_path === null ? undefined : treePath(line.stored_path)
  if (stored !== undefined) listed.add(stored)
  const original = originalOf(line, homes)
  if (original === undefined || line.kind === 'directory' || line.action === 'excluded') return
  const member = stored === undefined ? absent(line) : memberIn(tree, stored, mapping)
  const hash =
    line.stored_sha256 === null ? undefined : ({ algorithm: 'sha256', hex: line.stored_sha256, from: PACKAGE_FILES.manifest } as const)
  mapping.put(original, stored ?? original, member, {
    mtimeNs: BigInt(line.mtime_ns ?? -1),
    mtimeFrom: line.mtime_from === 'unreliable' ? 'unreliable' : 'manifest',
    hash,
  })
}

/** Where the file stood; undefined for temp directories, which no parser reads. Names that are not text are taken from their bytes. */
function originalOf(line: ManifestLine, homes: ReadonlyMap<string, { readonly at: TreePath }>): TreePath | undefined {
  if (line.scope === 'temp') return undefined
  const holder = line.project === '' ? homes.get(line.place.split('/')[0]!)?.at : originalPath(line.project)
  return holder === undefined ? undefined : join(holder, shortPath(line))
}

function shortPath(line: ManifestLine): TreePath {
  if (line.original_path_base64 === undefined) return treePath(line.short_path)
  const bytes = treePathOf(Buffer.from(line.original_path_base64, 'base64'))
  return bytes.split('/').slice(-line.short_path.split('/').length).join('/')
}

function memberIn(tree: Tree, stored: TreePath, mapping: Mapping): Member {
  const listing = tree.list(stored)
  if (listing?.kind === 'file') return memberOf(tree, stored, listing)
  mapping.refuse(stored, 'is listed in the manifest but is not in the package')
  return unreadable('is not in the package', { kind: 'file', size: 0, mtimeNs: -1n, mtimeFrom: 'unreliable' })
}

/** A path whose bytes were not collected: what kept the collection from them keeps a parser from them. */
function absent({ kind, size, action, reason, problem }: ManifestLine): Member {
  const listing: Listing = { kind, size, mtimeNs: -1n, mtimeFrom: 'manifest' }
  return unreadable(problem ?? `was not collected (${action}): ${reason}`, listing)
}

function unreadable(problem: string, listing: Listing): Member {
  return {
    listing,
    read: () => refused(problem),
  }
}

function addProject(mapping: Mapping, recorded: string): void {
  const at = originalPath(recorded)
  if (at !== undefined) mapping.tree.addDirectory(at)
}

/** Bytes that end in trouble before the first of them. */
async function* refused(problem: string): AsyncGenerator<Buffer> {
  yield* []
  throw new EvidenceTrouble('', problem)
}
