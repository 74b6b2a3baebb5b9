import fs from 'node:fs'
import path from 'node:path'
import { Flags } from '@oclif/core'
import { csv, FileDestination, jsonl, OutputExistsError, ProgressLine, StandardOutput, type Encoder } from '../output/index.js'
import { evidenceFlags, evidenceFrom } from './evidence-flags.js'
import { rowFilterFrom, rowFlags } from './row-flags.js'
import { assertOutside } from './outside.js'
import { runRecord } from './run-record.js'
import { summary } from './summary.js'
import { terminalWidth, wantsColor } from './terminal.js'
import { spillDirectory, writeTimeline } from './timeline.js'
import { Verb } from './verb.js'

const FORMATS = ['csv', 'jsonl', 'table'] as const
type Format = (typeof FORMATS)[number]
/** Columns of a table that goes to no terminal. */
const WIDE = 160

/** The verb `parse`, for one agent or, without one, for all. */
export abstract class ParseCommand extends Verb {
  static override flags = {
    ...evidenceFlags,
    format: Flags.option({ options: FORMATS, description: 'default: table on a terminal, else csv' })({ helpGroup: 'OUTPUT' }),
    output: Flags.file({ char: 'o', description: 'written whole or not at all; FILE.run.json beside it', helpGroup: 'OUTPUT' }),
    force: Flags.boolean({ description: 'replace an existing --output', helpGroup: 'OUTPUT' }),
    'run-record': Flags.file({ description: 'write what was read, and what it gave, to this file', helpGroup: 'OUTPUT' }),
    details: Flags.boolean({ description: 'add the details column to csv', helpGroup: 'OUTPUT' }),
    json: Flags.boolean({ description: 'with --output: the run record on stdout', dependsOn: ['output'], helpGroup: 'OUTPUT' }),
    'max-text': Flags.integer({ description: 'cut texts at this many characters, and say so in the text', min: 1, helpGroup: 'OUTPUT' }),
    'excel-safe': Flags.boolean({ description: 'csv: prefix cells that a spreadsheet would run', helpGroup: 'OUTPUT' }),
    ...rowFlags,
    'all-sources': Flags.boolean({ description: 'keep rows of secondary files that messages.jsonl holds too', helpGroup: 'ROWS' }),
    'originals-only': Flags.boolean({ description: 'drop rows that a fork copied', helpGroup: 'ROWS' }),
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(this.constructor as typeof ParseCommand)
    const started = new Date()
    const readers = await this.readers()
    const { registry, registered, entries, parsers } = readers
    const evidence = await evidenceFrom(flags, entries)
    const recordFile = flags['run-record'] ?? (flags.output ? `${flags.output}.run.json` : undefined)
    assertOutside(placesOf(flags), evidence, flags)
    const format = flags.format ?? formatOf(flags.output)
    const destination = flags.output ? new FileDestination(flags.output, { force: flags.force }) : new StandardOutput()
    if (recordFile !== undefined && !flags.force && fs.existsSync(recordFile)) throw new OutputExistsError(recordFile)
    const timeline = await writeTimeline(evidence, parsers, {
      encoder: await encoderFor(format, flags),
      filter: rowFilterFrom(flags, started),
      maxText: flags['max-text'],
      progress: new ProgressLine('parse'),
      destination,
      spillTo: spillDirectory(evidence, flags['temp-dir'], flags.output),
      allSources: flags['all-sources'],
      originalsOnly: flags['originals-only'],
    }).finally(() => evidence.close())

    const ended = new Date()
    const output = flags.output ? { file: path.basename(flags.output), format } : null
    const record = runRecord({
      version: this.config.version,
      arguments: this.argv,
      started,
      ended,
      registered,
      notes: registry.notes,
      manifests: evidence.manifests,
      timeline,
      output,
    })
    const recordText = `${JSON.stringify(record, null, 2)}\n`
    if (recordFile) fs.writeFileSync(recordFile, recordText)
    if (flags.json) process.stdout.write(recordText)
    for (const line of summary(timeline, registry.notes, (ended.getTime() - started.getTime()) / 1000)) this.logToStderr(line)
    this.exitPartly(timeline.runs, readers)
  }
}

/** Where a run writes to, by the flag that says so. */
function placesOf(flags: { readonly output?: string; readonly 'run-record'?: string; readonly 'temp-dir'?: string }) {
  const folder = (file: string | undefined) => file && path.dirname(file)
  return { '--output': folder(flags.output), '--run-record': folder(flags['run-record']), '--temp-dir': flags['temp-dir'] }
}

function formatOf(output: string | undefined): Format {
  if (output === undefined) return process.stdout.isTTY ? 'table' : 'csv'
  const ending = path.extname(output).slice(1)
  return ending === 'jsonl' || ending === 'ndjson' ? 'jsonl' : ending === 'txt' ? 'table' : 'csv'
}

/** The table, which only a terminal needs, is loaded when it is wanted. */
async function encoderFor(format: Format, flags: { readonly details: boolean; readonly 'excel-safe': boolean }): Promise<Encoder> {
  switch (format) {
    case 'csv':
      return csv({ details: flags.details, excelSafe: flags['excel-safe'] })
    case 'jsonl':
      return jsonl
    case 'table': {
      const { table } = await import('../output/table.js')
      return table({ width: terminalWidth(WIDE), color: wantsColor() })
    }
  }
}
