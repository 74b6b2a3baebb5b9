import { createHash } from 'node:crypto'
import { columnText } from '../columns.js'
import type { Message } from '../pi/messages.js'

/** A message as it first stood in the store, for the copies that forks made of it. */
export interface Original {
  readonly session_id: string
  readonly source_file: string
  readonly source_line: number
  /** The time of its rows. */
  readonly timestamp_utc: string
  /** Its own `message.timestamp` where that is a real one, else empty. */
  readonly real: string
}

/**
 * The messages of the conversations read so far, earliest first. A message of a later conversation is a copy when time, role, content and
 * call id are the same (rows.md, messages.jsonl): a real `message.timestamp` where both have one, else the recorded time.
 */
export class Originals {
  readonly #byKey = new Map<string, Original>()
  #pending: [string, Original][] = []

  find({ digest, recorded, real }: Identity): Original | undefined {
    const sameReal = real === '' ? undefined : this.#byKey.get(`real ${real} ${digest}`)
    if (sameReal) return sameReal
    const sameRecorded = this.#byKey.get(`recorded ${recorded} ${digest}`)
    return sameRecorded && (sameRecorded.real === '' || real === '') ? sameRecorded : undefined
  }

  /** Held back until `commit`: a conversation holds no copies of itself. */
  add({ digest, recorded, real }: Identity, original: Original): void {
    this.#pending.push([`recorded ${recorded} ${digest}`, original])
    if (real !== '') this.#pending.push([`real ${real} ${digest}`, original])
  }

  commit(): void {
    for (const [key, original] of this.#pending) if (!this.#byKey.has(key)) this.#byKey.set(key, original)
    this.#pending = []
  }

  /** The conversation is read again from its start. */
  forget(): void {
    this.#pending = []
  }
}

/** What a copy shares with its original: role, call id and content as a digest, and the times. */
export interface Identity {
  readonly digest: string
  readonly recorded: string
  readonly real: string
}

export function identityOf(message: Message, recorded: string, real: string): Identity {
  const content = JSON.stringify(message.content ?? message.parts ?? null)
  const digest = createHash('sha1')
    .update(`${columnText(message.role)}\0${columnText(message.toolCallId)}\0${content}`)
    .digest('base64')
  return { digest, recorded, real }
}
