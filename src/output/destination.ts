import fs from 'node:fs'
import path from 'node:path'

/** Where output goes: a file that appears only when it is whole, or the standard output. */
export interface Destination {
  /** The bytes are only lent. False when nobody reads any more: the writer stops, quietly. */
  write(bytes: Buffer): Promise<boolean>
  /** The output is whole. */
  finish(): Promise<void>
  /** The output will not be whole: leaves nothing. */
  abandon(): void
}

/** The output file is there already, and nobody said that it may go. */
export class OutputExistsError extends Error {
  constructor(readonly file: string) {
    super(`${file} exists already; pass --force to replace it`)
    this.name = 'OutputExistsError'
  }
}

/** Writes to a temporary name beside the file and renames it when whole. A signal that ends the program takes the temporary file with it. */
export class FileDestination implements Destination {
  readonly #file: string
  readonly #partial: string
  readonly #onExit = () => fs.rmSync(this.#partial, { force: true })
  #fd: number | undefined

  constructor(file: string, options: { readonly force?: boolean } = {}) {
    this.#file = path.resolve(file)
    if (!options.force && fs.existsSync(this.#file)) throw new OutputExistsError(file)
    removeAbandoned(this.#file)
    this.#partial = partialName(this.#file, String(process.pid))
  }

  async write(bytes: Buffer): Promise<boolean> {
    this.#fd ??= this.#open()
    for (let written = 0; written < bytes.length;) written += fs.writeSync(this.#fd, bytes, written)
    return true
  }

  async finish(): Promise<void> {
    this.#fd ??= this.#open()
    fs.closeSync(this.#fd)
    fs.renameSync(this.#partial, this.#file)
    process.off('exit', this.#onExit)
  }

  abandon(): void {
    if (this.#fd === undefined) return
    fs.closeSync(this.#fd)
    this.#onExit()
    process.off('exit', this.#onExit)
  }

  #open(): number {
    process.once('exit', this.#onExit)
    return fs.openSync(this.#partial, 'w', 0o644)
  }
}

function partialName(file: string, pid: string): string {
  return path.join(path.dirname(file), `.${path.basename(file)}.${pid}.partial`)
}

/** What a killed run of ours left beside the output: its process is gone, its bytes are no use. */
function removeAbandoned(file: string): void {
  const directory = path.dirname(file)
  if (!fs.existsSync(directory)) return
  for (const name of fs.readdirSync(directory)) {
    const pid = /\.(\d+)\.partial$/.exec(name)?.[1]
    if (pid !== undefined && path.join(directory, name) === partialName(file, pid) && !isRunning(Number(pid)))
      fs.rmSync(path.join(directory, name), { force: true })
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** The standard output. A reader that goes away (`| head`) ends the writing, not the program with an error. */
export class StandardOutput implements Destination {
  #closed = false

  constructor(readonly stream: NodeJS.WriteStream = process.stdout) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error
      this.#closed = true
    })
  }

  /** Waits until the bytes are handed on: they are only lent. */
  write(bytes: Buffer): Promise<boolean> {
    if (this.#closed) return Promise.resolve(false)
    return new Promise((resolve) => this.stream.write(bytes, (error) => resolve(!error && !this.#closed)))
  }

  async finish(): Promise<void> {}

  abandon(): void {}
}
