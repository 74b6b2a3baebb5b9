import fs from 'node:fs'
import path from 'node:path'
import { Flags } from '@oclif/core'
import { FileDestination, OutputExistsError, StandardOutput, visible, type Destination } from '../output/index.js'
import { htmlReport, markdownReport, textReport, triage, type Triage } from '../report/index.js'
import { evidenceFlags, evidenceFrom } from './evidence-flags.js'
import { gatherRows, type Gathered } from './gather.js'
import { assertOutside } from './outside.js'
import { presenceOf } from './presence.js'
import { rowFilterFrom, rowFlags } from './row-flags.js'
import { runRecord } from './run-record.js'
import { summary } from './summary.js'
import { Verb } from './verb.js'

const FORMATS = ['text', 'html', 'markdown', 'json'] as const
type Format = (typeof FORMATS)[number]

/** Each form of the report, in pieces. */
const VIEWS: Record<Format, (given: Triage) => Iterable<string>> = {
  text: ({ report }) => textReport(report).map((line) => `${visible(line)}\n`),
  html: htmlReport,
  markdown: ({ report }) => [markdownReport(report)],
  json: ({ report }) => [`${JSON.stringify(report, null, 2)}\n`],
}

const ENDINGS: Record<string, Format> = {
  '.html': 'html',
  '.htm': 'html',
  '.md': 'markdown',
  '.markdown': 'markdown',
  '.json': 'json',
  '.txt': 'text',
}

/** Exit codes (architecture.md): 2 wrong usage, 3 part of the evidence could not be read. */

/** The verb `report`, for one agent or, without one, for all. */
export abstract class ReportCommand extends Verb {
  static override flags = {
    ...evidenceFlags,
    format: Flags.option({ options: FORMATS, description: 'default: text, or what the ending of --output says, else html' })({
      helpGroup: 'OUTPUT',
    }),
    output: Flags.file({ char: 'o', description: 'written whole or not at all; FILE.run.json beside it', helpGroup: 'OUTPUT' }),
    force: Flags.boolean({ description: 'replace an existing --output', helpGroup: 'OUTPUT' }),
    case: Flags.string({ description: 'the case that the report names', helpGroup: 'OUTPUT' }),
    examiner: Flags.string({ description: 'who the report names as examiner', helpGroup: 'OUTPUT' }),
    redact: Flags.option({
      options: ['secrets', 'names'] as const,
      description: 'secrets are always masked; names: also users, hosts and home paths',
    })({
      helpGroup: 'OUTPUT',
      default: 'secrets',
    }),
    ...rowFlags,
    'all-sources': Flags.boolean({ description: 'keep rows of secondary files that messages.jsonl holds too', helpGroup: 'ROWS' }),
    'originals-only': Flags.boolean({ description: 'drop rows that a fork copied', helpGroup: 'ROWS' }),
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(this.constructor as typeof ReportCommand)
    const started = new Date()
    const readers = await this.readers()
    const { registry, registered, entries, parsers } = readers
    const evidence = await evidenceFrom(flags, entries)
    const recordFile = flags.output && `${flags.output}.run.json`
    assertOutside({ '--output': flags.output && path.dirname(flags.output), '--temp-dir': flags['temp-dir'] }, evidence, flags)
    if (recordFile && !flags.force && fs.existsSync(recordFile)) throw new OutputExistsError(recordFile)
    const format = flags.format ?? formatOf(flags.output)
    const destination = flags.output ? new FileDestination(flags.output, { force: flags.force }) : new StandardOutput()
    const filter = rowFilterFrom(flags, started)
    const options = { filter, allSources: flags['all-sources'], originalsOnly: flags['originals-only'] }
    const { presence, ...gathered } = await gatherRows(evidence, parsers, options)
      .then((gathered) => ({ ...gathered, presence: presenceOf(evidence, entries) }))
      .finally(() => evidence.close())
    const timeline = { ...gathered, ...span(gathered), rows: gathered.rows.length }
    const record = runRecord({
      version: this.config.version,
      arguments: this.argv,
      started,
      ended: new Date(),
      registered,
      notes: registry.notes,
      manifests: evidence.manifests,
      timeline,
      output: flags.output ? { file: path.basename(flags.output), format } : null,
    })
    const given = await triage({
      rows: gathered.rows,
      catalog: entries,
      run: record,
      ...presence,
      case: flags.case,
      examiner: flags.examiner,
      redactNames: flags.redact === 'names',
      filteredOut: gathered.filteredOut,
    })
    await write(VIEWS[format](given), destination)

    if (recordFile) fs.writeFileSync(recordFile, `${JSON.stringify(record, null, 2)}\n`)
    for (const line of summary(timeline, registry.notes, (Date.now() - started.getTime()) / 1000)) this.logToStderr(line)
    this.exitPartly(gathered.runs, readers)
  }
}

async function write(pieces: Iterable<string>, destination: Destination): Promise<void> {
  try {
    for (const piece of pieces) if (!(await destination.write(Buffer.from(piece)))) return
    await destination.finish()
  } catch (error) {
    destination.abandon()
    throw error
  }
}

function formatOf(output: string | undefined): Format {
  return output === undefined ? 'text' : (ENDINGS[path.extname(output).toLowerCase()] ?? 'html')
}

/** Rows stand in order of time, those without one last. */
function span({ rows }: Gathered): { first: string; last: string; withoutTime: number } {
  const timed = rows.filter(({ timestamp_utc }) => timestamp_utc !== '')
  return { first: timed[0]?.timestamp_utc ?? '', last: timed.at(-1)?.timestamp_utc ?? '', withoutTime: rows.length - timed.length }
}
