import { recordedTime } from '../../rows/index.js'
import type { Home } from '../../evidence/index.js'
import type { ParserRun } from '../parser.js'
import { Projects } from '../projects.js'

/** Where a row's project came from. */
export interface ProjectOf {
  readonly project_path: string
  readonly from?: 'remote-settings.json' | 'cwd-cache.json' | 'sessions.jsonl'
}

interface Exit {
  readonly at: string
  readonly project: string
}

const NO_PROJECT: ProjectOf = { project_path: '' }

/** What the parser learns of a home while it reads: servers, working directories, session ends, projects. One owner, passed in. */
export class Knowledge {
  readonly #servers = new Map<string, string | undefined>()
  readonly #directories = new Map<string, ProjectOf>()
  readonly #exits = new Map<string, Exit[]>()
  readonly #projects: Projects
  #exitsSorted = true

  constructor(home: Home, run: ParserRun) {
    this.#projects = new Projects(home, run)
  }

  /** An entry of settings.json `agents[]`. Several entries for one agent are real: one that has a `baseUrl` counts. */
  noteServer(agentId: string, baseUrl: string | undefined): void {
    this.#servers.set(agentId, baseUrl ?? this.#servers.get(agentId))
  }

  /** The server of an agent; undefined when settings.json has no entry for it. */
  serverOf(agentId: string): string | undefined {
    return this.#servers.has(agentId) ? (this.#servers.get(agentId) ?? 'api.letta.com') : undefined
  }

  /** A working-directory map's entry: `conversation:<id>` or `agent:<id>::conversation:default` (letta-stores 4.8). */
  noteDirectory(scope: string, directory: string, from: 'remote-settings.json' | 'cwd-cache.json'): void {
    this.noteProject(directory)
    if (from === 'remote-settings.json' || !this.#directories.has(scope)) this.#directories.set(scope, { project_path: directory, from })
  }

  /** A session's end: time in the row form, and the directory it ran in. */
  noteExit(agentId: string, at: string, project: string): void {
    this.noteProject(project)
    if (at === '' || project === '') return
    const exits = this.#exits.get(agentId) ?? []
    exits.push({ at, project })
    this.#exits.set(agentId, exits)
    this.#exitsSorted = false
  }

  /** A working directory that a record names: looked up in the evidence, counted when it is not there. */
  noteProject(recorded: string): void {
    this.#projects.name(recorded)
  }

  /**
   * The project of a conversation that does not record it: its directory in a working-directory map, else that of the exit line of the
   * same agent that is earliest at or after `at`, else of the latest before it (rows.md, transcripts). Without a time, no guess.
   */
  projectOf(agentId: string, conversationId: string, at: string): ProjectOf {
    const scope = conversationId === 'default' ? `agent:${agentId}::conversation:default` : `conversation:${conversationId}`
    return this.#directories.get(scope) ?? this.#nearestExit(agentId, at)
  }

  #nearestExit(agentId: string, at: string): ProjectOf {
    const exits = this.#exits.get(agentId)
    if (!exits || recordedTime(at).iso === '') return NO_PROJECT
    if (!this.#exitsSorted) this.#sortExits()
    let low = 0
    let high = exits.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (exits[middle]!.at < at) low = middle + 1
      else high = middle
    }
    return { project_path: (exits[low] ?? exits[low - 1])!.project, from: 'sessions.jsonl' }
  }

  #sortExits(): void {
    for (const exits of this.#exits.values()) exits.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
    this.#exitsSorted = true
  }
}
