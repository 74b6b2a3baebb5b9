import { parse as parseCsv } from 'csv-parse/sync'
import type { Member } from '../member-tree.js'
import { recordedHash } from '../recorded-hash.js'
import { driveOf } from '../recorded-path.js'
import { join, readable, treePath, type Tree, type TreePath } from '../tree.js'
import {
  besideSource,
  filesBelow,
  Mapping,
  memberOf,
  nanoseconds,
  originalPath,
  textOf,
  type Layout,
  type MappedMachine,
  type Place,
  type Vouched,
} from './layout.js'

/**
 * A KAPE target collection, folder or zip: `<drive letter>/Users/...` with `<time>_CopyLog.csv` at the top (evidence/collectors, KAPE;
 * KapeDocs, log files). The CopyLog vouches for times (UTC, 100 ns) and SHA-1. By default a file whose bytes were copied before is only
 * listed in the SkipLog: it is rebuilt from its twin, and has no time. In containers, long paths lie below `LongFileNames`.
 */
export const kape: Layout = {
  id: 'kape',
  detect: ({ tree }) => tree.names('').some((name) => COPY_LOG.test(name)),
  map,
}

const COPY_LOG = /_CopyLog\.csv$/i
const SKIP_LOG = /_SkipLog\.csv(\.csv)?$/i
const CONSOLE_LOG = /_ConsoleLog\.txt$/i
const LONG_NAMES = 'LongFileNames'
const LONG_NAME_INFO = /^(.*)_OriginalPathInfo\.txt$/

interface Copied {
  readonly original: TreePath
  readonly vouched: Vouched
  readonly sha1: string
}

async function map(place: Place): Promise<MappedMachine> {
  const { tree } = place
  const mapping = new Mapping(place, 'kape')
  const names = tree.names('')
  const copyLogs = names.filter((name) => COPY_LOG.test(name))
  const copied = new Map<TreePath, Copied>()
  for (const name of copyLogs) readCopyLog(await rowsOf(tree, name, mapping), name, copied)
  const longNames = await longNamesOf(tree)

  const stored = new Map<string, Member>()
  for (const [at, listing] of filesBelow(tree, '')) {
    const known = copied.get(at.toLowerCase())
    const original = known?.original ?? longNames.get(at) ?? drivePath(at)
    if (original === undefined) {
      if (/^VSS\d+\//i.test(at))
        mapping.refuse(at, 'comes from a shadow copy; it was not read: unpack the package and pass this folder as --root')
      continue
    }
    const member = memberOf(tree, at, listing)
    mapping.put(original, at, member, known?.vouched)
    if (known) stored.set(known.sha1, member)
  }
  for (const name of names.filter((name) => SKIP_LOG.test(name))) {
    for (const row of await rowsOf(tree, name, mapping)) putSkipped(mapping, name, row, stored)
  }
  return mapping.as(await hostOf(place, copyLogs))
}

async function rowsOf(tree: Tree, at: TreePath, mapping: Mapping): Promise<Record<string, string>[]> {
  const text = await textOf(tree, at, 512 * 2 ** 20)
  if (text === undefined) {
    mapping.refuse(at, 'cannot be read: times and skipped files are not known')
    return []
  }
  return parseCsv(text, { columns: true, relax_column_count: true, relax_quotes: true, skip_empty_lines: true })
}

/** Where a row's file lies: `DestinationFile` less the target directory, which is what stands before the source path, or before LongFileNames. */
function readCopyLog(rows: readonly Record<string, string>[], name: TreePath, copied: Map<TreePath, Copied>): void {
  const from = readable(name)
  for (const { SourceFile = '', DestinationFile = '', SourceFileSha1 = '', ModifiedOnUtc } of rows) {
    const original = originalPath(SourceFile)
    if (original === undefined) continue
    const destination = DestinationFile.replaceAll('\\', '/')
    const inside = SourceFile.replace(':', '').replaceAll('\\', '/')
    const long = destination.lastIndexOf(`/${LONG_NAMES}/`)
    const at = destination.toLowerCase().endsWith(`/${inside.toLowerCase()}`)
      ? inside
      : long === -1
        ? undefined
        : destination.slice(long + 1)
    if (at === undefined) continue
    copied.set(treePath(at).toLowerCase(), {
      original,
      sha1: SourceFileSha1.toUpperCase(),
      vouched: { mtimeNs: nanoseconds(ModifiedOnUtc), mtimeFrom: 'manifest', hash: recordedHash(SourceFileSha1, from) },
    })
  }
}

function putSkipped(
  mapping: Mapping,
  log: TreePath,
  { SourceFile = '', SourceFileSha1 = '' }: Record<string, string>,
  stored: Map<string, Member>,
): void {
  const original = originalPath(SourceFile)
  if (original === undefined) return
  const twin = stored.get(SourceFileSha1.toUpperCase())
  const hash = recordedHash(SourceFileSha1, readable(log))
  if (twin) mapping.put(original, original, twin, { mtimeFrom: 'unreliable', hash })
  else mapping.refuse(original, `was left out as a copy, and no file with its SHA-1 ${SourceFileSha1} is in the package`)
}

/** `LongFileNames/<guid>.<ext>` with `<guid>_OriginalPathInfo.txt`, which reads `C\Users\...`. */
async function longNamesOf(tree: Tree): Promise<Map<TreePath, TreePath>> {
  const found = new Map<TreePath, TreePath>()
  const names = tree.names(LONG_NAMES)
  for (const name of names) {
    const guid = LONG_NAME_INFO.exec(name)?.[1]
    const text = guid && (await textOf(tree, join(LONG_NAMES, name), 1 << 20))
    const original = text ? drivePath(treePath(text.trim().replaceAll('\\', '/'))) : undefined
    const file = names.find((other) => other !== name && other.startsWith(`${guid}.`))
    if (original !== undefined && file !== undefined) found.set(join(LONG_NAMES, file), original)
  }
  return found
}

function drivePath(at: TreePath): TreePath | undefined {
  const [first, ...rest] = at.split('/')
  const drive = driveOf(first!)
  return drive === undefined || rest.length === 0 ? undefined : join(drive, ...rest)
}

/** The console log, inside or beside the archive; the zip's name `<time>_<host>.zip`; the folder that was the target. */
async function hostOf({ tree, source, base }: Place, copyLogs: readonly TreePath[]): Promise<string> {
  const inside = tree.names('').find((name) => CONSOLE_LOG.test(name))
  const beside = copyLogs.map((name) => besideSource(source, readable(name).replace(COPY_LOG, '_ConsoleLog.txt')))
  const log = (inside === undefined ? undefined : await textOf(tree, inside)) ?? beside.find((text) => text !== undefined) ?? ''
  const folder = readable(base.slice(base.lastIndexOf('/') + 1))
  return /Machine name: ([^,\r\n]+)/.exec(log)?.[1] ?? /^\d{4}-\d\d-\d\dT\d{6}_(.+?)(\.zip)?$/.exec(source.name)?.[1] ?? folder
}
