import fs from 'node:fs'
import path from 'node:path'
import { Args, Flags, type Interfaces } from '@oclif/core'
import { EXPORT_FORMATS, type ExportFile, type ExportFormat } from '../catalog/export/index.js'
import type { CatalogEntry } from '../catalog/index.js'
import type { HomeRun, Registered } from '../parsers/index.js'
import { evidenceFlags, evidenceFrom } from './evidence-flags.js'
import { explainCatalog } from './explain/catalog.js'
import { explainConversation } from './explain/conversation.js'
import { masksFor, noMasks, type Masks } from './explain/masks.js'
import { Page } from './explain/page.js'
import { explainExport } from './explain/export.js'
import { explainPaths } from './explain/paths.js'
import { explainRow, NotInEvidence, traceFor } from './explain/row.js'
import { explainText } from './explain/text.js'
import { catalogView, conversationView, pathsView, rowView, textView } from './explain/views.js'
import { terminalWidth, wantsColor } from './terminal.js'
import { Verb, type Readers } from './verb.js'

const USAGE = 2
const PARTLY_READ = 3
const QUESTIONS = ['row', 'text', 'conversation', 'export'] as const

/** The verb `explain`, for one agent or, without one, for all. */
export abstract class ExplainCommand extends Verb {
  static override strict = false
  static override args = { path: Args.string({ description: 'paths, on this machine or as recorded elsewhere; a folder is walked' }) }
  static override flags = {
    ...evidenceFlags,
    row: Flags.string({
      description: '[USER:]FILE[:LINE] of the evidence: its record, its rows, where each column comes from',
      exclusive: others('row'),
    }),
    text: Flags.string({ description: 'the text of a row: its values, what it proves and what it does not', exclusive: others('text') }),
    conversation: Flags.string({
      description: '[USER:][AGENT/]ID: its turns, each call with its whole output',
      exclusive: others('conversation'),
    }),
    export: Flags.option({ options: EXPORT_FORMATS, description: 'the catalog for another collector', exclusive: others('export') })(),
    credentials: Flags.boolean({
      description: 'with --export: the credential files, which are an artifact of their own',
      dependsOn: ['export'],
    }),
    output: Flags.directory({ char: 'o', description: 'with --export: write its files to this directory', dependsOn: ['export'] }),
    'show-secrets': Flags.boolean({ description: 'with --row and --conversation: do not mask secret values' }),
    json: Flags.boolean({ description: 'the answer as JSON' }),
  }

  async run(): Promise<void> {
    const { flags, argv } = await this.parse(ExplainCommand)
    const paths = argv as string[]
    const question = QUESTIONS.find((name) => flags[name] !== undefined)
    if (paths.length > 0 && question) this.error(`paths and --${question} are two questions: ask one at a time`, { exit: USAGE })
    const readers = await this.readers()
    const { registry, registered, entries } = readers
    for (const { message } of registry.notes) this.logToStderr(message)
    this.exitPartly([], readers)

    if (flags.row !== undefined) return this.#row(flags.row, readers, flags)
    if (flags.conversation !== undefined) return this.#conversation(flags.conversation, readers, flags)
    if (flags.text !== undefined) return this.#answer(explainText(flags.text, entries), textView, flags.json)
    if (flags.export !== undefined) return this.#export(flags.export, registered, flags)
    if (paths.length > 0) return this.#answer(explainPaths(paths, entries, { homes: flags.home }), pathsView, flags.json)
    return this.#answer(explainCatalog(registered, this.config.version), catalogView, flags.json)
  }

  async #row(text: string, { entries, parsers }: Readers, flags: Flags): Promise<void> {
    const trace = await traceFor(text, () => evidenceFrom(flags, entries), parsers)
    const explained = await explainRow(text, trace, { entries, masks: await this.#masks(entries, flags) })
    this.#answer(explained, rowView, flags.json)
    this.#partly(trace.runs)
  }

  async #conversation(text: string, { entries, parsers }: Readers, flags: Flags): Promise<void> {
    const options = { entries, masks: await this.#masks(entries, flags) }
    const { explained, runs } = await explainConversation(text, () => evidenceFrom(flags, entries), parsers, options)
    this.#answer(explained, conversationView, flags.json)
    this.#partly(runs)
  }

  #export(format: ExportFormat, registered: readonly Registered[], flags: Flags): void {
    const explained = explainExport(
      format,
      registered.map(({ entry }) => entry),
    )
    const { files } = explained
    if (flags.output !== undefined) this.#write(files, flags.output)
    if (flags.json) return printJson(explained)
    if (flags.output !== undefined) return
    const holds = flags.credentials ? 'credentials' : 'evidence'
    const wanted = files.filter((file) => file.holds === holds)
    if (wanted.length > 1)
      this.error(`there are ${wanted.length} agents, and each has a file of its own: pass --output DIR, or name an agent`, { exit: USAGE })
    for (const { content } of wanted) process.stdout.write(content)
    if (!flags.credentials && files.some(({ holds }) => holds === 'credentials'))
      this.logToStderr('credential files are left out: --credentials gives them, an artifact of their own')
  }

  #write(files: readonly ExportFile[], directory: string): void {
    if (!fs.existsSync(directory)) this.error(`--output ${directory}: there is no such directory`, { exit: USAGE })
    const there = files.filter(({ name }) => fs.existsSync(path.join(directory, name)))
    if (there.length > 0) this.error(`--output ${directory}: ${there.map(({ name }) => name).join(', ')} is there already`, { exit: USAGE })
    for (const { name, content } of files) fs.writeFileSync(path.join(directory, name), content, { flag: 'wx' })
    this.logToStderr(`wrote ${files.map(({ name }) => name).join(', ')}`)
  }

  #answer<T>(answer: T, view: (answer: T, page: Page) => void, json: boolean): void {
    if (json) printJson(answer)
    else {
      const page = new Page({ width: terminalWidth(), color: wantsColor() })
      view(answer, page)
      process.stdout.write(page.toString())
    }
  }

  #masks(entries: readonly CatalogEntry[], flags: Flags): Masks | Promise<Masks> {
    return flags['show-secrets'] ? noMasks : masksFor(entries)
  }

  #partly(runs: readonly HomeRun[]): void {
    const troubles = runs.flatMap(({ run }) => [...run.troubles.values()])
    for (const { path: at, problem } of troubles) this.logToStderr(`could not be read: ${at} ${problem}`)
    if (troubles.length > 0) process.exitCode = PARTLY_READ
  }

  /** A question about what is not there is a wrong question. */
  protected override async catch(error: Error): Promise<unknown> {
    if (error instanceof NotInEvidence) return this.error(error.message, { exit: USAGE })
    return super.catch(error)
  }
}

type Flags = Interfaces.InferredFlags<typeof ExplainCommand.flags>

function others(own: string): string[] {
  return QUESTIONS.filter((name) => name !== own)
}

function printJson(answer: unknown): void {
  process.stdout.write(`${JSON.stringify(answer, null, 2)}\n`)
}
