import { lines, type EvidenceFile, type Home } from '../../evidence/index.js'
import { byCodeUnit, recordedTime } from '../../rows/index.js'
import { Copies } from '../copies.js'
import { FileRows, unlistedRows } from '../file-rows.js'
import { isObject } from '../json.js'
import { Parser, PROJECTS_NAMED, type Batch, type ParserRun } from '../parser.js'
import { Projects } from '../projects.js'
import { parseJson, parseJsonl } from '../store.js'
import { sessions } from './sessions.js'
import { settings } from './settings.js'

/** pi: its session files (pi-and-claude-code 1). pi asks for no permissions and keeps no rules, so there are no rows of those. */
export class PiParser extends Parser {
  async *parse(home: Home, run: ParserRun): AsyncGenerator<Batch> {
    const fileRows = (file: EvidenceFile, store?: string) => new FileRows(home, this.entry.agent, file, run, store)
    const troubles = () => unlistedRows(home, run, this.entry.agent)
    const files = home.files(this.entry.stores.filter((store) => store.parsed))
    for (const file of files) if (file.store === 'settings') yield await parseJson(settings, fileRows(file))
    const headers: Header[] = []
    for (const file of files) if (file.store === 'sessions') headers.push(await headerOf(file))
    headers.sort(byStart)
    const copies = headers.some(({ isFork }) => isFork) ? new Copies() : undefined
    const store = sessions({ projects: new Projects(home, run), copies })
    for (const { file } of headers) yield* parseJsonl(store, fileRows(file))
    yield troubles()
    yield PROJECTS_NAMED

    const projectStores = this.entry.stores.filter((store) => store.id === 'project-settings')
    for (const file of home.projectFiles(projectStores, run.seen)) yield await parseJson(settings, fileRows(file, 'settings'))
    yield troubles()
  }
}

/** What the first line of a session file tells: forks are told from originals by it. */
interface Header {
  readonly file: EvidenceFile
  /** In the row form, empty when nothing says. */
  readonly start: string
  readonly isFork: boolean
}

async function headerOf(file: EvidenceFile): Promise<Header> {
  try {
    for await (const batch of lines(file.chunks())) {
      const header: unknown = JSON.parse(batch[0]?.text ?? '')
      if (!isObject(header) || header.type !== 'session') break
      return { file, start: recordedTime(header.timestamp).iso, isFork: Boolean(header.parentSession ?? header.branchedFrom) }
    }
  } catch {
    // What cannot be read is named when the file itself is read.
  }
  return { file, start: '', isFork: false }
}

/** Earliest first; what has no start stands last. */
function byStart(a: Header, b: Header): number {
  if (a.start !== b.start) return a.start === '' ? 1 : b.start === '' ? -1 : byCodeUnit(a.start, b.start)
  return byCodeUnit(a.file.path, b.file.path)
}
