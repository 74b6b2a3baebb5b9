import fs from 'node:fs'
import path from 'node:path'
import { lines, type Line } from '../lines.js'
import type { FoundHome } from '../machine.js'
import { MemberTree, type Member } from '../member-tree.js'
import { recordedPath } from '../recorded-path.js'
import type { MtimeFrom } from '../../rows/index.js'
import { join, readable, treePath, type Listing, type Tree, type TreePath } from '../tree.js'
import { EvidenceTrouble } from '../trouble.js'
import { hashed, type RecordedHash } from '../recorded-hash.js'

/** What a person pointed at: a folder or an archive. */
export interface Source {
  readonly path: string
  /** The last part of the path: collectors put the host into it. */
  readonly name: string
  readonly kind: 'folder' | 'zip' | 'tar'
  readonly comment: string
  readonly everyEntryZip64: boolean
}

/** A directory of a source in which a layout begins. */
export interface Place {
  readonly source: Source
  readonly tree: Tree
  /** Path of the directory in the source; empty for the source itself. */
  readonly base: TreePath
}

/** One machine's files at their original paths: `home/alice/...`, `C:/Users/alice/...`. */
export interface MappedMachine {
  /** Empty when the source does not tell. */
  readonly host: string
  readonly tree: Tree
  /** What of the source was not read, and why. */
  readonly troubles: readonly EvidenceTrouble[]
  /** Its homes, where the source lists them; else they are looked for. */
  readonly homes?: readonly FoundHome[]
  /** Of a package of our own: the SHA-256 of its manifest as it is now. */
  readonly manifestSha256?: string
}

/** How one collector arranges what it brings back. Telling it and reading it are separate acts. */
export interface Layout {
  readonly id: string
  /** A cheap look at names. */
  detect(place: Place): boolean
  map(place: Place): Promise<MappedMachine>
}

/** What a package says of a file beside its bytes. */
export interface Vouched {
  readonly mtimeNs?: bigint
  readonly mtimeFrom?: MtimeFrom
  readonly hash?: RecordedHash
}

/** Files put at their original paths, one after the other. */
export class Mapping {
  readonly tree: MemberTree
  readonly troubles: EvidenceTrouble[] = []
  readonly #label: string

  constructor(place: Place, id: string) {
    this.tree = new MemberTree(`${place.source.path}\0${place.base}\0${id}`)
    this.#label = join(treePath(place.source.name), place.base)
  }

  put(original: TreePath, stored: TreePath, member: Member, vouched: Vouched = {}): void {
    const { mtimeNs, mtimeFrom, hash } = vouched
    const times = mtimeFrom === undefined ? {} : { mtimeNs: mtimeNs ?? -1n, mtimeFrom }
    const listing = { ...member.listing, ...times }
    const problem = this.tree.add(original, { listing, read: hash ? hashed(member.read, hash) : member.read })
    if (problem !== undefined) this.refuse(stored, problem)
  }

  refuse(stored: TreePath, problem: string): void {
    this.troubles.push(new EvidenceTrouble(readable(join(this.#label, stored)), problem))
  }

  as(host: string): MappedMachine {
    return { host, tree: this.tree, troubles: this.troubles }
  }
}

/** A file of any tree, to be put elsewhere; what its own tree notes while it is read goes with it. */
export function memberOf(tree: Tree, at: TreePath, listing: Listing): Member {
  return {
    listing,
    async *read(note) {
      yield* tree.read(at, listing)
      for (const { problem } of tree.takeTroubles(at)) note(problem)
    },
  }
}

const DEEPEST = 250

/** Every file and link below a directory, with its listing. */
export function* filesBelow(tree: Tree, at: TreePath, depth = 0): Generator<readonly [TreePath, Listing]> {
  if (depth > DEEPEST) return
  for (const name of tree.names(at).sort()) {
    const path = join(at, name)
    const listing = tree.list(path)
    if (listing?.kind === 'directory') yield* filesBelow(tree, path, depth + 1)
    else if (listing) yield [path, listing]
  }
}

export function isDirectory(tree: Tree, at: TreePath): boolean {
  return tree.list(at)?.kind === 'directory'
}

export function isFile(tree: Tree, at: TreePath): boolean {
  return tree.list(at)?.kind === 'file'
}

/**
 * The tree path of an absolute path that a collector wrote: `C:\Users` and `\\.\C:\Users` are `C:/Users`, `/home` is `home`.
 * Undefined for any other form, shadow copies (`\\?\GLOBALROOT\...`) among them.
 */
export function originalPath(text: string): TreePath | undefined {
  const plain = text.replace(/^\\\\[.?]\\(?=[A-Za-z]:\\)/, '')
  const recorded = recordedPath(plain)
  if (!recorded) return undefined
  return join(...[recorded.drive, ...recorded.segments].map(treePath))
}

const TEXT_LIMIT = 64 * 2 ** 20

/** A small text that a collector wrote about its run, its byte order mark dropped; undefined when it is not there or cannot be read. */
export async function textOf(tree: Tree, at: TreePath, limit = TEXT_LIMIT): Promise<string | undefined> {
  const listing = tree.list(at)
  if (listing?.kind !== 'file' || listing.size > limit) return undefined
  const parts: Buffer[] = []
  try {
    for await (const chunk of tree.read(at, listing)) parts.push(Buffer.from(chunk))
  } catch (error) {
    if (error instanceof EvidenceTrouble) return undefined
    throw error
  }
  return Buffer.concat(parts)
    .toString('utf8')
    .replace(/^\uFEFF/, '')
}

/** The objects of a JSON Lines file; lines that are none are passed over, since they say nothing of a file. */
export async function* objectsOf(tree: Tree, at: TreePath): AsyncGenerator<Record<string, unknown>> {
  for await (const { text } of linesOf(tree, at)) {
    const value = parsed(text)
    if (value) yield value
  }
}

export async function* linesOf(tree: Tree, at: TreePath): AsyncGenerator<Line> {
  const listing = tree.list(at)
  if (listing?.kind !== 'file') return
  try {
    for await (const batch of lines(tree.read(at, listing))) yield* batch
  } catch (error) {
    if (!(error instanceof EvidenceTrouble)) throw error
  }
}

export function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

/** A text file that lies beside the source on this machine's disk: collectors leave logs there. */
export function besideSource(source: Source, name: string): string | undefined {
  const file = path.join(path.dirname(path.resolve(source.path)), name)
  try {
    const stat = fs.lstatSync(file)
    return stat.isFile() && stat.size <= 2 ** 20 ? fs.readFileSync(file, 'utf8') : undefined
  } catch {
    return undefined
  }
}

/** Nanoseconds since 1970 of `2026-11-30T17:54:00.667389Z` or, in UTC without saying so, `2026-11-30 17:54:00.6673890`. */
export function nanoseconds(text: unknown): bigint | undefined {
  if (typeof text !== 'string') return undefined
  const match = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?\d*(Z|[+-]\d\d:?\d\d)?$/.exec(text)
  if (!match) return undefined
  const [, date, time, fraction = '', zone = 'Z'] = match
  const ms = Date.parse(`${date}T${time}${zone}`)
  return Number.isNaN(ms) || ms < 0 ? undefined : BigInt(ms) * 1_000_000n + BigInt(fraction.padEnd(9, '0'))
}
