/**
 * A number whose recorded digits a JavaScript number would change (`12345678901234567890`, `1.0`, `1e3`).
 * Prints as recorded; counts as the nearest number.
 */
export class RecordedNumber {
  constructor(readonly recorded: string) {}
  toString(): string {
    return this.recorded
  }
  valueOf(): number {
    return Number(this.recorded)
  }
  /** JSON has no way to hand on digits through `JSON.stringify`: the digits travel as a string. */
  toJSON(): string {
    return this.recorded
  }
}

/** On an object with integer-like keys, which JavaScript would reorder: its keys in recorded order. */
export const KEY_ORDER = Symbol('recorded key order')

interface Ordered {
  [KEY_ORDER]?: readonly string[]
  [key: string]: unknown
}

export function recordedKeys(object: object): readonly string[] {
  return (object as Ordered)[KEY_ORDER] ?? Object.keys(object)
}

/** Compact JSON in recorded key order and with recorded digits. */
export function compactJson(value: unknown): string {
  if (value instanceof RecordedNumber) return value.recorded
  if (Array.isArray(value)) return `[${value.map(compactJson).join(',')}]`
  if (typeof value === 'object' && value !== null) {
    const members = recordedKeys(value).map((key) => `${JSON.stringify(key)}:${compactJson((value as Ordered)[key])}`)
    return `{${members.join(',')}}`
  }
  return JSON.stringify(value) ?? 'null'
}

/** Whether a value counts as absent: missing, null or the empty string (rows.md, Columns). */
export function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || value === ''
}

/** A value as a row's text prints it: `-` when absent, strings raw, everything else as recorded. */
export function printed(value: unknown): string {
  if (isAbsent(value)) return '-'
  return typeof value === 'string' ? value : compactJson(value)
}
