import { once } from 'node:events'
import fs from 'node:fs'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { Header, Pack, ReadEntry } from 'tar'
import { ZipFile } from 'yazl'
import { EvidenceUsageError } from '../trouble.js'

/** The times that a stored file gets, in nanoseconds since 1970. */
export interface FileTimes {
  readonly atimeNs: bigint
  readonly mtimeNs: bigint
}

/** A package being written: nothing stands under its name before it is whole. */
export interface PackageWriter {
  /** A path on this disk at which the bytes of `stored` are to be put. */
  stage(stored: string): string
  /** The staged file is whole and gets its place. */
  add(stored: string, times: FileTimes): Promise<void>
  /** The package is whole and gets its name. */
  finish(): Promise<void>
  /** The package will not be whole: leaves nothing. */
  abandon(): void
  /** Where the unfinished package stands meanwhile. */
  readonly partial: string
}

/** The writer for the form that the name asks for: `.zip`, `.tar.gz` or `.tgz`, else a folder. */
export function packageWriter(output: string): PackageWriter {
  const target = path.resolve(output)
  if (fs.lstatSync(target, { throwIfNoEntry: false }))
    throw new EvidenceUsageError(`${output} exists already; a package is never overwritten`)
  if (!fs.existsSync(path.dirname(target))) throw new EvidenceUsageError(`${output}: there is no directory ${path.dirname(target)}`)
  if (/\.zip$/i.test(target)) return new ArchiveWriter(target, zipArchive)
  if (/\.(?:tar\.gz|tgz)$/i.test(target)) return new ArchiveWriter(target, tarArchive)
  return new FolderWriter(target)
}

/** A folder of its own beside the output, gone with the program when nothing came of it. */
class Partial {
  readonly directory: string
  readonly #onExit = () => fs.rmSync(this.directory, { recursive: true, force: true })
  readonly #made = new Set<string>()

  constructor(target: string) {
    this.directory = path.join(path.dirname(target), `.${path.basename(target)}.${process.pid}.partial`)
    fs.mkdirSync(this.directory, { mode: 0o700 })
    process.once('exit', this.#onExit)
  }

  path(stored: string): string {
    const at = path.join(this.directory, ...stored.split('/'))
    const holder = path.dirname(at)
    if (!this.#made.has(holder)) fs.mkdirSync(holder, { recursive: true, mode: 0o700 })
    this.#made.add(holder)
    return at
  }

  renamed(): void {
    process.off('exit', this.#onExit)
  }

  remove(): void {
    this.#onExit()
    process.off('exit', this.#onExit)
  }
}

class FolderWriter implements PackageWriter {
  readonly #partial: Partial

  constructor(readonly target: string) {
    this.#partial = new Partial(target)
  }

  get partial(): string {
    return this.#partial.directory
  }

  stage(stored: string): string {
    return this.#partial.path(stored)
  }

  async add(stored: string, times: FileTimes): Promise<void> {
    fs.utimesSync(this.#partial.path(stored), seconds(times.atimeNs), seconds(times.mtimeNs))
  }

  async finish(): Promise<void> {
    fs.renameSync(this.#partial.directory, this.target)
    this.#partial.renamed()
  }

  abandon(): void {
    this.#partial.remove()
  }
}

/** An archive that takes one file after the other. */
interface Archive {
  add(file: string, stored: string, mtime: Date): Promise<void>
  finish(): Promise<void>
}

class ArchiveWriter implements PackageWriter {
  readonly #partial: Partial
  readonly #archive: Archive

  constructor(
    readonly target: string,
    open: (file: string) => Archive,
  ) {
    this.#partial = new Partial(target)
    this.#archive = open(this.#file)
  }

  get partial(): string {
    return this.#partial.directory
  }

  stage(stored: string): string {
    return this.#partial.path(`staged/${stored}`)
  }

  async add(stored: string, times: FileTimes): Promise<void> {
    const staged = this.stage(stored)
    await this.#archive.add(staged, stored, new Date(Number(times.mtimeNs / 1_000_000n)))
    fs.rmSync(staged)
  }

  async finish(): Promise<void> {
    await this.#archive.finish()
    fs.renameSync(this.#file, this.target)
    this.#partial.remove()
  }

  abandon(): void {
    this.#partial.remove()
  }

  get #file(): string {
    return path.join(this.#partial.directory, 'archive')
  }
}

/** Zip's times are whole seconds from 1901 to 2038, and only even ones for programs that read its older field; the manifest has the true ones. */
function zipArchive(file: string): Archive {
  const zip = new ZipFile()
  const written = pipeline(zip.outputStream, fs.createWriteStream(file, { mode: 0o600 }))
  written.catch(() => undefined)
  return {
    async add(source, stored, mtime) {
      const taken = new Promise<void>((resolve, reject) =>
        zip.addReadStreamLazy(stored, { mtime, mode: 0o100600, size: fs.statSync(source).size }, (give) =>
          give(null, fs.createReadStream(source).once('close', resolve).once('error', reject)),
        ),
      )
      await Promise.race([taken, written])
    },
    async finish() {
      zip.end()
      await written
    },
  }
}

function tarArchive(file: string): Archive {
  const pack = new Pack({ portable: true })
  const gzip = createGzip()
  const written = pipeline(gzip, fs.createWriteStream(file, { mode: 0o600 }))
  written.catch(() => undefined)
  pack.on('data', (chunk: Buffer) => {
    if (!gzip.write(chunk)) {
      pack.pause()
      gzip.once('drain', () => pack.resume())
    }
  })
  pack.once('end', () => gzip.end())
  return {
    async add(source, stored, mtime) {
      const { size } = fs.statSync(source)
      const entry = new ReadEntry(new Header({ path: stored, size, mtime, mode: 0o600, type: 'File' }))
      pack.add(entry)
      await Promise.race([feed(entry, source), written])
    },
    async finish() {
      pack.end()
      await written
    },
  }
}

/** The bytes of a file into a tar entry, no faster than the archive takes them. */
async function feed(entry: ReadEntry, source: string): Promise<void> {
  const ended = once(entry, 'end')
  for await (const chunk of fs.createReadStream(source, { highWaterMark: 1 << 20 })) {
    if (!entry.write(chunk as Buffer)) await once(entry, 'drain')
  }
  entry.end()
  await ended
}

function seconds(ns: bigint): number {
  return Number(ns) / 1e9
}
