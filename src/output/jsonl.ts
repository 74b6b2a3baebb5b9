import type { Encoder } from './encoder.js'

/** One JSON object a line, keys in column order; lone surrogates stay as escapes. */
export const jsonl: Encoder = {
  head: '',
  encode: (row) => `${JSON.stringify(row)}\n`,
}
