import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { EvidenceUsageError } from '../trouble.js'

/** Unpacked bytes at offsets: in memory up to a bound, beyond it in a private file that no one else can open and that is gone when we are. */
export class Spool {
  readonly #memory: Buffer[] = []
  #joined: Buffer | undefined
  #size = 0
  #file: { readonly fd: number; readonly remove: () => void } | undefined

  constructor(
    readonly bound: number,
    /** Null where nothing may be written that was not asked for. */
    readonly directory: string | null = os.tmpdir(),
  ) {}

  get size(): number {
    return this.#size
  }

  append(chunk: Buffer): void {
    if (!this.#file && this.#size + chunk.length > this.bound) {
      if (this.directory === null)
        throw new EvidenceUsageError('a compressed archive of this size has to be unpacked to be read: pass --temp-dir DIR')
      this.#file = privateFile(this.directory)
      for (const held of this.#memory.splice(0)) fs.writeSync(this.#file.fd, held)
    }
    if (this.#file) writeAll(this.#file.fd, chunk)
    else this.#memory.push(chunk)
    this.#joined = undefined
    this.#size += chunk.length
  }

  read(offset: number, length: number): Buffer {
    const wanted = Math.max(0, Math.min(length, this.#size - offset))
    if (this.#file) {
      const buffer = Buffer.allocUnsafe(wanted)
      return buffer.subarray(0, fs.readSync(this.#file.fd, buffer, 0, wanted, offset))
    }
    this.#joined ??= Buffer.concat(this.#memory)
    return this.#joined.subarray(offset, offset + wanted)
  }

  close(): void {
    if (!this.#file) return
    fs.closeSync(this.#file.fd)
    this.#file.remove()
    this.#file = undefined
  }
}

function writeAll(fd: number, chunk: Buffer): void {
  for (let done = 0; done < chunk.length;) done += fs.writeSync(fd, chunk, done)
}

/** Where the system allows it the name is taken away at once, so that not even a killed run leaves the file; else when the program ends. */
function privateFile(directory: string): { fd: number; remove: () => void } {
  const folder = fs.mkdtempSync(path.join(directory, 'agent-forensics-'))
  const remove = () => fs.rmSync(folder, { recursive: true, force: true })
  const fd = fs.openSync(path.join(folder, 'unpacked'), 'wx+', 0o600)
  if (process.platform === 'win32') process.once('exit', remove)
  else remove()
  return { fd, remove }
}
