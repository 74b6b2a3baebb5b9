import type { CatalogEntry } from '../catalog/index.js'
import { isFileTool, isShell } from './commands.js'
import { isCopy, kindOf, value, type Call, type Evidence } from './entry.js'
import type { ReportInput } from './input.js'
import { clip, countOutcomes, groupBy, listed, refer, Sighting } from './quote.js'
import { modesOf } from './rules.js'
import type { Report } from './schema.js'

/** Tables of this many lines are read; longer ones are searched, in the rows. */
const MOST_LINES = 2_000
const MOST_URLS = 20

const own = (calls: readonly Call[]) => calls.filter(({ use }) => !isCopy(use))

export function toolTable({ calls }: Evidence): Report['tools'] {
  return [...groupBy(own(calls), ({ use }) => use.row.tool_name)]
    .map(([name, calls]) => ({ name: clip(name || '(no name)'), calls: calls.length, outcomes: countOutcomes(calls) }))
    .sort((a, b) => b.calls - a.calls)
}

export function commandTable(evidence: Evidence): Report['commands'] {
  const shell = own(evidence.calls).filter(({ use }) => isShell(use.row.tool_name))
  const lines = [...groupBy(shell, ({ use }) => use.row.text.trim()).values()].map((calls) => {
    const seen = new Sighting()
    for (const { use } of calls) seen.add(use)
    const { row } = calls[0]!.use
    return { text: clip(row.text.trim(), 1_000), tool: clip(row.tool_name), outcomes: countOutcomes(calls), ...seen.toSeen(evidence) }
  })
  return listed(lines, MOST_LINES)
}

export function pathTables(evidence: Evidence): Pick<Report, 'paths' | 'directories'> {
  const paths = new Map<string, { seen: Sighting; tools: Set<string> }>()
  const directories = new Map<string, Sighting>()
  for (const { use } of own(evidence.calls)) {
    const { tool_name, text } = use.row
    if (!isFileTool(tool_name) || isShell(tool_name) || !looksLikePath(text)) continue
    const path = paths.get(text) ?? { seen: new Sighting(), tools: new Set<string>() }
    paths.set(text, path)
    path.seen.add(use)
    path.tools.add(clip(tool_name))
    const name = directoryOf(text)
    const directory = directories.get(name) ?? new Sighting()
    directories.set(name, directory)
    directory.add(use)
  }
  return {
    paths: listed(
      [...paths].map(([path, { seen, tools }]) => ({ path: clip(path), tools: [...tools], ...seen.toSeen(evidence) })),
      MOST_LINES,
    ),
    directories: listed(
      [...directories].map(([path, seen]) => ({ path: clip(path), ...seen.toSeen(evidence) })),
      MOST_LINES,
    ),
  }
}

function looksLikePath(text: string): boolean {
  return text.length <= 4_096 && /^(?:[~.]{0,2}[\\/]|[A-Za-z]:[\\/])|^[^\s{}]+[\\/.][^\s{}]*$/.test(text)
}

function directoryOf(path: string): string {
  const end = Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\'))
  return end === -1 ? '.' : path.slice(0, end) || path.slice(0, 1)
}

const URL_IN_TEXT = /\bhttps?:\/\/[^\s"'`<>\\)\]}|;]{1,2000}/gi
const REMOTE_IN_TEXT = /\b(?:ssh|scp|rsync|sftp|git\s+clone)\b[^\n;|&]{0,200}?\b[\w.-]{1,64}@([a-zA-Z0-9][\w.-]{0,253})/g

/** Hosts that calls name: asked for, which is less than contacted. */
export function hostTable(evidence: Evidence): Report['hosts'] {
  const hosts = new Map<string, { seen: Sighting; urls: Set<string> }>()
  for (const { use } of own(evidence.calls)) {
    const named = new Map<string, string | undefined>()
    for (const [url] of use.row.text.matchAll(URL_IN_TEXT)) {
      const host = hostOf(url)
      if (host) named.set(host, url)
    }
    for (const [, host] of use.row.text.matchAll(REMOTE_IN_TEXT)) if (!named.has(host!)) named.set(host!, undefined)
    for (const [host, url] of named) {
      const line = hosts.get(host) ?? { seen: new Sighting(), urls: new Set<string>() }
      hosts.set(host, line)
      line.seen.add(use)
      if (url && line.urls.size < MOST_URLS) line.urls.add(clip(url))
    }
  }
  const lines = [...hosts].map(([host, { seen, urls }]) => ({ host: clip(host), urls: [...urls], ...seen.toSeen(evidence) }))
  return listed(lines, MOST_LINES)
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : ''
}

export function permissionTables(evidence: Evidence): Pick<Report, 'permissions' | 'modes'> {
  const permissions = evidence.entries
    .filter((entry) => kindOf(entry) === 'permission-setting')
    .map((entry) => ({
      scope: scopeOf(entry.row.source_file, entry.row.project_path),
      user: entry.row.user,
      key: clip(value(entry, 'key')),
      value: clip(value(entry, 'value')),
      time: entry.row.timestamp_utc,
      row: refer(entry, evidence),
    }))
  const modes = new Map<string, { mode: string; session: string; seen: Sighting }>()
  for (const entry of evidence.entries) {
    if (isCopy(entry)) continue
    for (const mode of modesOf(entry)) {
      const key = `${entry.session} ${mode}`
      const line = modes.get(key) ?? { mode: clip(mode), session: clip(entry.row.session_id), seen: new Sighting() }
      modes.set(key, line)
      line.seen.add(entry)
    }
  }
  return { permissions, modes: [...modes.values()].map(({ mode, session, seen }) => ({ mode, session, ...seen.toSeen(evidence) })) }
}

function scopeOf(file: string, project: string): string {
  if (project === '') return `user (${clip(file)})`
  return `project ${clip(project)} (${file.endsWith('settings.local.json') ? 'this machine only' : 'shared'})`
}

export function taskTable(evidence: Evidence): Report['tasks'] {
  const runs = groupBy(
    evidence.entries.filter((entry) => kindOf(entry) === 'scheduled-task-run'),
    (entry) => `${entry.row.user} ${value(entry, 'job_id')}`,
  )
  const listedTasks = evidence.entries
    .filter((entry) => kindOf(entry) === 'scheduled-task')
    .map((entry) => {
      const key = `${entry.row.user} ${value(entry, 'id')}`
      const own = runs.get(key) ?? []
      runs.delete(key)
      return {
        id: clip(value(entry, 'id')),
        name: clip(value(entry, 'name')),
        status: clip(value(entry, 'status')),
        when: clip(value(entry, 'scheduled_for') || `${value(entry, 'cron')} ${value(entry, 'timezone')}`),
        prompt: clip(value(entry, 'prompt'), 1_000),
        runs: own.length,
        last_run: own.at(-1)?.row.timestamp_utc ?? '',
        row: refer(entry, evidence),
      }
    })
  const gone = [...runs.values()].map((own) => ({
    id: clip(value(own[0]!, 'job_id')),
    name: '',
    status: 'not listed any more',
    when: '',
    prompt: '',
    runs: own.length,
    last_run: own.at(-1)!.row.timestamp_utc,
    row: refer(own[0]!, evidence),
  }))
  return [...listedTasks, ...gone]
}

export function channelTable(evidence: Evidence): Report['channels'] {
  return evidence.entries
    .filter((entry) => kindOf(entry) === 'session-relayed')
    .map((entry) => ({
      channel: clip(value(entry, 'channel')),
      chat: clip(value(entry, 'chat_id')),
      account: clip(value(entry, 'account_id')),
      agent_id: clip(value(entry, 'agent_id')),
      session: clip(entry.row.session_id),
      enabled: value(entry, 'enabled'),
      row: refer(entry, evidence),
    }))
}

/** Paths and key names only. */
export function credentialTable({ credentials, catalog }: Pick<ReportInput, 'credentials' | 'catalog'>): Report['credentials'] {
  const rules = new Map(
    catalog.flatMap((entry: CatalogEntry) => entry.credentials.map((rule) => [`${entry.agent} ${rule.id}`, rule] as const)),
  )
  const lines = credentials.flatMap(({ user, agent, rule, path }) => {
    const found = rules.get(`${agent} ${rule}`)
    return found ? [{ user, path: clip(path), title: found.title, handling: found.class, keys: [...found.keys] }] : []
  })
  return listed(lines, MOST_LINES)
}

/** Rows of each turn type per day: what text and pipelines need of the pictures. */
export function activityTable({ entries }: Evidence): Report['activity'] {
  const days = groupBy(
    entries.filter((entry) => entry.row.timestamp_utc !== '' && !isCopy(entry)),
    ({ row }) => row.timestamp_utc.slice(0, 10),
  )
  return [...days]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([day, rows]) => ({
      day,
      turns: Object.fromEntries([...groupBy(rows, ({ row }) => row.turn_type)].map(([type, list]) => [type, list.length])),
    }))
}
