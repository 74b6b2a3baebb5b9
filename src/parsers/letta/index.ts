import type { EvidenceFile, Home } from '../../evidence/index.js'
import type { Row } from '../../rows/index.js'
import { FileRows, unlistedRows } from '../file-rows.js'
import { Parser, PROJECTS_NAMED, type Batch, type ParserRun } from '../parser.js'
import { parseJson, parseJsonl, type JsonlStore, type JsonStore } from '../store.js'
import { channels } from './channels.js'
import { parseConversations, type ListenerRows } from './conversations.js'
import { crons, runs } from './crons.js'
import { cwdCache, remoteSettings } from './directories.js'
import { ExternalAgents } from './external.js'
import { Knowledge } from './knowledge.js'
import { listenerState } from './listener-state.js'
import { headerDirectories } from './projects.js'
import { sessions } from './sessions.js'
import { settings } from './settings.js'
import { byFolder, folderRows, subconsciousConfig, subconsciousState } from './subconscious.js'

/** Letta Code: conversations, sessions, settings, channels, schedules and interrupted turns (letta-stores; rows.md). */
export class LettaParser extends Parser {
  async *parse(home: Home, run: ParserRun): AsyncGenerator<Batch> {
    yield* new LettaHome(this, home, run).batches()
  }

  override async nameProjects(home: Home, run: ParserRun): Promise<void> {
    await new LettaHome(this, home, run).nameProjects()
  }
}

/** One home being read. The order matters: what names projects and servers comes before what needs them. */
class LettaHome {
  readonly #knowledge: Knowledge
  readonly #byStore = new Map<string, EvidenceFile[]>()

  constructor(
    readonly parser: LettaParser,
    readonly home: Home,
    readonly run: ParserRun,
  ) {
    this.#knowledge = new Knowledge(home, run)
  }

  async *batches(): AsyncGenerator<Batch> {
    this.#find()
    yield* this.#whole('settings', settings(this.#knowledge))
    yield* this.#directories()
    yield* this.#whole('crons', crons)
    yield* this.#lines('runs', runs)
    yield* this.#channels()
    yield* this.#whole('claude-subconscious-config', subconsciousConfig)
    yield* this.#whole('subconscious-state', subconsciousState(this.#knowledge))
    yield* this.#conversations()
    yield* this.#subconscious(this.#of('claude-subconscious-home'))
    yield unlistedRows(this.home, this.run, this.parser.entry.agent)
    yield PROJECTS_NAMED
    yield* this.#projects()
    yield unlistedRows(this.home, this.run, this.parser.entry.agent)
  }

  /** Only what names projects is read: maps, sessions, interrupted turns and the headers of conversations. */
  async nameProjects(): Promise<void> {
    this.#find()
    for await (const rows of this.#directories()) void rows
    await this.#listeners()
    for (const file of this.#of('messages')) for (const directory of await headerDirectories(file)) this.#knowledge.noteProject(directory)
  }

  #find(): void {
    const stores = this.parser.entry.stores.filter((store) => store.parsed)
    for (const file of this.home.files(stores)) this.#of(file.store).push(file)
  }

  async *#directories(): AsyncGenerator<Row[]> {
    yield* this.#whole('remote-settings', remoteSettings(this.#knowledge))
    yield* this.#whole('cwd-cache', cwdCache(this.#knowledge))
    yield* this.#lines('sessions', sessions(this.#knowledge))
  }

  #of(store: string): EvidenceFile[] {
    let files = this.#byStore.get(store)
    if (!files) this.#byStore.set(store, (files = []))
    return files
  }

  #rows(file: EvidenceFile, store?: string): FileRows {
    return new FileRows(this.home, this.parser.entry.agent, file, this.run, store)
  }

  async *#whole<T>(id: string, store: JsonStore<T>): AsyncGenerator<Row[]> {
    for (const file of this.#of(id)) yield await parseJson(store, this.#rows(file))
  }

  async *#lines<T>(id: string, store: JsonlStore<T>): AsyncGenerator<Row[]> {
    for (const file of this.#of(id)) yield* parseJsonl(store, this.#rows(file))
  }

  /** The same bytes under the old name and the new are one file that was being renamed: read once. */
  async *#channels(): AsyncGenerator<Row[]> {
    const seen = new Set<string>()
    for (const file of this.#of('channels')) {
      const folder = file.path.slice(0, file.path.lastIndexOf('/'))
      const rows = this.#rows(file)
      const undo = rows.tally.mark()
      const found = await parseJson(channels, rows)
      const twin = `${folder} ${file.wasRead?.sha256 ?? file.path}`
      if (seen.has(twin)) {
        undo()
        rows.tally.dropped += found.length
      } else yield found
      seen.add(twin)
    }
  }

  async *#conversations(): AsyncGenerator<Batch> {
    const files = {
      messages: this.#of('messages'),
      backups: this.#of('messages-backup'),
      records: this.#of('conversation-records'),
      transcripts: this.#of('transcripts'),
      listeners: await this.#listeners(),
    }
    const context = { home: this.home, run: this.run, agent: this.parser.entry.agent, knowledge: this.#knowledge }
    const externals = new ExternalAgents(this.run.links)
    for await (const batch of parseConversations(files, context)) yield externals.mark(batch)
  }

  async #listeners(): Promise<ListenerRows[]> {
    const store = listenerState(this.#knowledge)
    return Promise.all(
      this.#of('listener-state').map(async (file) => {
        const rows = this.#rows(file)
        const found = await parseJson(store, rows)
        const turn = found.find((row) => row.details.kind === 'interrupted-turn')
        const agentId = (turn?.details as Record<string, unknown> | undefined)?.agent_id
        return { rows, found, agentId: typeof agentId === 'string' ? agentId : '', conversationId: turn?.session_id ?? '' }
      }),
    )
  }

  /** Settings and relayed sessions of every project that a record named. */
  async *#projects(): AsyncGenerator<Row[]> {
    const stores = this.parser.entry.stores.filter((store) => store.parsed && store.scope === 'project')
    for (const file of this.#of('claude-subconscious-home')) this.run.seen.add(file.tree.identity(file.at))
    const files = this.home.projectFiles(stores, this.run.seen)
    const store = settings(this.#knowledge)
    for (const file of files) if (file.store === 'project-settings') yield await parseJson(store, this.#rows(file, 'settings'))
    yield* this.#subconscious(files.filter((file) => file.store === 'claude-subconscious'))
  }

  async *#subconscious(files: readonly EvidenceFile[]): AsyncGenerator<Row[]> {
    for (const folder of byFolder(files)) yield await folderRows(folder, (file) => this.#rows(file, 'claude-subconscious'))
  }
}
