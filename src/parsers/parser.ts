import type { CatalogEntry } from '../catalog/index.js'
import type { EvidenceFile, EvidenceTrouble, Home } from '../evidence/index.js'
import type { Row } from '../rows/index.js'
import { Tally } from './tally.js'

/** Takes back every row given so far for one source file of the home: the parser learned late that it must read it again. */
export interface Withdrawal {
  readonly withdraw: string
}

/**
 * Said once by a parser before it reads what other parsers of the home may know more about: project folders that any of them named, links
 * between sessions. The others go first up to the same point, whatever their order.
 */
export const PROJECTS_NAMED = { projects: 'named' } as const
export type ProjectsNamed = typeof PROJECTS_NAMED

/** What a parser yields: arrays of rows, since an async step per row costs more than the row. */
export type Batch = readonly Row[] | Withdrawal | ProjectsNamed

export function isWithdrawal(batch: Batch): batch is Withdrawal {
  return 'withdraw' in batch
}

export function isProjectsNamed(batch: Batch): batch is ProjectsNamed {
  return 'projects' in batch
}

export interface ParseOptions {
  /** Keep rows of secondary sources that messages.jsonl holds too. */
  readonly allSources?: boolean
  /** Drop rows that a fork copied from an earlier conversation. */
  readonly originalsOnly?: boolean
  /** Lines over this many bytes are named, not read. */
  readonly lineLimit?: number
}

/** A session of another agent that a row belongs with, and the file that names both; without one the row itself does. */
export interface Link {
  readonly agent: string
  readonly session_id: string
  readonly from?: string
}

/** What the parsers of a home tell each other: the sessions of one agent that records of another name. */
export class Links {
  readonly #bySession = new Map<string, Link[]>()

  note(agent: string, session_id: string, link: Link): void {
    const links = this.#bySession.get(`${agent} ${session_id}`) ?? []
    const known = links.some((one) => one.agent === link.agent && one.session_id === link.session_id && one.from === link.from)
    if (!known) this.#bySession.set(`${agent} ${session_id}`, [...links, link])
  }

  of(agent: string, session_id: string): readonly Link[] | undefined {
    return this.#bySession.get(`${agent} ${session_id}`)
  }
}

/** What one parser run over one home adds up: counts per store, files read, what could not be read, projects not found. */
export class ParserRun {
  readonly tallies = new Map<string, Tally>()
  readonly files = new Set<EvidenceFile>()
  /** By path: a file that is read twice is in trouble once. */
  readonly troubles = new Map<string, EvidenceTrouble>()
  /** Identities of the project files read so far, across the homes of one run. */
  readonly seen: Set<string>
  readonly projectsNotFound = new Set<string>()
  readonly projectsRefused = new Set<string>()

  constructor(
    readonly options: ParseOptions = {},
    seen: Set<string> = new Set(),
    /** Shared by the parsers of one home. */
    readonly links: Links = new Links(),
  ) {
    this.seen = seen
  }

  tally(store: string): Tally {
    let tally = this.tallies.get(store)
    if (!tally) this.tallies.set(store, (tally = new Tally()))
    return tally
  }
}

/**
 * Turns one agent's files into rows. A subclass per agent; `entry` says which files it is given. Rows come in any order, each file's
 * in the order of the file; whoever reads them sorts.
 */
export abstract class Parser {
  constructor(readonly entry: CatalogEntry) {}

  abstract parse(home: Home, run: ParserRun): AsyncGenerator<Batch>

  /**
   * Has the home look up every project that its records name, as parsing does, for who needs no rows: a collection. Parses unless a
   * subclass knows a shorter way.
   */
  async nameProjects(home: Home, run: ParserRun): Promise<void> {
    for await (const batch of this.parse(home, run)) void batch
  }
}

/** A parser class as a plugin exports it. */
export type ParserClass = new (entry: CatalogEntry) => Parser
