import { z } from 'zod'
import type { EvidenceFile } from '../../evidence/index.js'
import { phrases, recordedKeys, type Row } from '../../rows/index.js'
import { columnText } from '../columns.js'
import type { FileRows } from '../file-rows.js'
import { isObject, type JsonObject } from '../json.js'
import { known, optionalNumber, optionalText, optionalTime } from '../shapes.js'
import { jsonStore, parseJson } from '../store.js'
import type { Knowledge } from './knowledge.js'

/**
 * .letta/claude/ of Claude Subconscious, a plugin of Claude Code: which Claude Code session goes to which Letta conversation, and up to
 * which line of its transcript (letta-stores 7; claude-subconscious 365e7e6; seen in public repositories). The map and the session files
 * are never cleaned up, and either can exist without the other.
 */
const SessionMap = z.record(z.string(), z.unknown())

const SessionState = z.looseObject({
  sessionId: optionalText,
  conversationId: optionalText,
  lastProcessedIndex: optionalNumber,
  startedAt: optionalTime,
  ...known('lastBlockValues lastSeenMessageId'),
})

const MAP_NAME = 'conversations.json'
const STATE_NAME = /^session-(.*)\.json$/s
const HARNESS = 'claude-code'

/** A session file as read: what it says of its session. */
interface State {
  readonly rows: FileRows
  readonly sessionId: string
  readonly raw: JsonObject
}

/** What the map says of a session, in either of its forms. */
interface Entry {
  readonly conversationId: unknown
  readonly agentId: unknown
}

/** The rows of one `.letta/claude` folder: its files belong together. */
export async function folderRows(files: readonly EvidenceFile[], fileRows: (file: EvidenceFile) => FileRows): Promise<Row[]> {
  const found: Row[] = []
  const states: State[] = []
  for (const file of files.filter((file) => nameOf(file) !== MAP_NAME)) {
    const rows = fileRows(file)
    found.push(
      ...(await parseJson(
        sessionState((state) => states.push(state)),
        rows,
      )),
    )
  }
  const bySession = new Map([...states].reverse().map((state) => [state.sessionId, state]))
  for (const file of files.filter((file) => nameOf(file) === MAP_NAME)) {
    const rows = fileRows(file)
    const named = new Set<string>()
    found.push(...(await parseJson(sessionMap(bySession, named), rows)))
    for (const sessionId of named) {
      states.splice(states.indexOf(bySession.get(sessionId)!), 1)
      bySession.get(sessionId)!.rows.tally.headers++
    }
  }
  return [...found, ...states.map((state) => linkRow(state.sessionId, undefined, state, state.rows))]
}

/** Files of `.letta/claude` folders, those of one folder together. */
export function byFolder(files: readonly EvidenceFile[]): EvidenceFile[][] {
  const folders = new Map<string, EvidenceFile[]>()
  for (const file of files) {
    const folder = file.path.slice(0, file.path.lastIndexOf('/'))
    const held = folders.get(folder)
    if (held) held.push(file)
    else folders.set(folder, [file])
  }
  return [...folders.values()]
}

const sessionState = (given: (state: State) => void) =>
  jsonStore({
    id: 'claude-subconscious',
    record: SessionState,
    rows({ record, raw }, rows) {
      given({ rows, raw, sessionId: record.sessionId || STATE_NAME.exec(nameOf(rows.file))?.[1] || '' })
      return []
    },
  })

/** `named` receives the sessions that have a row from here and a session file too. */
const sessionMap = (states: ReadonlyMap<string, State>, named: Set<string>) =>
  jsonStore({
    id: 'claude-subconscious',
    record: SessionMap,
    rows({ raw }, rows) {
      return recordedKeys(raw).map((sessionId) => {
        const entry = entryOf(raw[sessionId])
        if (!entry) return rows.problem(`field ${sessionId} is neither an object nor a string`)
        const state = states.get(sessionId)
        if (state) named.add(sessionId)
        return linkRow(sessionId, entry, state, rows)
      })
    },
  })

/** The form of the first days (until 2026-01-15) is the bare conversation id. */
function entryOf(value: unknown): Entry | undefined {
  if (typeof value === 'string') return { conversationId: value, agentId: undefined }
  return isObject(value) ? { conversationId: value.conversationId, agentId: value.agentId } : undefined
}

/** One session that the map or its session file names: where both name an id the map's counts, the start is the session file's. */
function linkRow(sessionId: string, entry: Entry | undefined, state: State | undefined, rows: FileRows): Row {
  const moment = rows.atRecordOrMtime(state?.raw.startedAt, 'startedAt')
  const conversation_id = columnText(entry?.conversationId) || columnText(state?.raw.conversationId) || null
  const values = {
    harness: HARNESS,
    harness_session_id: sessionId,
    conversation_id,
    agent_id: entry?.agentId,
    last_processed_index: state?.raw.lastProcessedIndex,
    started_at: state?.raw.startedAt,
    file: rows.file.shortPath,
    time_from: moment.from,
  }
  const project_path = isMovedHome(rows.file.project) ? '' : rows.file.project
  const details = { ...values, map: entry !== undefined, state: state !== undefined, links: [linkTo(HARNESS, sessionId, rows.file.path)] }
  return rows.system(moment, 'session-synced', phrases.syncedHarness.say(values), details, {
    session_id: conversation_id ?? '',
    project_path,
  })
}

/** A value of LETTA_HOME that nobody expanded leaves a folder of that name; like any LETTA_HOME it says nothing of a project. */
function isMovedHome(project: string): boolean {
  return /(^|[\\/])(\$HOME|~)$/.test(project)
}

function linkTo(agent: string, session_id: string, from: string) {
  return { agent, session_id, from }
}

function nameOf(file: EvidenceFile): string {
  return file.path.slice(file.path.lastIndexOf('/') + 1)
}

/** claude-subconscious/config.json: the agent that the plugin imported for itself (letta-stores 7; source read, not observed). */
const PluginConfig = z.looseObject({ agentId: optionalText, importedAt: optionalTime, model: optionalText })

export const subconsciousConfig = jsonStore({
  id: 'claude-subconscious-config',
  record: PluginConfig,
  rows({ raw }, rows) {
    const moment = rows.atRecordOrMtime(raw.importedAt, 'importedAt')
    const values = { agent_id: raw.agentId, model: raw.model, file: rows.file.shortPath, time_from: moment.from }
    return [rows.system(moment, 'subconscious-agent', phrases.subconsciousAgent.say(values), values)]
  },
})

/**
 * subconscious/state.json of the later build, which serves any coding agent: a route is a session of one that goes to a Letta
 * conversation (claude-subconscious a401a1e packages/core/types.ts; source read, not observed). Observations and deliveries are counted,
 * not shown.
 */
const BrokerState = z.looseObject({
  routes: z.record(z.string(), z.unknown()).nullish(),
  observations: z.record(z.string(), z.unknown()).nullish(),
  deliveries: z.record(z.string(), z.unknown()).nullish(),
  ...known('version observationOrder'),
})

export const subconsciousState = (knowledge: Knowledge) =>
  jsonStore({
    id: 'subconscious-state',
    record: BrokerState,
    rows({ record }, rows) {
      rows.tally.empty += Object.keys(record.observations ?? {}).length + Object.keys(record.deliveries ?? {}).length
      const routes = record.routes ?? {}
      return recordedKeys(routes).map((key) => {
        const route = routes[key]
        return isObject(route) ? routeRow(route, rows, knowledge) : rows.problem(`field routes.${key} is not an object`)
      })
    },
  })

function routeRow(route: JsonObject, rows: FileRows, knowledge: Knowledge): Row {
  const moment = rows.atRecordOrMtime(route.createdAt, 'createdAt')
  const project_path = columnText(route.projectRoot)
  knowledge.noteProject(project_path)
  const values = {
    harness: route.harness,
    harness_session_id: route.sessionId,
    conversation_id: route.conversationId,
    agent_id: route.agentId,
    model: route.model,
    updated_at: route.updatedAt,
    project_root: route.projectRoot,
    file: rows.file.shortPath,
    time_from: moment.from,
  }
  const links = [linkTo(columnText(route.harness), columnText(route.sessionId), rows.file.path)]
  const place = { session_id: columnText(route.conversationId), project_path }
  return rows.system(moment, 'session-synced', phrases.syncedRoute.say(values), { ...values, links }, place)
}
