import { breath, type Evidence } from '../evidence/index.js'
import { byCodeUnit, Row } from '../rows/index.js'
import { isWithdrawal, ParserRun, type Parser, type ParseOptions } from './parser.js'

/** Where rows go: sorted and written, or collected by a test. */
export interface RowSink {
  add(rows: readonly Row[]): void
  /** Forgets every row so far of one file. */
  withdraw(source: Pick<Row, 'host' | 'user' | 'agent' | 'source_file'>): void
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
    for (const { parser, plugin } of parsers) {
      const run = new ParserRun(options, seen)
      const { agent } = parser.entry
      for await (const batch of parser.parse(home, run)) {
        await breath()
        if (isWithdrawal(batch)) sink.withdraw({ host: home.host, user: home.user, agent, source_file: batch.withdraw })
        else {
          for (const row of batch) check(row, plugin)
          sink.add(batch)
        }
      }
      runs.push({ user: home.user, host: home.host, directory: home.directory, agent, run })
    }
  }
  return runs
}

function check(row: Row, plugin: string): void {
  const checked = Row.safeParse(row)
  if (!checked.success) {
    const issue = checked.error.issues[0]!
    throw new BadRowError(plugin, row, `${issue.path.join('.') || 'row'}: ${issue.message}`)
  }
  if (!row.text.isWellFormed()) row.details.lone_surrogate = true
}

/** Agents in order of name, for every list that people read. */
export function byAgent(a: HomeRun, b: HomeRun): number {
  return byCodeUnit(a.user, b.user) || byCodeUnit(a.agent, b.agent)
}
