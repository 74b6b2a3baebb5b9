import { lines, type EvidenceFile, type Home } from '../../evidence/index.js'
import { byCodeUnit, recordedTime, type Row } from '../../rows/index.js'
import { columnText } from '../columns.js'
import { Copies } from '../copies.js'
import { FileRows, unlistedRows } from '../file-rows.js'
import { isObject } from '../json.js'
import { byFolder, folderRows } from '../letta/subconscious.js'
import { Parser, ParserRun, PROJECTS_NAMED, type Batch } from '../parser.js'
import { Projects } from '../projects.js'
import { parseJson, parseJsonl, type JsonStore } from '../store.js'
import { history, TypedPrompts } from './prompts.js'
import { settings } from './settings.js'
import { customTitle, Sidecars, subagentMeta } from './sidecars.js'
import { sessionOf, transcripts } from './transcripts.js'

/** Claude Code: transcripts of sessions and subagents, typed prompts, names, permission settings (pi-and-claude-code 2). */
export class ClaudeCodeParser extends Parser {
  async *parse(home: Home, run: ParserRun): AsyncGenerator<Batch> {
    yield* new ClaudeHome(this, home, run).batches()
  }
}

/** One home being read. What names projects, subagents and other agents' sessions comes before the transcripts. */
class ClaudeHome {
  readonly #projects: Projects
  readonly #sidecars = new Sidecars()
  readonly #files: readonly EvidenceFile[]

  constructor(
    readonly parser: ClaudeCodeParser,
    readonly home: Home,
    readonly run: ParserRun,
  ) {
    this.#projects = new Projects(home, run)
    this.#files = home.files(parser.entry.stores.filter((store) => store.parsed))
  }

  async *batches(): AsyncGenerator<Batch> {
    yield* this.#whole('settings', settings)
    yield* this.#whole('subagent-meta', subagentMeta(this.#sidecars))
    yield* this.#whole('custom-titles', customTitle(this.#sidecars))
    const heads: Head[] = []
    for (const file of [...this.#of('projects'), ...this.#of('subagents')]) heads.push(await headOf(file))
    for (const { cwd } of heads) this.#projects.name(cwd)
    await this.#links()
    yield unlistedRows(this.home, this.run, this.parser.entry.agent)
    yield PROJECTS_NAMED

    const typed = new TypedPrompts()
    const store = transcripts({ projects: this.#projects, copies: new Copies(), typed, sidecars: this.#sidecars })
    for (const { file } of heads.sort(byStart)) yield* parseJsonl(store, this.#rows(file))
    for (const file of this.#of('history')) yield* parseJsonl(history(typed, this.#projects), this.#rows(file))
    yield* this.#projectSettings()
    yield unlistedRows(this.home, this.run, this.parser.entry.agent)
  }

  #of(store: string): EvidenceFile[] {
    return this.#files.filter((file) => file.store === store)
  }

  #rows(file: EvidenceFile, store?: string): FileRows {
    return new FileRows(this.home, this.parser.entry.agent, file, this.run, store)
  }

  async *#whole<T>(id: string, store: JsonStore<T>): AsyncGenerator<Row[]> {
    for (const file of this.#of(id)) yield await parseJson(store, this.#rows(file))
  }

  async *#projectSettings(): AsyncGenerator<Row[]> {
    const stores = this.parser.entry.stores.filter((store) => store.id === 'project-settings')
    for (const file of this.home.projectFiles(stores, this.run.seen)) yield await parseJson(settings, this.#rows(file, 'settings'))
  }

  /** Which sessions Claude Subconscious sent to Letta. The rows of its files are the letta parser's: here they only name the other end. */
  async #links(): Promise<void> {
    const stores = this.parser.entry.stores.filter((store) => store.id === 'project-relays')
    const files = [...this.#of('relays'), ...this.home.projectFiles(stores, new Set())]
    const reading = new ParserRun(this.run.options)
    for (const folder of byFolder(files)) {
      for (const row of await folderRows(folder, (file) => new FileRows(this.home, this.parser.entry.agent, file, reading))) {
        if (row.details.kind !== 'session-synced' || row.session_id === '') continue
        const link = { agent: 'letta', session_id: row.session_id, from: row.source_file }
        this.run.links.note(this.parser.entry.agent, columnText(row.details.harness_session_id), link)
      }
    }
    for (const file of reading.files) this.run.files.add(file)
    for (const [at, trouble] of reading.troubles) this.run.troubles.set(at, trouble)
  }
}

/** What the first lines of a transcript tell: a fork is told from its original by them. */
interface Head {
  readonly file: EvidenceFile
  /** In the row form, empty when nothing says. */
  readonly start: string
  readonly cwd: string
  /** An answer in it was given to another session. */
  readonly isFork: boolean
}

/** An answer stands near the top, if the file has one. */
const HEAD_LINES = 200

async function headOf(file: EvidenceFile): Promise<Head> {
  let [start, cwd] = ['', '']
  let count = 0
  try {
    for await (const batch of lines(file.chunks())) {
      for (const { text } of batch) {
        const line = attempt(text)
        start ||= recordedTime(line.timestamp).iso
        cwd ||= columnText(line.cwd)
        if (line.type === 'assistant' || ++count >= HEAD_LINES) {
          const asked = columnText(line.requestSessionId)
          return { file, start, cwd, isFork: asked !== '' && asked !== sessionOf(file) }
        }
      }
    }
  } catch {
    // What cannot be read is named when the file itself is read.
  }
  return { file, start, cwd, isFork: false }
}

function attempt(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}

/** Earliest first, originals before forks that begin with the same copied line; what has no start stands last. */
function byStart(a: Head, b: Head): number {
  if (a.start !== b.start) return a.start === '' ? 1 : b.start === '' ? -1 : byCodeUnit(a.start, b.start)
  return Number(a.isFork) - Number(b.isFork) || byCodeUnit(a.file.path, b.file.path)
}
