import { Command } from '@oclif/core'
import type { CatalogEntry } from '../catalog/index.js'
import { EvidenceUsageError } from '../evidence/index.js'
import { gatherRegistry } from '../hooks/registry.js'
import { OutputExistsError, SorterFullError } from '../output/index.js'
import type { HomeRun, Registered, Registry, SuppliedParser } from '../parsers/index.js'
import { FlagValueError } from './row-flags.js'

/** Exit codes (architecture.md): 1 an unexpected error, 2 wrong usage, 3 part of the evidence could not be read. */
const UNEXPECTED = 1
const USAGE = 2
const PARTLY_READ = 3

/** What a person got wrong: said in a sentence. */
const USAGE_ERRORS = [EvidenceUsageError, OutputExistsError, FlagValueError]

/** Who reads what in this run. */
export interface Readers {
  readonly registry: Registry
  readonly registered: readonly Registered[]
  readonly entries: readonly CatalogEntry[]
  readonly parsers: readonly SuppliedParser[]
}

/** What the verbs that read evidence share: their agent, its parsers, and how errors and signals end them. */
export abstract class Verb extends Command {
  static override enableJsonFlag = false

  /** The agent whose files are read; undefined reads those of every agent. */
  protected abstract readonly agent: string | undefined

  /** Asks the plugins, loads the parsers, and makes the program end at a signal. */
  protected async readers(): Promise<Readers> {
    exitOnSignals()
    const registry = await gatherRegistry(this.config)
    const registered = registry.settle().filter(({ entry }) => this.agent === undefined || entry.agent === this.agent)
    return { registry, registered, entries: registered.map(({ entry }) => entry), parsers: await registry.load(registered) }
  }

  /** Whether part of the evidence was not read: a line, a file, or what a missing parser would have read. */
  protected exitPartly(runs: readonly HomeRun[], { registry, registered, parsers }: Readers): void {
    const unread = runs.some(({ run }) => [...run.tallies.values()].some(({ bad }) => bad > 0))
    const disabled = registry.notes.some(({ kind }) => kind === 'conflict') || parsers.length < Math.max(1, registered.length)
    if (unread || disabled) process.exitCode = PARTLY_READ
  }

  protected override async catch(error: Error & { exitCode?: number }): Promise<unknown> {
    if (USAGE_ERRORS.some((type) => error instanceof type)) return this.error(error.message, { exit: USAGE })
    if (error instanceof SorterFullError) {
      return this.error(`${error.message}; pass --output FILE or --temp-dir DIR on a disk that is not evidence`, { exit: USAGE })
    }
    const { code, syscall } = error as NodeJS.ErrnoException
    if (code === 'ENOSPC' || code === 'EDQUOT') return this.error('the disk is full; nothing was left behind', { exit: UNEXPECTED })
    if (code !== undefined && syscall !== undefined) return this.error(error.message, { exit: UNEXPECTED })
    return super.catch(error)
  }
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
