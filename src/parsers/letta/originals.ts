import { createHash } from 'node:crypto'
import { columnText } from '../columns.js'
import { Copies, type Original } from '../copies.js'
import type { Message } from '../pi/messages.js'

/** A message as it first stood in the store, for the copies that forks made of it. */
export interface OriginalMessage extends Original {
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
  readonly #copies = new Copies<OriginalMessage>()

  find({ digest, recorded, real }: Identity): OriginalMessage | undefined {
    const sameReal = real === '' ? undefined : this.#copies.find(`real ${real} ${digest}`)
    if (sameReal) return sameReal
    const sameRecorded = this.#copies.find(`recorded ${recorded} ${digest}`)
    return sameRecorded && (sameRecorded.real === '' || real === '') ? sameRecorded : undefined
  }

  add({ digest, recorded, real }: Identity, original: OriginalMessage): void {
    this.#copies.add(`recorded ${recorded} ${digest}`, original)
    if (real !== '') this.#copies.add(`real ${real} ${digest}`, original)
  }

  endOfConversation(): void {
    this.#copies.endOfFile()
  }

  /** The conversation is read again from its start. */
  forget(): void {
    this.#copies.forget()
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
  const digest = createHash('sha256')
    .update(`${columnText(message.role)}\0${columnText(message.toolCallId)}\0${content}`)
    .digest('base64')
  return { digest, recorded, real }
}
