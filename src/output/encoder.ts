import type { Row } from '../rows/index.js'

/** A form that rows are written in: a text for the head, one for each row. */
export interface Encoder {
  readonly head: string
  encode(row: Row): string
}
