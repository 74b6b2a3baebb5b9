import fs from 'node:fs'
import path from 'node:path'
import type { Store } from '../catalog/index.js'
import { openArchive, type ArchiveLimits, type OpenArchive } from './archive/index.js'
import { placesIn, type Placed, type Source } from './layouts/index.js'
import { homeMarks, Machine, type FoundHome, type HomeMarks } from './machine.js'
import { FolderTree, readable, type Tree } from './tree.js'
import { EvidenceTrouble, EvidenceUsageError } from './trouble.js'

export interface SourceOptions {
  readonly roots?: readonly string[]
  readonly packages?: readonly string[]
  readonly stores?: readonly Store[]
  readonly tempDir?: string | null
  readonly archiveLimits?: Partial<ArchiveLimits>
}

/** One machine of a root or a package, with its homes. */
export interface OpenMachine {
  readonly machine: Machine
  /** Empty when the source does not tell. */
  readonly host: string
  readonly homes: readonly FoundHome[]
  /** Of a package of our own: the SHA-256 of its manifest as it is now. */
  readonly manifestSha256?: string
  /** What of the source was not read; paths begin with the name of the source. */
  readonly troubles: readonly EvidenceTrouble[]
}

export interface OpenSources {
  readonly machines: readonly OpenMachine[]
  /** A root is the root of this machine. */
  readonly live: boolean
  readonly close: () => void
}

/** Opens every root and package. */
export async function openSources(options: SourceOptions): Promise<OpenSources> {
  const marks = homeMarks(options.stores)
  const machines: OpenMachine[] = []
  const archives: OpenArchive[] = []
  const close = () => {
    for (const archive of archives.splice(0)) archive.close()
  }
  try {
    for (const root of options.roots ?? []) machines.push(...(await machinesIn(folder(root, '--root'), new FolderTree(root), [], marks)))
    for (const at of options.packages ?? []) {
      if (isFolder(at, '--package')) machines.push(...(await machinesIn(folder(at, '--package'), new FolderTree(at), [], marks)))
      else {
        const archive = await openArchive(at, { limits: options.archiveLimits, tempDir: options.tempDir })
        archives.push(archive)
        machines.push(...(await machinesIn(archiveSource(at, archive), archive.tree, archive.refused, marks)))
      }
    }
  } catch (error) {
    close()
    throw error
  }
  const live = (options.roots ?? []).some((root) => path.resolve(root) === path.parse(path.resolve(root)).root)
  return { machines, live, close }
}

function isFolder(at: string, flag: string): boolean {
  const stat = fs.statSync(at, { throwIfNoEntry: false })
  if (!stat) throw new EvidenceUsageError(`${flag} ${at}: no such file or directory`)
  if (!stat.isFile() && !stat.isDirectory()) throw new EvidenceUsageError(`${flag} ${at}: this is neither a file nor a directory`)
  return stat.isDirectory()
}

function folder(at: string, flag: string): Source {
  if (!isFolder(at, flag)) throw new EvidenceUsageError(`${flag} ${at}: this is a file; an archive is read with --package`)
  return { path: path.resolve(at), name: path.basename(path.resolve(at)), kind: 'folder', comment: '', everyEntryZip64: false }
}

function archiveSource(at: string, { kind, comment, everyEntryZip64 }: OpenArchive): Source {
  return { path: path.resolve(at), name: path.basename(at), kind, comment, everyEntryZip64 }
}

/** The machines of one source; what was refused before any layout was asked goes with the first. */
async function machinesIn(source: Source, tree: Tree, refused: readonly EvidenceTrouble[], marks: HomeMarks): Promise<OpenMachine[]> {
  const machines: OpenMachine[] = []
  for (const { layout, place } of placesIn(source, tree, marks)) machines.push(await machineAt({ layout, place }, marks))
  const none = machines.every(({ homes }) => homes.length === 0)
  const troubles = [...refused, ...(none ? unopened(source, tree) : [])]
  const [first, ...rest] = machines
  return [{ ...first!, troubles: [...troubles, ...first!.troubles] }, ...rest]
}

async function machineAt({ layout, place }: Placed, marks: HomeMarks): Promise<OpenMachine> {
  const mapped = await layout.map(place)
  const machine = new Machine(mapped.tree, path.join(place.source.path, readable(place.base)))
  const homes = mapped.homes ?? (await machine.homes(marks))
  const troubles = machine.troubles.map(({ path, problem }) => new EvidenceTrouble(`${place.source.name}/${path}`, problem))
  return { machine, host: mapped.host, homes, manifestSha256: mapped.manifestSha256, troubles: [...mapped.troubles, ...troubles] }
}

const IMAGE = /\.(vhdx?|vmdk|vdi|qcow2|e01|ex01|aff4?|ad1|dd|raw|img)$/i
const ARCHIVE = /\.(zip|7z|rar|tar|tgz|tar\.(gz|xz|zst|bz2))$/i

/** A source without homes may hold them one layer further in: that is said, since "no files" would be wrong. */
function unopened(source: Source, tree: Tree): EvidenceTrouble[] {
  return tree.names('').flatMap((name) => {
    if (tree.list(name)?.kind !== 'file') return []
    const at = `${source.name}/${readable(name)}`
    if (IMAGE.test(name)) return new EvidenceTrouble(at, 'is a disk image, which was not opened: mount it and pass --root')
    return ARCHIVE.test(name) ? new EvidenceTrouble(at, 'is an archive inside, which was not opened: pass it as --package') : []
  })
}
