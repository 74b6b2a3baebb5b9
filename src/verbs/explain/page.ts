import { Ansis } from 'ansis'
import stringWidth from 'string-width'
import { visible } from '../../output/index.js'

export interface PageOptions {
  /** Columns of the terminal. */
  readonly width: number
  readonly color: boolean
}

/** Longer lines are hard to read, however wide the terminal is. */
const WIDEST = 120
const NARROWEST = 40

/** A text for reading: headings, paragraphs and lists within a width, nothing in it that a terminal would obey. */
export class Page {
  readonly #lines: string[] = []
  readonly #paint: Ansis
  readonly #width: number

  constructor({ width, color }: PageOptions) {
    this.#paint = new Ansis(color ? 1 : 0)
    this.#width = Math.max(NARROWEST, Math.min(WIDEST, width))
  }

  heading(text: string): this {
    this.gap()
    this.#lines.push(this.#paint.bold(visible(text)))
    return this
  }

  /** A heading of less weight, inside a section. */
  title(text: string): this {
    this.gap()
    this.#lines.push(this.#paint.cyan(visible(text)))
    return this
  }

  paragraph(text: string, indent = 0): this {
    for (const line of this.#broken(visible(text), indent, indent)) this.#lines.push(line)
    return this
  }

  item(text: string, indent = 2): this {
    const lines = this.#broken(visible(text), indent + 2, indent + 2)
    lines[0] = `${' '.repeat(indent)}- ${lines[0]!.slice(indent + 2)}`
    this.#lines.push(...lines)
    return this
  }

  items(texts: readonly string[], indent = 2): this {
    for (const text of texts) this.item(text, indent)
    return this
  }

  /** `name: value`, the value set off; nothing for an empty value. */
  field(name: string, value: string, indent = 2): this {
    if (value === '') return this
    const label = `${' '.repeat(indent)}${name}: `
    const [first, ...rest] = this.#broken(visible(value), indent + 4, stringWidth(label))
    this.#lines.push(`${' '.repeat(indent)}${this.#paint.dim(`${name}:`)} ${first!.slice(stringWidth(label))}`, ...rest)
    return this
  }

  fields(values: Readonly<Record<string, string>>, indent = 2): this {
    for (const [name, value] of Object.entries(values)) this.field(name, value, indent)
    return this
  }

  /** Lines as they are, each made safe; line breaks stay. */
  verbatim(text: string, indent = 2): this {
    for (const line of text.split('\n')) this.#lines.push(`${' '.repeat(indent)}${visible(line)}`)
    return this
  }

  gap(): this {
    if (this.#lines.length > 0 && this.#lines.at(-1) !== '') this.#lines.push('')
    return this
  }

  toString(): string {
    return `${this.#lines.join('\n')}\n`
  }

  /** Breaks at spaces; a word longer than a line stays whole. `first` columns of the first line are taken. */
  #broken(text: string, indent: number, first: number): string[] {
    const lines = [' '.repeat(first)]
    let used = first
    let begins = true
    for (const word of text.split(' ')) {
      const width = stringWidth(word)
      if (!begins && used + 1 + width > this.#width) {
        lines.push(' '.repeat(indent) + word)
        used = indent + width
      } else {
        lines[lines.length - 1] += begins ? word : ` ${word}`
        used += width + (begins ? 0 : 1)
      }
      begins = false
    }
    return lines
  }
}
