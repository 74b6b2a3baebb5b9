import { breath, type Evidence, type Home } from '../evidence/index.js'
import { Row } from '../rows/index.js'
import { isProjectsNamed, isWithdrawal, Links, ParserRun, type Batch, type Parser, type ParseOptions, type Withdrawal } from './parser.js'

/** Where rows go: sorted and written, or collected by a test. */
export interface RowSink {
  add(rows: readonly Row[]): void
  /** Forgets every row so far of one file. */
  withdraw(source: Pick<Row, 'host' | 'user' | 'agent' | 'source_file'>): void
  /** Told now and then, for whoever waits. */
  step?(step: ParseStep): void
}

/** How far a run over one home is: files and bytes read so far, and where. */
export interface ParseStep {
  readonly files: number
  readonly bytes: number
  readonly path: string
}

/** A parser, and the plugin that supplied it, as errors name it. */
export interface SuppliedParser {
  readonly parser: Parser
  readonly plugin: string
}

export interface HomeRun {
  readonly user: string
  readonly host: string
  readonly directory: string
  readonly agent: string
  readonly run: ParserRun
}

/** A parser gave a row that is not of the schema: a fault of its plugin, never of the evidence. */
export class BadRowError extends Error {
  constructor(plugin: string, row: unknown, issue: string) {
    const { source_file, source_line } = row as { source_file?: unknown; source_line?: unknown }
    super(`plugin ${plugin} gave a row that is against the schema: ${issue} (from ${String(source_file)}:${String(source_line)})`)
    this.name = 'BadRowError'
  }
}

/** Runs each parser over each home. Rows reach the sink in no particular order; they are checked on the way. */
export async function parseEvidence(
  evidence: Evidence,
  parsers: readonly SuppliedParser[],
  options: ParseOptions,
  sink: RowSink,
): Promise<HomeRun[]> {
  const runs: HomeRun[] = []
  const seen = new Set<string>()
  for (const home of evidence.homes) {
    const links = new Links()
    const parsings = parsers.map((supplied) => new Parsing(home, supplied, new ParserRun(options, seen, links), sink))
    for (const parsing of parsings) await parsing.untilProjectsAreNamed()
    for (const parsing of parsings) runs.push(await parsing.toTheEnd())
  }
  return runs
}

/** One parser at work on one home. */
class Parsing {
  readonly #batches: AsyncGenerator<Batch>
  readonly #source: Pick<Row, 'host' | 'user' | 'agent'>

  constructor(
    readonly home: Home,
    readonly supplied: SuppliedParser,
    readonly run: ParserRun,
    readonly sink: RowSink,
  ) {
    this.#batches = supplied.parser.parse(home, run)
    this.#source = { host: home.host, user: home.user, agent: supplied.parser.entry.agent }
  }

  /** Stops where the parser says so, or where it has nothing more to give. */
  async untilProjectsAreNamed(): Promise<void> {
    for (let next = await this.#batches.next(); !next.done; next = await this.#batches.next()) {
      if (isProjectsNamed(next.value)) return
      await this.#pass(next.value)
    }
  }

  async toTheEnd(): Promise<HomeRun> {
    for await (const batch of this.#batches) if (!isProjectsNamed(batch)) await this.#pass(batch)
    const { user, host, directory } = this.home
    return { user, host, directory, agent: this.#source.agent, run: this.run }
  }

  async #pass(batch: readonly Row[] | Withdrawal): Promise<void> {
    await breath()
    if (isWithdrawal(batch)) return this.sink.withdraw({ ...this.#source, source_file: batch.withdraw })
    for (const row of batch) check(row, this.supplied.plugin)
    this.sink.add(batch)
    if (this.sink.step && batch.length > 0) this.sink.step(this.#step(batch[0]!.source_file))
  }

  #step(path: string): ParseStep {
    const bytes = [...this.run.tallies.values()].reduce((sum, tally) => sum + tally.bytes, 0)
    return { files: this.run.files.size, bytes, path }
  }
}

function check(row: Row, plugin: string): void {
  const checked = Row.safeParse(row)
  if (!checked.success) {
    const issue = checked.error.issues[0]!
    throw new BadRowError(plugin, row, `${issue.path.join('.') || 'row'}: ${issue.message}`)
  }
  if (!row.text.isWellFormed()) row.details.lone_surrogate = true
}
