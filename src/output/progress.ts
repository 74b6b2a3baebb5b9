import { bytesInWords } from '../rows/index.js'
import { visible } from './visible.js'

/** How far a long run is. */
export interface Step {
  readonly files: number
  readonly bytes: number
  /** What is being read; anyone may have named it. */
  readonly path: string
}

/** At most this often is the line drawn anew, in milliseconds. */
const PAUSE = 100
/** Clears what stands behind the cursor in its line (ECMA-48, EL). */
const CLEAR = '\x1b[K'

/** One line on a terminal that says how far a run is; nothing anywhere else. */
export class ProgressLine {
  #drawn = 0
  #shown = false

  constructor(
    readonly verb: string,
    readonly stream: NodeJS.WriteStream = process.stderr,
    readonly now: () => number = Date.now,
  ) {}

  step(step: Step): void {
    if (!this.stream.isTTY || this.now() - this.#drawn < PAUSE) return
    this.#drawn = this.now()
    this.#shown = true
    this.stream.write(`\r${this.#text(step)}${CLEAR}`)
  }

  /** Takes the line away, so that what is said next stands alone. */
  end(): void {
    if (this.#shown) this.stream.write(`\r${CLEAR}`)
    this.#shown = false
  }

  #text({ files, bytes, path }: Step): string {
    const head = `${this.verb}: ${files} files, ${bytesInWords(bytes)}  `
    const room = Math.max(0, (this.stream.columns ?? 80) - head.length - 1)
    const shown = visible(path)
    return `${head}${shown.length > room ? `…${shown.slice(shown.length - Math.max(0, room - 1))}` : shown}`
  }
}
