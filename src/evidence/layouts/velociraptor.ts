import { recordedHash, strongest, type RecordedHash } from '../recorded-hash.js'
import { join, readable, treePath, treePathOf, type Listing, type Tree, type TreePath } from '../tree.js'
import {
  filesBelow,
  isDirectory,
  isFile,
  Mapping,
  memberOf,
  nanoseconds,
  objectsOf,
  originalPath,
  parsed,
  textOf,
  type Layout,
  type MappedMachine,
  type Place,
  type Vouched,
} from './layout.js'
import { expanded, runsOf } from './sparse.js'

/**
 * A Velociraptor collection, 0.6.8 and later: `uploads/<accessor>/<component>/...`, each component percent-escaped where it begins with a
 * dot (`%2Eletta`) or holds a character that Windows refuses (`C%3A`); `uploads.json` lists the components unescaped (evidence/collectors,
 * Velociraptor; reporting/container.go, utils/sanitize.go). Times and hashes stand in the results' rows only. A hunt holds one such folder
 * a host; in a zip that a server made, member times are those of the export.
 */
export const velociraptor: Layout = {
  id: 'velociraptor',
  detect: ({ tree }) =>
    isFile(tree, 'uploads.json') ||
    (isDirectory(tree, 'uploads') &&
      ['collection_context.json', 'client_info.json', 'log.json', 'logs.json'].some((name) => isFile(tree, name))),
  map,
}

async function map(place: Place): Promise<MappedMachine> {
  const { tree } = place
  const mapping = new Mapping(place, 'velociraptor')
  const uploads = await uploadsOf(tree)
  const said = await resultsBelow(tree, 'results')
  for (const [at, listing] of filesBelow(tree, 'uploads')) {
    const components = uploads.named(at.split('/').slice(2).map(unescape))
    if (uploads.isIndex(at)) continue
    const original = originalOf(components)
    if (original === undefined) {
      mapping.refuse(at, 'comes from a shadow copy or a device; it was not read')
      continue
    }
    const stored = memberOf(tree, at, listing)
    const { hash, ...time } = { ...said.get(original), ...timeOf(said.get(original), listing, uploads.fromServer) }
    const runs = uploads.hasIndex(at) ? await runsOf(tree, `${at}.idx`) : undefined
    if (runs) mapping.put(original, at, expanded(stored, runs, hash), time)
    else mapping.put(original, at, stored, { hash, ...time })
  }
  return mapping.as(hostOf(place, parsed((await textOf(tree, 'client_info.json')) ?? '')))
}

function timeOf(said: Vouched | undefined, listing: Listing, fromServer: boolean): Vouched {
  if (said?.mtimeNs !== undefined) return { mtimeNs: said.mtimeNs, mtimeFrom: 'manifest' }
  return fromServer ? { mtimeNs: listing.mtimeNs, mtimeFrom: 'unreliable' } : {}
}

/** `%2E` for a dot and so on, in any component; bytes that are not ASCII were escaped one by one before 0.6.8. */
function unescape(component: TreePath): TreePath {
  if (!component.includes('%')) return component
  const bytes = Buffer.from(
    component.replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16))),
    'latin1',
  )
  return treePathOf(bytes)
}

/** Components to a path: `C:` or `\\.\C:` begins one of Windows; a shadow copy's begins with another device. */
function originalOf(components: readonly TreePath[]): TreePath | undefined {
  const [first = '', ...rest] = components
  if (!/^[A-Za-z]:$|\\/.test(first)) return join(...components)
  const drive = originalPath(`${first}\\`)
  return drive === undefined ? undefined : join(drive, ...rest)
}

/** What `uploads.json` says: the true components, which members are indexes of sparse ones, and whether a server made the zip. */
class Uploads {
  readonly #components = new Set<string>()
  readonly #indexed = new Set<string>()
  fromServer = false

  add(row: Record<string, unknown>): void {
    const components = strings(row._Components).map(treePath)
    if (components.length < 3) return
    if ('_client_components' in row) this.fromServer = true
    const key = components.slice(2).join('\0')
    if (row.Type === 'idx') this.#indexed.add(key)
    else this.#components.add(key)
  }

  /** Releases up to 0.6.7 added a `_` to names that end in `_` or `.db`: the list knows. */
  named(components: readonly TreePath[]): readonly TreePath[] {
    const key = components.join('\0')
    const shorter = key.replace(/_(\0|$)/g, '$1')
    return !this.#components.has(key) && this.#components.has(shorter) ? shorter.split('\0') : components
  }

  hasIndex(at: TreePath): boolean {
    return this.#indexed.has(keyOf(at))
  }

  isIndex(at: TreePath): boolean {
    return at.endsWith('.idx') && this.hasIndex(at.slice(0, -'.idx'.length)) && !this.#components.has(keyOf(at))
  }
}

function keyOf(at: TreePath): string {
  return at.split('/').slice(2).map(unescape).join('\0')
}

async function uploadsOf(tree: Tree): Promise<Uploads> {
  const uploads = new Uploads()
  for await (const row of objectsOf(tree, 'uploads.json')) uploads.add(row)
  const client = parsed((await textOf(tree, 'client_info.json')) ?? '')
  if (client && 'client_id' in client) uploads.fromServer = true
  return uploads
}

/**
 * Times and hashes by original path, from the rows of every result: `SourceFile` with `Modified` and `SourceFileSha256`
 * (Generic.Collectors.File and kin), or `OSPath` with `MTime` and an `Upload` (finders).
 */
export async function resultsBelow(tree: Tree, folder: TreePath): Promise<Map<TreePath, Pick<Vouched, 'mtimeNs' | 'hash'>>> {
  const said = new Map<TreePath, { mtimeNs?: bigint; hash?: RecordedHash }>()
  for (const [at] of filesBelow(tree, folder)) {
    if (!at.endsWith('.json')) continue
    for await (const row of objectsOf(tree, at)) {
      const original = pathIn(row)
      if (original === undefined) continue
      const known = said.get(original)
      said.set(original, {
        mtimeNs: nanoseconds(row.Modified ?? row.MTime ?? row.Mtime) ?? known?.mtimeNs,
        hash: strongest(hashIn(row, at), known?.hash),
      })
    }
  }
  return said
}

function pathIn(row: Record<string, unknown>): TreePath | undefined {
  const path = row.SourceFile ?? row.OSPath ?? row.FullPath
  return typeof path === 'string' ? originalPath(path) : undefined
}

function hashIn(row: Record<string, unknown>, at: TreePath): RecordedHash | undefined {
  const upload = typeof row.Upload === 'object' && row.Upload !== null ? (row.Upload as Record<string, unknown>) : {}
  const from = readable(unescape(at))
  return recordedHash(row.SourceFileSha256, from) ?? recordedHash(upload.sha256, from) ?? recordedHash(upload.md5, from)
}

/** The client's own record, the server's, the folder of a hunt, then the name that the collector gives its archive. */
function hostOf({ source, base }: Place, client: Record<string, unknown> | undefined): string {
  const recorded = client?.Hostname ?? client?.hostname
  if (typeof recorded === 'string' && recorded !== '') return recorded
  const folder = /^(.+)-C\.[0-9a-f]+$/.exec(readable(base.slice(base.lastIndexOf('/') + 1)))
  return folder?.[1] ?? hostInName(source.name)
}

/** `Collection-<host>-<time>.zip` (Server/Utils/CreateCollector.yaml). */
export function hostInName(name: string): string {
  const match = /^Collection-(.+)-\d{4}-\d\d-\d\dT[^-]*$/.exec(name) ?? /^Collection-(.+)-[^-]*$/.exec(name)
  return match?.[1] ?? ''
}

function strings(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}
