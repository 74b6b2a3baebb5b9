/** What a reader obeys instead of showing: controls, bidirectional overrides, line and paragraph separators, invisible characters. */
const OBEYED = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g

const SHORT: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** A text with everything that a terminal would obey written out: `\n`, `\x1b`, `\u202e`. */
export function visible(text: string): string {
  return text.toWellFormed().replace(OBEYED, (character) => SHORT[character] ?? escaped(character.codePointAt(0)!))
}

function escaped(code: number): string {
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`
}
