import fs from 'node:fs'
import { hashed, recordedHash, strongest, type RecordedHash } from '../recorded-hash.js'
import { treePath, type Listing, type Tree, type TreePath } from '../tree.js'
import {
  besideSource,
  filesBelow,
  isDirectory,
  isFile,
  linesOf,
  Mapping,
  memberOf,
  nanoseconds,
  textOf,
  type Layout,
  type MappedMachine,
  type Place,
  type Vouched,
} from './layout.js'

/**
 * A UAC collection, 3.x: files below a literal `[root]`, `uac.log` beside it, what the artifacts made (bodyfile, hash lists) in folders of
 * their own (evidence/collectors, UAC; run with 3.3.0). The mount point is stripped from `[root]`, but not from bodyfile and hash lists.
 * With `-H`, with `-f none` and on file systems without links, UAC copies the files first, so that their times are the collection's: a
 * bodyfile's time comes before the archive's, and an archive time from the run itself is marked as unreliable.
 */
export const uac: Layout = {
  id: 'uac',
  detect: ({ tree }) => isDirectory(tree, ROOT) || isFile(tree, 'uac.log'),
  map,
}

const ROOT = '[root]'

async function map(place: Place): Promise<MappedMachine> {
  const { tree } = place
  const log = await logOf(tree)
  const mapping = new Mapping(place, 'uac')
  const times = new Map<TreePath, bigint>()
  const hashes = new Map<TreePath, RecordedHash>()
  for (const [at] of filesBelow(tree, '')) {
    if (at.startsWith(`${ROOT}/`)) continue
    if (/(^|\/)[^/]*bodyfile[^/]*\.txt$/.test(at)) await readBodyfile(tree, at, log.mount, times)
    if (/\.(sha256|sha1|md5)$/.test(at)) await readHashes(tree, at, log.mount, hashes)
  }
  for (const [at, listing] of filesBelow(tree, ROOT)) {
    const original = at.slice(ROOT.length + 1)
    const vouched = { ...timeOf(times.get(original), listing, log.started), hash: hashes.get(original) }
    mapping.put(original, at, memberOf(tree, at, listing), vouched)
  }
  await checkArchive(place, mapping)
  return mapping.as(log.host || hostInName(place.source.name))
}

/** The acquisition log, always beside the archive, records the hashes of the whole. */
async function checkArchive({ source, base }: Place, mapping: Mapping): Promise<void> {
  if (source.kind === 'folder' || base !== '') return
  const logName = source.name.replace(/\.(tar\.gz|tar|zip)$/, '.log')
  const log = besideSource(source, logName) ?? ''
  const recorded = [...log.matchAll(/^(?:MD5|SHA1|SHA256) checksum: ([0-9A-Fa-f]+)/gm)].map(([, hex]) => recordedHash(hex, logName))
  const hash = recorded.reduce(strongest, undefined)
  if (!hash) return
  const whole = hashed(async function* () {
    yield* fs.createReadStream(source.path) as AsyncIterable<Buffer>
  }, hash)
  const bytes = whole((problem) => mapping.refuse('', problem))
  while (!(await bytes.next()).done);
}

function timeOf(inBodyfile: bigint | undefined, listing: Listing, started: bigint | undefined): Vouched {
  if (inBodyfile !== undefined) return { mtimeNs: inBodyfile, mtimeFrom: 'bodyfile' }
  const ofTheRun = started !== undefined && listing.mtimeNs >= started
  return ofTheRun ? { mtimeNs: listing.mtimeNs, mtimeFrom: 'unreliable' } : {}
}

interface Log {
  readonly host: string
  /** `/` for a live run. */
  readonly mount: string
  readonly started: bigint | undefined
}

/** The head of uac.log: `2026-11-30 18:42:11 +0000 INF Hostname: ws-alice`. */
async function logOf(tree: Tree): Promise<Log> {
  const head = ((await textOf(tree, 'uac.log')) ?? '').slice(0, 1 << 16)
  const value = (key: string) => new RegExp(` INF ${key}: (.*)$`, 'm').exec(head)?.[1]?.trim()
  const time = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d) ([+-]\d{4}) /.exec(head)
  return {
    host: value('Hostname') ?? '',
    mount: value('Mount point') ?? '/',
    started: time ? nanoseconds(`${time[1]}T${time[2]}${time[3]!.slice(0, 3)}:${time[3]!.slice(3)}`) : undefined,
  }
}

/** Bodyfile of The Sleuth Kit 3: `MD5|name|inode|mode|uid|gid|size|atime|mtime|ctime|crtime`, whole seconds; a name may hold `|`. */
async function readBodyfile(tree: Tree, at: TreePath, mount: string, times: Map<TreePath, bigint>): Promise<void> {
  for await (const { text } of linesOf(tree, at)) {
    const fields = text.split('|')
    const mtime = fields.at(-3)
    if (fields.length < 11 || mtime === undefined || !/^\d+$/.test(mtime) || mtime === '0') continue
    times.set(belowMount(fields.slice(1, -9).join('|'), mount), BigInt(mtime) * 1_000_000_000n)
  }
}

/** `<hex>  <path>`, or BSD's `MD5 (<path>) = <hex>`; paths begin with `[root]` or with the mount point. */
async function readHashes(tree: Tree, at: TreePath, mount: string, hashes: Map<TreePath, RecordedHash>): Promise<void> {
  for await (const { text } of linesOf(tree, at)) {
    const gnu = /^([0-9A-Fa-f]{32,64}) [ *](.+)$/.exec(text)
    const bsd = /^[A-Z0-9]+ ?\((.+)\) = ([0-9A-Fa-f]{32,64})$/.exec(text)
    const [hex, path] = gnu ? [gnu[1], gnu[2]!] : [bsd?.[2], bsd?.[1] ?? '']
    const hash = recordedHash(hex, at)
    if (!hash) continue
    const original = path.startsWith(`${ROOT}/`) ? treePath(path.slice(ROOT.length + 1)) : belowMount(path, mount)
    hashes.set(original, strongest(hash, hashes.get(original))!)
  }
}

/** `/mnt/image//home/alice` below the mount point `/mnt/image` is `home/alice`. */
function belowMount(path: string, mount: string): TreePath {
  const inside = mount !== '/' && path.startsWith(`${mount}/`) ? path.slice(mount.length) : path
  return treePath(inside.split('/').filter(Boolean).join('/'))
}

/** `uac-%hostname%-%os%-%timestamp%`. */
function hostInName(name: string): string {
  return /^uac-(.+)-[^-]+-\d{14}(\.|$)/.exec(name)?.[1] ?? ''
}
