import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { applyEdits, format, parseTree, type ParseError } from 'jsonc-parser'
import { z } from 'zod'
import { lines, type EvidenceFile, type Line } from '../../evidence/index.js'
import type { Masks } from './masks.js'

/** The raw record behind a row: a line, or a whole file. */
export const RawRecord = z.strictObject({
  /** In bytes from the start of the file; the length is without the line feed. */
  offset: z.number().int(),
  length: z.number().int(),
  /** Of exactly these bytes. */
  sha256: z.string(),
  /** `json`: laid out for reading, digits and order as recorded. `text`: as it stands. */
  form: z.enum(['json', 'text']),
  text: z.string(),
  /** Secret values that were replaced. */
  masked: z.number().int(),
  /** For a record that could not be read: the bytes around the fault, escaped. */
  fault: z.string().nullable(),
  /** The record is longer than what is shown. */
  cut: z.boolean(),
})
export type RawRecord = z.infer<typeof RawRecord>

/** Beyond this many bytes a record is cut: enough to see what it is. */
const MOST_SHOWN = 1 << 20
/** Bytes shown around a fault. */
const AROUND_FAULT = 512

export interface RecordOptions {
  readonly masks: Masks
  /** The record could not be read as it should: show the bytes around the fault. */
  readonly faulty: boolean
}

/** The line of a file; undefined when the file has no such line. Throws `EvidenceTrouble`. */
export async function lineRecord(file: EvidenceFile, number: number, options: RecordOptions): Promise<RawRecord | undefined> {
  const line = await findLine(file, number)
  if (!line) return undefined
  return rawRecord(file, line.offset, line.length, options)
}

/** A whole file as one record. Throws `EvidenceTrouble`. */
export async function fileRecord(file: EvidenceFile, options: RecordOptions): Promise<RawRecord> {
  return rawRecord(file, 0, file.listing.size, options)
}

async function findLine(file: EvidenceFile, number: number): Promise<Line | undefined> {
  for await (const batch of lines(file.chunks())) {
    const found = batch.find((line) => line.number === number)
    if (found) return found
  }
  return undefined
}

async function rawRecord(file: EvidenceFile, offset: number, length: number, { masks, faulty }: RecordOptions): Promise<RawRecord> {
  const hash = createHash('sha256')
  const shown: Buffer[] = []
  let held = 0
  let total = 0
  for await (const part of bytes(file, offset, length)) {
    hash.update(part)
    total += part.length
    if (held < MOST_SHOWN) {
      const piece = Buffer.from(part.subarray(0, MOST_SHOWN - held))
      shown.push(piece)
      held += piece.length
    }
  }
  const cut = held < total
  return { offset, length: total, sha256: hash.digest('hex'), cut, ...show(Buffer.concat(shown), cut, faulty, file, masks) }
}

/** The bytes of a range, in parts. A part is only lent. */
async function* bytes(file: EvidenceFile, offset: number, length: number): AsyncGenerator<Buffer> {
  let at = 0
  for await (const chunk of file.chunks()) {
    const start = Math.max(0, offset - at)
    const end = Math.min(chunk.length, offset + length - at)
    if (start < end) yield chunk.subarray(start, end)
    at += chunk.length
  }
}

type Shown = Pick<RawRecord, 'form' | 'text' | 'masked' | 'fault'>

function show(record: Buffer, cut: boolean, faulty: boolean, file: EvidenceFile, masks: Masks): Shown {
  const { text, count: masked } = masks.json(record.toString('utf8'), file)
  const fault = faulty ? aroundFault(masked === 0 ? record : Buffer.from(text)) : null
  if (cut || !isJson(text)) return { form: 'text', text, masked, fault }
  return { form: 'json', text: applyEdits(text, format(text, undefined, { insertSpaces: true, tabSize: 2, eol: '\n' })), masked, fault }
}

/** The bytes before and behind the place where a record stops being one, escaped. */
function aroundFault(record: Buffer): string {
  const from = Math.max(0, faultAt(record) - AROUND_FAULT)
  const part = record.subarray(from, from + 2 * AROUND_FAULT)
  return `${from > 0 ? '...' : ''}${escapedBytes(part)}${record.length > from + part.length ? '...' : ''}`
}

/** Printable ASCII as it is, every other byte as `\xNN`: none is lost. */
export function escapedBytes(all: Buffer): string {
  return [...all].map(escapedByte).join('')
}

function escapedByte(byte: number): string {
  if (byte === BACKSLASH) return '\\\\'
  return byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : `\\x${byte.toString(16).padStart(2, '0')}`
}

const BACKSLASH = 0x5c

/** Where bytes stop being UTF-8, or else JSON; the start where neither tells. */
function faultAt(record: Buffer): number {
  const text = record.toString('utf8')
  const replaced = isUtf8(record) ? -1 : text.indexOf('\uFFFD')
  const errors: ParseError[] = []
  parseTree(text, errors, { disallowComments: true })
  const at = replaced === -1 ? (errors[0]?.offset ?? 0) : replaced
  return Buffer.byteLength(text.slice(0, at))
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text.startsWith('\uFEFF') ? text.slice(1) : text)
    return true
  } catch {
    return false
  }
}
