import { z } from 'zod'
import { isAbsent, phrases, printed, type Row } from '../../rows/index.js'
import { columnText } from '../columns.js'
import type { FileRows } from '../file-rows.js'
import { isObject, type JsonObject } from '../json.js'
import { optionalText, optionalTexts } from '../shapes.js'
import { jsonStore } from '../store.js'
import type { Knowledge } from './knowledge.js'

/**
 * listener-state/<24 hex>/<agent>_<conversation>.json: a turn that the remote listener began and did not finish. It is removed at a
 * turn's end, so a leftover means an error, a crash or a turn still running (letta-stores 4.11; seen in 0.32.18).
 */
const InterruptedTurn = z.looseObject({
  agentId: optionalText,
  conversationId: optionalText,
  runId: optionalText,
  toolCallIds: optionalTexts,
  unstartedToolCallIds: optionalTexts,
  results: z.array(z.unknown()).nullish(),
  requestOtid: z.unknown().optional(),
  actingUserId: optionalText,
  workingDirectory: optionalText,
  revision: z.unknown().optional(),
  teleportId: z.unknown().optional(),
})

export const listenerState = (knowledge: Knowledge) =>
  jsonStore({
    id: 'listener-state',
    record: InterruptedTurn,
    rows({ record, raw }, rows) {
      const place = { session_id: columnText(raw.conversationId), project_path: columnText(raw.workingDirectory) }
      knowledge.noteProject(place.project_path)
      const results = record.results ?? undefined
      const values = {
        agent_id: raw.agentId,
        conversation_id: raw.conversationId,
        run_id: raw.runId,
        tool_call_ids: raw.toolCallIds,
        unstarted_tool_call_ids: raw.unstartedToolCallIds,
        results: results?.length,
        working_directory: raw.workingDirectory,
        acting_user_id: raw.actingUserId,
        file: rows.file.shortPath,
      }
      const printable = {
        ...values,
        tool_call_ids: commaSeparated(raw.toolCallIds),
        unstarted_tool_call_ids: commaSeparated(raw.unstartedToolCallIds),
      }
      return [
        rows.system(rows.atMtime(), 'interrupted-turn', phrases.interruptedTurn.say(printable), values, place),
        ...(results ?? []).map((result, i) => resultRow(result, i, rows, place)),
      ]
    },
  })

interface Place {
  readonly session_id: string
  readonly project_path: string
}

function resultRow(result: unknown, index: number, rows: FileRows, place: Place): Row {
  if (isObject(result) && result.type === 'approval') return decisionRow(result, rows, place)
  if (isObject(result) && result.type === 'tool') return returnRow(result, rows, place)
  return rows.problem(`field results.${index} is neither an approval nor a tool return`, null, place.session_id)
}

function decisionRow(result: JsonObject, rows: FileRows, place: Place): Row {
  const decision = result.approve === true ? 'approve' : result.approve === false ? 'deny' : printed(result.approve)
  const values = { decision, reason: result.reason, file: rows.file.shortPath }
  const given = { ...place, tool_use_id: columnText(result.tool_call_id) }
  return rows.system(rows.atMtime(), 'permission-decision', phrases.permissionDecision.say(values), values, given)
}

function returnRow(result: JsonObject, rows: FileRows, place: Place): Row {
  const text = (result.status === 'error' ? '[error] ' : '') + returned(result.tool_return)
  const details = isAbsent(result.reason) ? {} : { reason: result.reason }
  return rows.row(rows.atMtime(), { turn_type: 'tool_result', text, ...place, tool_use_id: columnText(result.tool_call_id), details })
}

/** A tool's return is text, or parts whose texts belong together. */
function returned(value: unknown): string {
  if (!Array.isArray(value)) return columnText(value)
  return value
    .filter((part): part is JsonObject => isObject(part) && part.type === 'text')
    .map((part) => columnText(part.text))
    .join('\n')
}

function commaSeparated(ids: unknown): unknown {
  return Array.isArray(ids) ? ids.map((id) => columnText(id)).join(',') : ids
}
