import { z } from 'zod'
import { phrases, type Row } from '../../rows/index.js'
import { columnText } from '../columns.js'
import type { FileRows } from '../file-rows.js'
import { isObject, type JsonObject } from '../json.js'
import { jsonStore } from '../store.js'

/**
 * channels/<channel>/routing.json, until 0.30.29 routing.yaml with the same JSON: the messaging chats through which conversations are
 * relayed (letta-stores 4.12; seen in 0.32.18). accounts.json beside it holds bot tokens and is not read.
 */
const RoutingFile = z.looseObject({ routes: z.unknown().optional() })

export const channels = jsonStore({
  id: 'channels',
  record: RoutingFile,
  rows({ record }, rows) {
    const routes: unknown = record.routes
    if (!Array.isArray(routes)) return [rows.problem('no list of routes')]
    return routes.map((route: unknown, i) => (isObject(route) ? relayed(route, rows) : rows.problem(`field routes.${i} is not an object`)))
  },
})

function relayed(route: JsonObject, rows: FileRows): Row {
  const moment = rows.atRecordOrMtime(route.createdAt, 'createdAt')
  const values = {
    channel: rows.file.shortPath.split('/').at(-2) ?? '',
    chat_id: route.chatId,
    chat_type: route.chatType,
    thread_id: route.threadId,
    account_id: route.accountId,
    agent_id: route.agentId,
    conversation_id: route.conversationId,
    enabled: route.enabled,
    outbound_enabled: route.outboundEnabled,
    detached: route.detached,
    created_at: route.createdAt,
    updated_at: route.updatedAt,
    file: rows.file.shortPath,
    time_from: moment.from,
  }
  return rows.system(moment, 'session-relayed', phrases.relayed.say(values), values, { session_id: columnText(route.conversationId) })
}
