import { z } from 'zod'
import { phrases, recordedKeys, type Row } from '../../rows/index.js'
import { columnText } from '../columns.js'
import type { FileRows } from '../file-rows.js'
import { isObject } from '../json.js'
import { permissionRows } from '../permissions.js'
import { keyed, known, optionalText } from '../shapes.js'
import { jsonStore } from '../store.js'
import type { Knowledge } from './knowledge.js'

/**
 * The four settings files (letta-stores 4.7; seen in 0.25.9 to 0.32.18). The program rewrites them for many reasons: their time is the
 * file's last change, not a rule's. Other keys are preferences; credentials among them never reach a row.
 */
const SettingsFile = z.looseObject({
  permissions: keyed.nullish(),
  sessionsByServer: keyed.nullish(),
  agents: z.array(z.unknown()).nullish(),
  ...known(`lastSession lastAgent hooks env preferredBackendMode reflectionTrigger reflectionStepCount reflectionMerge
    reflectionMergeInstructions reflectionSettingsByAgent memoryReminderInterval deviceId tokenExpiresAt refreshToken oauthState recentModels
    lastSeenReleaseNotesVersion experiments profiles channelCredentialsStore windowTitle createDefaultAgents sessionContextEnabled
    autoConversationTitles autoConversationTitlesModel autoSwapOnQuotaLimit includeWorktreeTool tokenStreaming showCompactions
    conversationSwitchAlertEnabled reasoningTabCycleEnabled reflectionBehavior enableSleeptime pinnedAgents pinnedAgentsByServer
    pinnedConversationsByServer listenerEnvName worktree`),
})

const AgentEntry = z.looseObject({ agentId: z.string(), baseUrl: optionalText })

/** `permissions` keys in the order in which they are shown; any other key follows as recorded. */
const PERMISSION_KEYS = ['mode', 'allow', 'deny', 'ask', 'alwaysAsk', 'additionalDirectories']

/** The user's own file, whose `agents[]` name the servers, and the per-directory files, which hold the last session too. */
const USER_SETTINGS = '.letta/settings.json'
const LOCAL_SETTINGS = '.letta/settings.local.json'

export const settings = (knowledge: Knowledge) =>
  jsonStore({
    id: 'settings',
    record: SettingsFile,
    rows({ record }, rows) {
      const inHome = rows.file.project === ''
      if (inHome && rows.file.shortPath === USER_SETTINGS) noteServers(record.agents ?? [], knowledge)
      const holdsSessions = rows.file.shortPath === LOCAL_SETTINGS || (inHome && rows.file.shortPath === USER_SETTINGS)
      return [
        ...permissionRows(record.permissions ?? {}, PERMISSION_KEYS, rows),
        ...(holdsSessions ? sessionRows(record.sessionsByServer ?? {}, rows) : []),
      ]
    },
  })

function noteServers(agents: readonly unknown[], knowledge: Knowledge): void {
  for (const entry of agents) {
    const agent = AgentEntry.safeParse(entry)
    if (agent.success) knowledge.noteServer(agent.data.agentId, agent.data.baseUrl || undefined)
  }
}

/** The last session used on each server; entries of the local backend (`local:<store path>`) are in its own store. */
function sessionRows(sessionsByServer: Record<string, unknown>, rows: FileRows): Row[] {
  return recordedKeys(sessionsByServer)
    .filter((server) => !server.startsWith('local:'))
    .map((server) => {
      const entry = sessionsByServer[server]
      if (!isObject(entry)) return rows.problem(`field sessionsByServer.${server} is not an object`)
      const values = { server, agent_id: entry.agentId, conversation_id: entry.conversationId, file: rows.file.shortPath }
      const place = { session_id: columnText(entry.conversationId), project_path: rows.file.project }
      return rows.system(rows.atMtime(), 'session-synced', phrases.syncedLastSession.say(values), values, place)
    })
}
