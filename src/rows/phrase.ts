import { printed } from './recorded.js'

/**
 * A row text as a template with named values, `model: <model> provider=<provider>`: parsers fill it in, `explain --text` reads it
 * back, tests compare with it. One grammar, written once.
 */
export interface Phrase<Name extends string = string> {
  readonly id: string
  readonly template: string
  readonly names: readonly Name[]
  /** The text with each value printed as recorded, `-` where it is absent. */
  say(values: Readonly<Partial<Record<Name, unknown>>>): string
  /** Every way in which a text can be read as this phrase; more than one where a value holds the phrase's own words. */
  read(text: string): Record<Name, string>[]
}

type Names<T extends string> = T extends `${string}<${infer Name}>${infer Rest}` ? Name | Names<Rest> : never

/** Readings of an ambiguous text stop here: enough to show that it is ambiguous. */
const MOST_READINGS = 16

export function phrase<const T extends string>(id: string, template: T): Phrase<Names<T>> {
  const pieces = template.split(/<([a-z_]+)>/)
  const literals = pieces.filter((_, i) => i % 2 === 0)
  const names = pieces.filter((_, i) => i % 2 === 1) as Names<T>[]
  return {
    id,
    template,
    names,
    say(values) {
      let text = literals[0]!
      names.forEach((name, i) => (text += printed(values[name]) + literals[i + 1]!))
      return text
    },
    read(text) {
      return readings(text, literals).map(
        (found) => Object.fromEntries(names.map((name, i) => [name, found[i]!])) as Record<Names<T>, string>,
      )
    },
  }
}

/** The values of each reading, the nearest words first. */
function readings(text: string, literals: readonly string[]): string[][] {
  const found: string[][] = []
  const last = literals.length - 1
  if (last === 0) return text === literals[0] ? [[]] : []
  /** Where, for each piece, the rest could not be read: then not from later on either, so no text is tried for ever. */
  const dead = literals.map(() => Infinity)
  const read = (start: number, i: number, values: readonly string[]): void => {
    const literal = literals[i]!
    if (i === last) {
      const end = text.length - literal.length
      if (end >= start && text.endsWith(literal)) found.push([...values, text.slice(start, end)])
      return
    }
    const before = found.length
    for (let at = text.indexOf(literal, start); at !== -1 && found.length < MOST_READINGS; at = text.indexOf(literal, at + 1)) {
      if (at + literal.length >= dead[i + 1]!) break
      const soFar = found.length
      read(at + literal.length, i + 1, [...values, text.slice(start, at)])
      if (found.length === soFar) dead[i + 1] = Math.min(dead[i + 1]!, at + literal.length)
    }
    if (found.length === before) dead[i] = Math.min(dead[i]!, start)
  }
  if (text.startsWith(literals[0]!)) read(literals[0]!.length, 1, [])
  return found
}
