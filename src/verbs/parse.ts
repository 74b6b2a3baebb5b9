import fs from 'node:fs'
import path from 'node:path'
import { Command, Flags } from '@oclif/core'
import { EvidenceUsageError } from '../evidence/index.js'
import { gatherRegistry } from '../hooks/registry.js'
import {
  csv,
  FileDestination,
  jsonl,
  OutputExistsError,
  SorterFullError,
  StandardOutput,
  type Destination,
  type Encoder,
} from '../output/index.js'
import { evidenceFlags, evidenceFrom } from './evidence-flags.js'
import { FlagValueError, rowFilterFrom, rowFlags } from './row-flags.js'
import { assertOutside } from './outside.js'
import { runRecord } from './run-record.js'
import { summary } from './summary.js'
import { spillDirectory, writeTimeline } from './timeline.js'

const FORMATS = ['csv', 'jsonl', 'table'] as const
type Format = (typeof FORMATS)[number]

/** Exit codes (architecture.md): 2 wrong usage, 3 part of the evidence could not be read. */
const USAGE = 2
const PARTLY_READ = 3

/** The verb `parse`, for one agent or, without one, for all. */
export abstract class ParseCommand extends Command {
  static override enableJsonFlag = false
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

  /** The agent whose files are read; undefined reads those of every agent. */
  protected abstract readonly agent: string | undefined

  async run(): Promise<void> {
    const { flags } = await this.parse(this.constructor as typeof ParseCommand)
    const started = new Date()
    exitOnSignals()
    const registry = await gatherRegistry(this.config)
    const registered = registry.settle().filter(({ entry }) => this.agent === undefined || entry.agent === this.agent)
    const parsers = await registry.load(registered)
    const evidence = await this.#usage(() =>
      evidenceFrom(
        flags,
        registered.map(({ entry }) => entry),
      ),
    )
    const recordFile = flags['run-record'] ?? (flags.output ? `${flags.output}.run.json` : undefined)
    await this.#usage(() =>
      assertOutside(
        {
          '--output': flags.output && path.dirname(flags.output),
          '--run-record': flags['run-record'] && path.dirname(flags['run-record']),
          '--temp-dir': flags['temp-dir'],
        },
        evidence,
        flags,
      ),
    )

    const format = flags.format ?? formatOf(flags.output)
    const destination = await this.#usage<Destination>(() =>
      flags.output ? new FileDestination(flags.output, { force: flags.force }) : new StandardOutput(),
    )
    await this.#usage(() => {
      if (recordFile !== undefined && !flags.force && fs.existsSync(recordFile)) throw new OutputExistsError(recordFile)
    })
    const timeline = await writeTimeline(evidence, parsers, {
      encoder: await encoderFor(format, flags),
      filter: await this.#usage(() => rowFilterFrom(flags)),
      maxText: flags['max-text'],
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
      timeline,
      output,
    })
    const recordText = `${JSON.stringify(record, null, 2)}\n`
    if (recordFile) fs.writeFileSync(recordFile, recordText)
    if (flags.json) process.stdout.write(recordText)
    for (const line of summary(timeline, registry.notes, (ended.getTime() - started.getTime()) / 1000)) this.logToStderr(line)
    const partly =
      timeline.runs.some(({ run }) => [...run.tallies.values()].some(({ bad }) => bad > 0)) ||
      registry.notes.some(({ kind }) => kind === 'conflict') ||
      parsers.length < Math.max(1, registered.length)
    if (partly) process.exitCode = PARTLY_READ
  }

  /** What a person got wrong is said in a sentence, with the exit code for it. */
  protected override async catch(error: Error & { exitCode?: number }): Promise<unknown> {
    if (error instanceof SorterFullError) {
      return this.error(`${error.message}; pass --output FILE or --temp-dir DIR on a disk that is not evidence`, { exit: USAGE })
    }
    const code = (error as NodeJS.ErrnoException).code
    if (code === 'ENOSPC') return this.error('the disk is full; nothing was left behind', { exit: 1 })
    if (code !== undefined && (error as NodeJS.ErrnoException).syscall !== undefined) return this.error(error.message, { exit: 1 })
    return super.catch(error)
  }

  async #usage<T>(act: () => T | Promise<T>): Promise<T> {
    try {
      return await act()
    } catch (error) {
      if (error instanceof EvidenceUsageError || error instanceof OutputExistsError || error instanceof FlagValueError)
        this.error(error.message, { exit: USAGE })
      throw error
    }
  }
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
      return table({ width: process.stdout.columns ?? (Number(process.env.COLUMNS) || 160), color: wantsColor() })
    }
  }
}

/** Colour only on a terminal, and never when NO_COLOR is set (no-color.org). */
function wantsColor(): boolean {
  return process.stdout.isTTY === true && !process.env.NO_COLOR && process.env.TERM !== 'dumb'
}

/** A signal ends the program by its exit, so that what it began to write is taken away. */
export function exitOnSignals(): void {
  for (const [signal, number] of [
    ['SIGINT', 2],
    ['SIGTERM', 15],
    ['SIGHUP', 1],
  ] as const)
    process.once(signal, () => process.exit(128 + number))
}
