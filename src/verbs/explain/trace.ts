import type { Evidence, EvidenceFile, Home } from '../../evidence/index.js'
import { EventIndex, isEvent, pair } from '../../parsers/letta/secondary.js'
import { parseEvidence, type HomeRun, type SuppliedParser } from '../../parsers/index.js'
import { compactJson, type Row } from '../../rows/index.js'

/** A row, and what became of it: kept, or dropped as a repetition of another row. */
export interface Traced {
  readonly row: Row
  readonly dropped: boolean
}

/** One file of the evidence with every row that it gives. */
export interface TracedFile {
  readonly home: Home
  readonly file: EvidenceFile
  readonly rows: readonly Traced[]
  /** Fields of its store that the parser does not know, with how often they were seen. */
  readonly unknownFields: ReadonlyMap<string, number>
}

/** How to open the evidence: each reading begins anew. */
export type OpenEvidence = () => Evidence | Promise<Evidence>

const BACKUP = 'messages-backup'

/** For each store whose rows can repeat others: the stores that are read first (rows.md, Secondary sources; Claude Code's typed prompts). */
const REPEATS: Readonly<Record<string, readonly string[]>> = {
  [BACKUP]: ['messages'],
  transcripts: ['messages', BACKUP],
  'listener-state': ['messages', BACKUP],
  history: ['projects'],
}

/** Whether a row can be one that a dropped row repeats. */
export function isPrimary({ details }: Row): boolean {
  return Object.values(REPEATS).some((stores) => stores.includes(details.store))
}

/** What an evidence gives, row by row, with where each row comes from. It is read twice: with and without what is dropped. */
export class Trace {
  readonly #files = new Map<string, TracedFile>()

  private constructor(
    readonly runs: readonly HomeRun[],
    private readonly kept: ReadonlyMap<string, readonly Row[]>,
  ) {}

  /**
   * @param wanted rows that are asked for; others are not held
   */
  static async read(open: OpenEvidence, parsers: readonly SuppliedParser[], wanted: (row: Row) => boolean = () => true): Promise<Trace> {
    const first = await open()
    const kept = await rowsByFile(first, parsers, false, wanted)
    first.close()
    const evidence = await open()
    const all = await rowsByFile(evidence, parsers, true, wanted)
    const trace = new Trace(all.runs, kept.rows)
    for (const { run, user, host, agent } of all.runs) {
      const home = evidence.homes.find((one) => one.user === user && one.host === host)!
      for (const file of run.files) {
        const key = keyOf(user, file.path)
        const rows = all.rows.get(key) ?? []
        const storeTally = run.tallies.get(rows[0]?.details.store ?? file.store)
        if (rows.length > 0 || !trace.#files.has(key))
          trace.#files.set(key, {
            home,
            file,
            rows: compared(
              rows.filter((row) => row.agent === agent),
              kept.rows.get(key) ?? [],
            ),
            unknownFields: storeTally?.unknownFields ?? new Map<string, number>(),
          })
      }
    }
    trace.#addUnread(all.rows, evidence)
    return trace
  }

  /** Files that were not read to their end have rows that say so. */
  #addUnread(all: ReadonlyMap<string, readonly Row[]>, evidence: Evidence): void {
    for (const [key, rows] of all) {
      const home = evidence.homes.find((one) => one.user === rows[0]?.user)
      if (this.#files.has(key) || !home || !rows[0]) continue
      const file = home.unlisted(rows[0].source_file)
      this.#files.set(key, { home, file, rows: compared(rows, this.kept.get(key) ?? []), unknownFields: new Map() })
    }
  }

  get files(): readonly TracedFile[] {
    return [...this.#files.values()]
  }

  /** The file of an account by its logical path. */
  file(path: string, user?: string): TracedFile[] {
    return this.files.filter((one) => one.file.path === path && (user === undefined || one.home.user === user))
  }

  /** The row of messages.jsonl, or of a backup of it, that a dropped row repeats; undefined when none can be told. */
  repeatedBy(given: TracedFile, dropped: Row): Row | undefined {
    const events = given.rows.map(({ row }) => row).filter(isEvent)
    const candidates = this.#primaries(given, dropped).map((primary) => repetitions(primary, events))
    const droppedRows = given.rows.filter((one) => one.dropped).map(({ row }) => row)
    const best = candidates
      .map((pairs) => ({ pairs, explains: droppedRows.filter((row) => pairs.has(row)).length }))
      .filter(({ pairs }) => pairs.has(dropped))
      .sort((a, b) => b.explains - a.explains)[0]
    return best?.pairs.get(dropped)
  }

  /** The rows that may be repeated, of one conversation directory each: messages.jsonl, then what only its backups hold. */
  #primaries({ home, file }: TracedFile, dropped: Row): Row[][] {
    const byDirectory = new Map<string, Row[]>()
    const isBackup = dropped.details.store === BACKUP
    for (const store of REPEATS[dropped.details.store] ?? []) {
      for (const rows of this.kept.values()) {
        const [first] = rows
        if (!first || first.details.store !== store || first.user !== home.user) continue
        const directory = folderOf(first.source_file)
        if (isBackup && directory !== folderOf(file.path)) continue
        const mine = rows.filter((row) => isEvent(row) && (isBackup || row.session_id === dropped.session_id))
        if (mine.length > 0) byDirectory.set(directory, [...(byDirectory.get(directory) ?? []), ...mine])
      }
    }
    return [...byDirectory.values()]
  }
}

function folderOf(file: string): string {
  return file.slice(0, file.lastIndexOf('/'))
}

function repetitions(primary: readonly Row[], secondary: readonly Row[]): Map<Row, Row> {
  const [index, other] = [new EventIndex(), new EventIndex()]
  for (const row of primary) index.add(row)
  for (const row of secondary) other.add(row)
  return new Map([...pair(index.events, other.events)].map(([b, a]) => [secondary[b.ordinal]!, primary[a.ordinal]!]))
}

interface RowsByFile {
  readonly runs: readonly HomeRun[]
  readonly rows: Map<string, Row[]>
}

async function rowsByFile(
  evidence: Evidence,
  parsers: readonly SuppliedParser[],
  allSources: boolean,
  wanted: (row: Row) => boolean,
): Promise<RowsByFile> {
  const rows = new Map<string, Row[]>()
  const runs = await parseEvidence(
    evidence,
    parsers,
    { allSources },
    {
      add(batch) {
        for (const row of batch) {
          if (!wanted(row)) continue
          const key = keyOf(row.user, row.source_file)
          const held = rows.get(key)
          if (held) held.push(row)
          else rows.set(key, [row])
        }
      },
      withdraw: ({ user, source_file }) => rows.delete(keyOf(user, source_file)),
    },
  )
  return { runs, rows }
}

function keyOf(user: string, file: string): string {
  return `${user}\0${file}`
}

/** Which of all rows were kept: the rest was dropped. */
function compared(all: readonly Row[], kept: readonly Row[]): Traced[] {
  const counts = new Map<string, number>()
  for (const row of kept) counts.set(identity(row), (counts.get(identity(row)) ?? 0) + 1)
  return all.map((row) => {
    const left = counts.get(identity(row)) ?? 0
    if (left > 0) counts.set(identity(row), left - 1)
    return { row, dropped: left === 0 }
  })
}

function identity({ agent, source_line, turn_type, tool_name, tool_use_id, text, details }: Row): string {
  return compactJson([agent, source_line, turn_type, tool_name, tool_use_id, details.kind ?? null, text])
}
