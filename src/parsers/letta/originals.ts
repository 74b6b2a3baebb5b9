import { createHash } from 'node:crypto'
import { compactJson } from '../../rows/index.js'
import { columnText } from '../columns.js'
import type { Message } from '../pi/messages.js'

/** A message as it first stood in the store, for the copies that forks made of it. */
export interface Original {
  readonly session_id: string
  readonly source_file: string
  readonly source_line: number
  /** The time of its rows. */
  readonly timestamp_utc: string
  /** Its recorded time, and its own `message.timestamp` where that is a real one. */
  readonly recorded: string
  readonly real: string
}

/**
 * The messages of the conversations read so far, earliest first. A message of a later conversation is a copy when time, role, content and
 * call id are the same (rows.md, messages.jsonl): a real `message.timestamp` where both have one, else the recorded time.
 */
export class Originals {
  readonly #byKey = new Map<string, Original>()
  #pending: [string, Original][] = []

  find(message: Message, recorded: string, real: string): Original | undefined {
    const digest = digestOf(message)
    const sameReal = real === '' ? undefined : this.#byKey.get(`real ${real} ${digest}`)
    if (sameReal) return sameReal
    const sameRecorded = this.#byKey.get(`recorded ${recorded} ${digest}`)
    return sameRecorded && (sameRecorded.real === '' || real === '') ? sameRecorded : undefined
  }

  /** Held back until `commit`: a conversation holds no copies of itself. */
  add(message: Message, original: Original): void {
    const digest = digestOf(message)
    this.#pending.push([`recorded ${original.recorded} ${digest}`, original])
    if (original.real !== '') this.#pending.push([`real ${original.real} ${digest}`, original])
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

function digestOf(message: Message): string {
  const content = JSON.stringify(message.content ?? message.parts ?? null)
  return createHash('sha1')
    .update(
      `${columnText(message.role)}\0${columnText(message.toolCallId)}\0${content === undefined ? compactJson(message.content) : content}`,
    )
    .digest('base64')
}
