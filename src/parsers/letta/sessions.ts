import { z } from 'zod'
import type { Line } from '../../evidence/index.js'
import { isAbsent, phrases, type Row } from '../../rows/index.js'
import { columnText } from '../columns.js'
import { optionalNumber, optionalText, optionalTime } from '../shapes.js'
import { jsonlStore, type Read } from '../store.js'
import type { Knowledge } from './knowledge.js'

/** sessions.jsonl: one line per CLI session that ended with /exit or /logout, at its end (letta-stores 4.6; seen in 0.25.9 to 0.32.18). */
const SessionLine = z.looseObject({
  agent_id: optionalText,
  session_id: optionalText,
  timestamp: optionalTime,
  project: optionalText,
  model: optionalText,
  provider: optionalText,
  usage: z.record(z.string(), z.unknown()).nullish(),
  duration: z.looseObject({ api_ms: optionalNumber, wall_ms: optionalNumber }).nullish(),
  cost: z.record(z.string(), z.unknown()).nullish(),
  message_count: optionalNumber,
  tool_call_count: optionalNumber,
  exit_reason: optionalText,
})

type SessionLine = z.infer<typeof SessionLine>

export const sessions = (knowledge: Knowledge) =>
  jsonlStore({
    id: 'sessions',
    record: SessionLine,
    lossless: true,
    looksLike: (value) => 'session_id' in value || 'agent_id' in value,
    fold(rows) {
      const models = new Map<string, string>()
      const line = ({ record, raw }: Read<SessionLine>, at: Line): Row[] => {
        const moment = rows.atRecord(raw.timestamp)
        const session_id = columnText(raw.session_id)
        const place = { session_id, project_path: columnText(raw.project), source_line: at.number }
        const { agent_id, exit_reason, message_count, tool_call_count, provider, model, project } = raw
        knowledge.noteExit(columnText(agent_id), moment.timestamp_utc, place.project_path)

        const ended = !isAbsent(exit_reason) || !isAbsent(message_count)
        const end = { agent_id, exit_reason, message_count, tool_call_count, wall_ms: record.duration?.wall_ms }
        const start = { agent_id, provider, model, project }
        const found = [
          ended
            ? rows.system(moment, 'session-end', phrases.sessionEnd.say(end), end, place)
            : rows.system(moment, 'session-start', phrases.sessionStart.say(start), start, place),
        ]

        const named = columnText(model)
        const previous = models.get(session_id)
        if (named !== '' && named !== previous) {
          models.set(session_id, named)
          const change = previous === undefined ? { model, provider } : { previous, model, provider }
          const text = previous === undefined ? phrases.model.say(change) : phrases.modelChange.say(change)
          found.push(rows.system(moment, 'model', text, change, { ...place, model: named }))
        }
        return found
      }
      return { line }
    },
  })
