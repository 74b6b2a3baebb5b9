import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { Line } from '../../evidence/index.js'
import type { Row } from '../../rows/index.js'
import { columnText } from '../columns.js'
import { isObject } from '../json.js'
import type { Projects } from '../projects.js'
import { optionalText, optionalTime } from '../shapes.js'
import { jsonlStore, type Read } from '../store.js'

const AN_HOUR = 60 * 60 * 1000

/** What the user typed, as transcripts tell it: a history line that repeats one of these is dropped. */
export class TypedPrompts {
  readonly #times = new Map<string, number[]>()

  note(session_id: string, text: string, at: string): void {
    const key = keyOf(session_id, text)
    const times = this.#times.get(key)
    if (times) times.push(Date.parse(at))
    else this.#times.set(key, [Date.parse(at)])
  }

  /** Takes out the prompt of the same words nearest in time, at most one hour apart; one cancels one. */
  take(session_id: string, text: string, at: string): boolean {
    const times = this.#times.get(keyOf(session_id, text)) ?? []
    const apart = (time: number) => Math.abs(time - Date.parse(at))
    const nearest = times.reduce<number | undefined>(
      (best, time) => (best === undefined || apart(time) < apart(best) ? time : best),
      undefined,
    )
    if (nearest === undefined || apart(nearest) > AN_HOUR) return false
    times.splice(times.indexOf(nearest), 1)
    return true
  }
}

function keyOf(session_id: string, text: string): string {
  return createHash('sha256')
    .update(`${session_id}\0${text.trim().replace(/\s+/g, ' ')}`)
    .digest('base64')
}

/**
 * history.jsonl: one line for each prompt typed in the terminal, none for headless runs (pi-and-claude-code 2.1; seen in 2.1.332). It
 * outlives the transcripts. Long pastes stand beside the text.
 */
const HistoryLine = z.looseObject({
  display: optionalText,
  pastedContents: z.record(z.string(), z.unknown()).nullish(),
  timestamp: optionalTime,
  project: optionalText,
  sessionId: optionalText,
})
type HistoryLine = z.infer<typeof HistoryLine>

export const history = (typed: TypedPrompts, projects: Projects) =>
  jsonlStore({
    id: 'history',
    record: HistoryLine,
    looksLike: (value) => 'display' in value,
    fold: (rows) => ({
      line({ record }: Read<HistoryLine>, line: Line): Row[] {
        const moment = rows.atRecord(record.timestamp)
        const text = columnText(record.display)
        const place = { session_id: columnText(record.sessionId), project_path: columnText(record.project), source_line: line.number }
        projects.name(place.project_path)
        if (text === '') {
          rows.tally.empty++
          return []
        }
        if (typed.take(place.session_id, text, moment.timestamp_utc) && !rows.run.options.allSources) {
          rows.tally.dropped++
          return []
        }
        const pasted = isObject(record.pastedContents) && Object.keys(record.pastedContents).length > 0
        return [rows.row(moment, { turn_type: 'user', text, ...place, details: pasted ? { pasted_contents: record.pastedContents } : {} })]
      },
    }),
  })
