import type { Moment } from './file-rows.js'

/** Where a record that a fork copied stood first. */
export interface Original {
  readonly session_id: string
  readonly source_file: string
  readonly source_line: number
}

/**
 * Records of the files read so far, earliest first, by a key that a fork's copy keeps. A file's own records count only after it was read:
 * no session holds copies of itself.
 */
export class Copies<O extends Original = Original> {
  readonly #byKey = new Map<string, O>()
  #pending: [string, O][] = []

  find(key: string): O | undefined {
    return this.#byKey.get(key)
  }

  add(key: string, original: O): void {
    this.#pending.push([key, original])
  }

  endOfFile(): void {
    for (const [key, original] of this.#pending) if (!this.#byKey.has(key)) this.#byKey.set(key, original)
    this.#pending = []
  }

  /** The file is read again from its start. */
  forget(): void {
    this.#pending = []
  }
}

/** A copy stands at its original's time, which it repeats. */
export function atOriginal(moment: Moment): Moment {
  return moment.timestamp_utc === '' ? moment : { ...moment, details: { ...moment.details, time_source: 'original' } }
}
