import { Ansis } from 'ansis'
import stringWidth from 'string-width'
import type { Row, TurnType } from '../rows/index.js'
import type { Encoder } from './encoder.js'
import { visible } from './visible.js'

export interface TableOptions {
  /** Columns of the terminal. */
  readonly width: number
  readonly color: boolean
}

/** Widths of all columns but the last, which takes what is left. */
const WIDTHS = { time: 24, type: 11, session: 14, tool: 12 } as const
const GAP = '  '
const LEAST_TEXT = 20

type Style = 'cyan' | 'green' | 'gray' | 'yellow' | 'magenta' | 'blue'
const STYLES: Record<TurnType, Style> = {
  user: 'cyan',
  assistant: 'green',
  thinking: 'gray',
  tool_use: 'yellow',
  tool_result: 'magenta',
  system: 'blue',
}

/** A view for reading in a terminal: one line a row, cut to its width, nothing in it that a terminal would obey. */
export function table({ width, color }: TableOptions): Encoder {
  const paint = new Ansis(color ? 1 : 0)
  const textWidth = Math.max(LEAST_TEXT, width - Object.values(WIDTHS).reduce((sum, column) => sum + column + GAP.length, 0))
  const line = (row: Row): string =>
    [
      fit(row.timestamp_utc || '-', WIDTHS.time),
      paint[STYLES[row.turn_type]](fit(row.turn_type, WIDTHS.type)),
      fit(visible(shortSession(row.session_id)), WIDTHS.session),
      fit(visible(row.tool_name), WIDTHS.tool),
      cut(visible(row.text), textWidth),
    ]
      .join(GAP)
      .trimEnd()
  const head = [fit('TIME (UTC)', WIDTHS.time), fit('TYPE', WIDTHS.type), fit('SESSION', WIDTHS.session), fit('TOOL', WIDTHS.tool), 'TEXT']
  return { head: `${paint.bold(head.join(GAP))}\n`, encode: (row) => `${line(row)}\n` }
}

/** Ids are told apart by their ends. */
function shortSession(id: string): string {
  return id.length <= WIDTHS.session ? id : `…${id.slice(1 - WIDTHS.session)}`
}

function fit(text: string, width: number): string {
  const short = cut(text, width)
  return short + ' '.repeat(Math.max(0, width - stringWidth(short)))
}

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

/** Cuts to a width in terminal cells, never inside a character. */
function cut(text: string, width: number): string {
  const candidate = text.length > width * 4 ? text.slice(0, width * 4) : text
  if (candidate.length === text.length && stringWidth(text) <= width) return text
  let used = 0
  let kept = ''
  for (const { segment } of graphemes.segment(candidate)) {
    used += stringWidth(segment)
    if (used > width - 1) break
    kept += segment
  }
  return `${kept}…`
}
