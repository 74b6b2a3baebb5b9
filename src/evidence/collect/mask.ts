import { printParseErrorCode, visit } from 'jsonc-parser'
import { isAlias, isMap, isScalar, isSeq, parseAllDocuments, type Node, type Scalar } from 'yaml'
import type { Credential } from '../../catalog/index.js'
import { keyMatcher, type KeyPath } from './keys.js'
import { announcesSecret, secretsIn, withheld, type Span } from './secrets.js'

/** A file of which nobody can say where its secrets stand: it is withheld whole. */
export class UnscannableError extends Error {
  constructor(problem: string) {
    super(problem)
    this.name = 'UnscannableError'
  }
}

export interface MaskedCopy {
  readonly bytes: Buffer
  /** How many values, or parts of values, were masked. */
  readonly count: number
}

/** A byte range and what stands in its place. */
interface Mask extends Span {
  readonly by: string
}

/** What a rule looks for: values that are secret as a whole, and values in which only the secret part is. */
interface Wanted {
  readonly whole: (path: KeyPath) => boolean
  readonly partly: (path: KeyPath) => boolean
  readonly keys: readonly string[]
}

/** Finds what to mask. The text is the file's bytes as latin1, so that a character's place is its byte's. Throws `UnscannableError`. */
type Scan = (text: string, wanted: Wanted) => Mask[]

const SCANS: Partial<Record<Credential['format'], Scan>> = { json: scanJson, yaml: scanYaml, ini: scanIni, text: scanText }

/** A copy in which the values that these rules call secret read `[withheld: N characters]`; every other byte is as it was. */
export function masked(bytes: Buffer, rules: readonly Credential[]): MaskedCopy {
  const start = bytes.subarray(0, 3).equals(BOM) ? 3 : 0
  const text = bytes.subarray(start).toString('latin1')
  if (text.includes('\0')) throw new UnscannableError('it is not text')
  const masks = text.trim() === '' ? [] : rules.flatMap((rule) => scan(text, rule))
  return applied(text, withoutOverlaps(masks), bytes.subarray(0, start))
}
const BOM = Buffer.from([0xef, 0xbb, 0xbf])

function scan(text: string, rule: Credential): Mask[] {
  const scanner = SCANS[rule.format]
  if (!scanner) throw new UnscannableError(`there is no scanner for ${rule.format}`)
  const ignoreCase = rule.format === 'ini'
  const partly = keyMatcher(rule.partly, { ignoreCase })
  return scanner(text, { whole: keyMatcher(rule.keys, { ignoreCase }), partly, keys: rule.keys })
}

function withoutOverlaps(masks: readonly Mask[]): Mask[] {
  const kept: Mask[] = []
  for (const mask of [...masks].sort((a, b) => a.start - b.start || b.end - a.end)) {
    const last = kept.at(-1)
    if (!last || mask.start >= last.end) kept.push(mask)
    else if (mask.end > last.end) throw new UnscannableError('two rules name overlapping parts of it')
  }
  return kept
}

function applied(text: string, masks: readonly Mask[], head: Buffer): MaskedCopy {
  const parts: string[] = []
  let from = 0
  for (const { start, end, by } of masks) {
    parts.push(text.slice(from, start), by)
    from = end
  }
  parts.push(text.slice(from))
  return { bytes: Buffer.concat([head, Buffer.from(parts.join(''), 'latin1')]), count: masks.length }
}

/** Characters of a text whose bytes are held one a character. */
function lengthOf(latin1: string): number {
  return [...Buffer.from(latin1, 'latin1').toString('utf8')].length
}

function maskOf({ start, end }: Span, text: string): Mask {
  return { start, end, by: withheld(lengthOf(text.slice(start, end))) }
}

/** The secrets inside a part of the text. */
function masksWithin(text: string, span: Span): Mask[] {
  return secretsIn(text.slice(span.start, span.end)).map(({ start, end }) =>
    maskOf({ start: span.start + start, end: span.start + end }, text),
  )
}

// --- JSON: every value under every key, keys that stand twice too ---

function scanJson(text: string, wanted: Wanted): Mask[] {
  const masks: Mask[] = []
  let flag: { readonly path: KeyPath; readonly value: unknown } = { path: [], value: undefined }
  const literal = (value: unknown, offset: number, length: number, path: KeyPath) => {
    const follows = typeof flag.value === 'string' && isNext(flag.path, path) && announcesSecret(flag.value)
    if (wanted.whole(path) || (wanted.partly(path) && follows)) masks.push(...wholeLiteral(text, value, offset, length))
    else if (wanted.partly(path) && typeof value === 'string') masks.push(...insideLiteral(text, offset, length))
    flag = { path, value }
  }
  try {
    visit(
      text,
      {
        onLiteralValue: (value, offset, length, _line, _character, path) => literal(value, offset, length, path().map(decodedKey)),
        onError: (error) => {
          throw new UnscannableError(`it is not valid JSON (${printParseErrorCode(error)})`)
        },
      },
      { disallowComments: true, allowTrailingComma: false },
    )
  } catch (error) {
    throw error instanceof RangeError ? new UnscannableError('it is nested too deeply') : error
  }
  return masks
}

function decodedKey(step: string | number): string | number {
  return typeof step === 'string' && /[\x80-\xff]/.test(step) ? Buffer.from(step, 'latin1').toString('utf8') : step
}

/** Whether `path` is the element after `before` in one array. */
function isNext(before: KeyPath, path: KeyPath): boolean {
  const [last, previous] = [path.at(-1), before.at(-1)]
  if (typeof last !== 'number' || typeof previous !== 'number' || last !== previous + 1) return false
  return path.length === before.length && path.slice(0, -1).every((step, i) => step === before[i])
}

function wholeLiteral(text: string, value: unknown, offset: number, length: number): Mask[] {
  if (value === null || typeof value === 'boolean' || value === '') return []
  if (typeof value === 'string') {
    const by = withheld([...String(JSON.parse(Buffer.from(text.slice(offset, offset + length), 'latin1').toString('utf8')))].length)
    return [{ start: offset + 1, end: offset + length - 1, by }]
  }
  return [{ start: offset, end: offset + length, by: `"${withheld(length)}"` }]
}

/** The secrets inside a JSON string: looked for in its decoded text, masked in its bytes. */
function insideLiteral(text: string, offset: number, length: number): Mask[] {
  const { decoded, at } = decodedString(text, offset + 1, offset + length - 1)
  return secretsIn(decoded).map(({ start, end }) => ({
    start: at[start]!,
    end: at[end]!,
    by: withheld(lengthOf(decoded.slice(start, end))),
  }))
}

/** A JSON string's characters, and where in the text each begins; one place more, for the end. */
function decodedString(text: string, start: number, end: number): { readonly decoded: string; readonly at: readonly number[] } {
  const at: number[] = []
  let decoded = ''
  for (let i = start; i < end;) {
    const length = text[i] !== '\\' ? 1 : text[i + 1] === 'u' ? 6 : 2
    at.push(i)
    decoded += length === 1 ? text[i] : (ESCAPES[text[i + 1]!] ?? String.fromCharCode(Number.parseInt(text.slice(i + 2, i + 6), 16)))
    i += length
  }
  at.push(end)
  return { decoded, at }
}
const ESCAPES: Record<string, string> = { '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }

// --- YAML ---

function scanYaml(text: string, wanted: Wanted): Mask[] {
  const documents = parseAllDocuments(text, { uniqueKeys: false, logLevel: 'error', strict: true })
  if (!Array.isArray(documents)) return []
  return documents.flatMap((document) => {
    const [problem] = [...document.errors, ...document.warnings]
    if (problem) throw new UnscannableError(`it is not valid YAML (${problem.code})`)
    refuseComments([document.comment, document.commentBefore])
    return document.contents ? yamlMasks(document.contents, [], text, wanted) : []
  })
}

function yamlMasks(node: Node, path: KeyPath, text: string, wanted: Wanted): Mask[] {
  refuseComments([node.comment, node.commentBefore])
  if (isAlias(node) || node.anchor !== undefined) throw new UnscannableError('a YAML alias can name a secret elsewhere')
  if (isMap(node)) return node.items.flatMap((pair) => pairMasks(pair.key as Node, pair.value as Node | null, path, text, wanted))
  if (isSeq(node)) return node.items.flatMap((item, i) => yamlMasks(item as Node, [...path, i], text, wanted))
  if (isScalar(node)) return scalarMasks(node, path, text, wanted)
  throw new UnscannableError('it has a YAML node of an unknown kind')
}

function pairMasks(key: Node, value: Node | null, path: KeyPath, text: string, wanted: Wanted): Mask[] {
  refuseComments([key.comment, key.commentBefore])
  if (!isScalar(key)) throw new UnscannableError('a YAML key is not a plain value')
  return value === null ? [] : yamlMasks(value, [...path, String(key.value)], text, wanted)
}

function scalarMasks(node: Scalar, path: KeyPath, text: string, wanted: Wanted): Mask[] {
  const [start, end] = node.range!
  if (wanted.partly(path)) return masksWithin(text, { start, end })
  if (!wanted.whole(path) || node.value === null || typeof node.value === 'boolean' || node.value === '') return []
  const block = node.type === 'BLOCK_LITERAL' || node.type === 'BLOCK_FOLDED'
  return [{ start, end, by: `"${withheld(lengthOf(String(node.source ?? node.value)))}"${block ? '\n' : ''}` }]
}

/** A comment can hold a value that was set before: what looks like one makes the file unfit for masking. */
function refuseComments(comments: readonly (string | null | undefined)[]): void {
  if (comments.some((comment) => comment?.includes(':'))) throw new UnscannableError('a comment in it may hold a value')
}

// --- INI: git's configuration, and Python's ---

const SECTION = /^\s*\[\s*([^\s"\]]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]\s*/
const ENTRY = /^\s*([A-Za-z][\w.-]*)\s*(?:[=:]\s*([^]*))?$/
const COMMENT = /^\s*[#;]/

function scanIni(text: string, wanted: Wanted): Mask[] {
  const masks: Mask[] = []
  let section: string[] = []
  for (const line of logicalLines(text)) {
    let { start } = line
    const head = SECTION.exec(text.slice(start, line.end))
    if (head) {
      section = head[2] === undefined ? [head[1]!] : [head[1]!, head[2]]
      start += head[0].length
    }
    const rest = text.slice(start, line.end)
    if (rest.trim() === '') continue
    if (COMMENT.test(rest)) masks.push(...masksWithin(text, { start, end: line.end }))
    else masks.push(...entryMasks(text, { start, end: line.end }, section, wanted))
  }
  return masks
}

function entryMasks(text: string, line: Span, section: readonly string[], wanted: Wanted): Mask[] {
  const entry = ENTRY.exec(text.slice(line.start, line.end))
  if (!entry) throw new UnscannableError('it has a line that is no section, entry or comment')
  const [, key, given] = entry
  if (given === undefined || given === '') return []
  const path = [...section, key!]
  const value = { start: line.end - given.length, end: line.end }
  if (wanted.whole(path)) return [maskOf(value, text)]
  return wanted.partly(path) ? masksWithin(text, value) : []
}

/** Lines without their ends; a backslash at the end of a line joins the next to it. */
function* logicalLines(text: string): Generator<Span> {
  let start = 0
  for (let at = 0; at <= text.length;) {
    const newline = text.indexOf('\n', at)
    const next = newline === -1 ? text.length + 1 : newline + 1
    const end = next - 1 - (text[next - 2] === '\r' && newline !== -1 ? 1 : 0)
    at = next
    if (newline !== -1 && endsInContinuation(text.slice(start, end))) continue
    yield { start, end }
    start = next
  }
}

function endsInContinuation(line: string): boolean {
  return /(?<!\\)(?:\\\\)*\\$/.test(line)
}

// --- text: what follows a key on its line, and what looks like a secret ---

function scanText(text: string, { keys }: Wanted): Mask[] {
  const masks = masksWithin(text, { start: 0, end: text.length })
  const keyed = keys.flatMap((key) =>
    [...text.matchAll(new RegExp(`${escaped(key)}["']?[ \\t]*[=:][ \\t]*(?<value>[^\\r\\n]+)`, 'dgi'))].map((match) => {
      const [start, end] = match.indices!.groups!.value!
      return maskOf({ start, end }, text)
    }),
  )
  const outside = masks.filter((mask) => !keyed.some(({ start, end }) => mask.start < end && mask.end > start))
  return [...keyed, ...outside]
}

function escaped(key: string): string {
  return key.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}
