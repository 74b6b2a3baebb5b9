import type { EvidenceFile, EvidenceTrouble, Home, Line } from '../evidence/index.js'
import { parserText, recordedTime, type Details, type Row, type TurnType } from '../rows/index.js'
import type { JsonObject } from './json.js'
import type { ParserRun } from './parser.js'
import type { Tally } from './tally.js'

/** Where a row stands in time, and what its details say of that. */
export interface Moment {
  readonly timestamp_utc: string
  readonly details: Partial<Details> & Pick<Details, 'time_source'>
}

type Optional = 'session_id' | 'project_path' | 'git_branch' | 'model' | 'tool_name' | 'tool_use_id' | 'source_line'
type Given = Pick<Row, 'turn_type' | 'text'> & Partial<Pick<Row, Optional>> & { readonly details?: Record<string, unknown> }

/** What one part of a message gives: a row without its time, place and source. */
export interface Turn {
  readonly turn_type: TurnType
  readonly text: string
  readonly model?: string
  readonly tool_name?: string
  readonly tool_use_id?: string
  readonly details?: JsonObject
}

/** Which session, project and line a row belongs to. */
export interface Place {
  readonly session_id: string
  readonly project_path: string
  readonly git_branch?: string
  readonly source_line?: number | null
}

/** Makes the rows of one file: fills in what every one of them shares. */
export class FileRows {
  readonly tally: Tally

  constructor(
    readonly home: Home,
    readonly agent: string,
    readonly file: EvidenceFile,
    readonly run: ParserRun,
    /** The store that rows name, where it is not the catalog's own id (`settings` for project settings). */
    readonly store: string = file.store,
  ) {
    this.tally = run.tally(store)
  }

  row(moment: Moment, given: Given): Row {
    this.tally.rows++
    return {
      timestamp_utc: moment.timestamp_utc,
      host: this.home.host,
      user: this.home.user,
      agent: this.agent,
      session_id: given.session_id ?? '',
      project_path: given.project_path ?? '',
      git_branch: given.git_branch ?? '',
      turn_type: given.turn_type,
      model: given.model ?? '',
      tool_name: given.tool_name ?? '',
      tool_use_id: given.tool_use_id ?? '',
      text: given.text,
      source_file: this.file.path,
      source_line: given.source_line ?? null,
      details: this.#details(moment, given.details),
    }
  }

  /** A part of a message, at the message's time and place. */
  turn(moment: Moment, turn: Turn, place: Place, shared?: Record<string, unknown>): Row {
    return this.row(moment, {
      turn_type: turn.turn_type,
      text: turn.text,
      model: turn.model,
      tool_name: turn.tool_name,
      tool_use_id: turn.tool_use_id,
      session_id: place.session_id,
      project_path: place.project_path,
      git_branch: place.git_branch,
      source_line: place.source_line,
      details: turn.details && shared ? { ...turn.details, ...shared } : (shared ?? turn.details),
    })
  }

  /** A record's own values never take the place of what the parser says. */
  #details(moment: Moment, values: Record<string, unknown> | undefined): Details {
    const details: Record<string, unknown> = { store: this.store, ...moment.details }
    for (const name in values) if (!Object.hasOwn(details, name)) details[name] = values[name]
    return details as Details
  }

  /** A system row of a kind. */
  system(moment: Moment, kind: string, text: string, values: Record<string, unknown>, given: Partial<Pick<Row, Optional>> = {}): Row {
    return this.row(moment, { turn_type: 'system', text, ...given, details: { ...values, kind } })
  }

  /** What could not be read, as a row: without a time for a line, at the file's time for a whole file. */
  problem(problem: string, line: Line | null = null, session_id = ''): Row {
    this.tally.bad++
    const moment = line === null ? this.atMtime() : NO_TIME
    const number = line?.number ?? null
    return this.system(
      moment,
      'parser',
      parserText(this.file.path, number, problem),
      { problem, line: number },
      { session_id, source_line: number },
    )
  }

  /** A file that could not be opened or read to its end. */
  unreadable(trouble: EvidenceTrouble, session_id = ''): Row {
    this.run.troubles.set(trouble.path, trouble)
    return this.problem(trouble.problem, null, session_id)
  }

  /** At a recorded time; without one when it is absent or cannot be read. */
  atRecord(value: unknown): Moment {
    const time = recordedTime(value)
    const bad = time.bad === undefined ? {} : { bad_time: time.bad }
    return { timestamp_utc: time.iso, details: { time_source: time.iso === '' ? 'none' : 'record', ...bad } }
  }

  atMtime(): Moment {
    const { mtime, listing } = this.file
    return mtime === '' ? NO_TIME : { timestamp_utc: mtime, details: { time_source: 'file-mtime', mtime_from: listing.mtimeFrom } }
  }

  /** At a recorded time, else at the file's; `from` says which, in the words of the row's text. */
  atRecordOrMtime(value: unknown, field: string): Moment & { readonly from: string } {
    const recorded = this.atRecord(value)
    if (recorded.timestamp_utc !== '') return { ...recorded, from: field }
    const mtime = this.atMtime()
    return { timestamp_utc: mtime.timestamp_utc, details: { ...recorded.details, ...mtime.details }, from: 'file mtime' }
  }
}

export const NO_TIME: Moment = { timestamp_utc: '', details: { time_source: 'none' } }

/**
 * Folders that could not be listed, and links in the place of folders, are evidence that was not read: each is a row, once in a run.
 * Ask before other parsers of the home look around.
 */
export function unlistedRows(home: Home, run: ParserRun, agent: string): Row[] {
  return home
    .takeTroubles()
    .filter(({ path, problem }) => run.troubles.get(path)?.problem !== problem)
    .map((trouble) => new FileRows(home, agent, home.unlisted(trouble.path), run).unreadable(trouble))
}
