import { parseTree, type Node } from 'jsonc-parser'
import { KEY_ORDER, RecordedNumber } from '../rows/index.js'

export type JsonObject = Record<string, unknown>

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof RecordedNumber)
}

/** JSON nested deeper than this is not read: real records have some ten levels, made-up ones overflow whatever walks them. */
export const DEEPEST = 1000

/** The text is nested deeper than `DEEPEST`. */
export class TooDeepError extends Error {
  constructor() {
    super(`is nested deeper than ${DEEPEST} levels`)
    this.name = 'TooDeepError'
  }
}

function assertShallow(text: string): void {
  if (text.length > 2 * DEEPEST && opens(text, '{') + opens(text, '[') > DEEPEST && depthOf(text) > DEEPEST) throw new TooDeepError()
}

/** How often a bracket opens, strings included: a native search, since nearly every text ends here. */
function opens(text: string, bracket: string): number {
  let count = 0
  for (let at = text.indexOf(bracket); at !== -1 && count <= DEEPEST; at = text.indexOf(bracket, at + 1)) count++
  return count
}

const QUOTE = 34
const BACKSLASH = 92
const STEP: ReadonlyMap<number, number> = new Map([
  [123, 1],
  [91, 1],
  [125, -1],
  [93, -1],
])

function depthOf(text: string): number {
  let depth = 0
  let deepest = 0
  let inString = false
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === BACKSLASH && inString) i++
    else if (code === QUOTE) inString = !inString
    else if (!inString) deepest = Math.max(deepest, (depth += STEP.get(code) ?? 0))
  }
  return deepest
}

/** `JSON.parse` for text that others wrote. Throws `TooDeepError` too. */
export function parsePlain(text: string): unknown {
  assertShallow(text)
  return JSON.parse(text)
}

/**
 * Source text in which JavaScript's own reading might not show what is recorded: long, small or oddly written numbers, integer-like keys
 * (whose digits may be escapes).
 */
const RISKY = /"(?:\d|\\u003\d)+"\s*:|\d[\d.]{15,}|\.0{6}|\.\d*0(?!\d)|\d[eE]|-0(?![\d.])/

/**
 * `JSON.parse`, but values keep what JavaScript would lose: digits (`RecordedNumber`) and the order of integer-like keys
 * (`KEY_ORDER`). Accepts exactly what `parsePlain` accepts; throws where it throws.
 */
export function parseLossless(text: string): unknown {
  const value = parsePlain(text)
  if (!RISKY.test(text)) return value
  const tree = parseTree(text, [], { disallowComments: true, allowTrailingComma: false, allowEmptyContent: false })
  return tree === undefined ? value : fromTree(tree, text)
}

function fromTree(node: Node, source: string): unknown {
  switch (node.type) {
    case 'object':
      return objectFromTree(node, source)
    case 'array':
      return (node.children ?? []).map((child) => fromTree(child, source))
    case 'number':
      return numberFrom(source.slice(node.offset, node.offset + node.length))
    case 'string':
      return JSON.parse(source.slice(node.offset, node.offset + node.length)) as string
    default:
      return node.value
  }
}

function objectFromTree(node: Node, source: string): JsonObject {
  const object: JsonObject = {}
  const keys: string[] = []
  for (const property of node.children ?? []) {
    const [keyNode, valueNode] = property.children ?? []
    if (!keyNode || !valueNode) continue
    const key = fromTree(keyNode, source) as string
    if (!Object.hasOwn(object, key)) keys.push(key)
    Object.defineProperty(object, key, { value: fromTree(valueNode, source), enumerable: true, writable: true, configurable: true })
  }
  if (keys.some((key) => /^\d+$/.test(key))) Object.defineProperty(object, KEY_ORDER, { value: keys })
  return object
}

function numberFrom(digits: string): number | RecordedNumber {
  const value = Number(digits)
  return String(value) === digits ? value : new RecordedNumber(digits)
}

/**
 * A value of a record that was read plainly, read again from the record's text with recorded digits and key order; undefined where the
 * text is more than the record (a fragment before it, NULs around it) or has nothing there.
 */
export function losslessAt(text: string, path: readonly (string | number)[]): unknown {
  let value = lossless(text)
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
    value = (value as Record<string | number, unknown>)[key]
  }
  return value
}

function lossless(text: string): unknown {
  try {
    return parseLossless(text)
  } catch {
    return undefined
  }
}
