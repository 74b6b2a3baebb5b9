import type { CatalogEntry } from '../catalog/index.js'
import type { SuppliedParser } from './parse.js'
import type { Parser, ParserClass } from './parser.js'

/** What a plugin gives for one agent: the catalog entry, and the module (a URL) whose export is the parser class. */
export interface Registration {
  readonly entry: CatalogEntry
  readonly module: string
  /** The name of the export; default: `default`. */
  readonly export?: string
  /** Imports the module by a name that a bundler can follow: the standalone executable holds modules that no URL leads to. */
  readonly load?: () => Promise<object>
}

/** Who registered: the plugin's name and version. */
export interface Registrant {
  readonly name: string
  readonly version: string
  /** Ours step back when another plugin registers the same agent. */
  readonly bundled: boolean
}

export interface Registered extends Registration {
  readonly by: Registrant
}

/** What went wrong while plugins registered, or was decided between them: kept for the run record. */
export interface RegistryNote {
  readonly kind: 'failed' | 'stepped-back' | 'conflict'
  readonly agent?: string
  readonly plugins: readonly string[]
  readonly message: string
}

/** Which parser reads which agent's files. */
export class Registry {
  readonly notes: RegistryNote[] = []
  readonly #registered = new Map<string, Registered[]>()

  add(registration: Registration, by: Registrant): void {
    const { agent } = registration.entry
    this.#registered.set(agent, [...(this.#registered.get(agent) ?? []), { ...registration, by }])
  }

  failed(by: Registrant, error: unknown): void {
    const message = error instanceof Error ? error.message : String(error)
    this.notes.push({ kind: 'failed', plugins: [label(by)], message: `plugin ${label(by)} could not register: ${message}` })
  }

  /** Loads the parsers that were settled on; one that cannot be loaded is noted, and does not cost the others theirs. */
  async load(registered: readonly Registered[]): Promise<SuppliedParser[]> {
    const loaded: SuppliedParser[] = []
    for (const one of registered) {
      try {
        loaded.push({ parser: await loadParser(one), plugin: label(one.by) })
      } catch (error) {
        this.#unloadable(one, error)
      }
    }
    return loaded
  }

  #unloadable({ by, entry: { agent } }: Registered, error: unknown): void {
    const problem = error instanceof Error ? error.message : String(error)
    const message = `agent ${agent} cannot be read: the parser of plugin ${label(by)} could not be loaded: ${problem}`
    this.notes.push({ kind: 'failed', agent, plugins: [label(by)], message })
  }

  /** Settles who reads what: a bundled parser steps back, any other duplicate disables its agent. Sorted by agent. */
  settle(): Registered[] {
    return [...this.#registered.keys()].sort().flatMap((agent) => this.#settleOne(agent, this.#registered.get(agent)!))
  }

  #settleOne(agent: string, all: readonly Registered[]): Registered[] {
    const others = all.filter(({ by }) => !by.bundled)
    const contenders = others.length > 0 ? others : all
    const plugins = all.map(({ by }) => label(by))
    if (contenders.length > 1) {
      this.notes.push({
        kind: 'conflict',
        agent,
        plugins,
        message: `agent ${agent} is disabled: ${plugins.join(' and ')} both register it`,
      })
      return []
    }
    if (all.length > 1) {
      const message = `agent ${agent} is read by ${label(contenders[0]!.by)}: the bundled parser steps back`
      this.notes.push({ kind: 'stepped-back', agent, plugins, message })
    }
    return [...contenders]
  }
}

function label({ name, version }: Registrant): string {
  return `${name}@${version}`
}

/** Loads a parser class and makes its parser. */
export async function loadParser({ entry, module, load = () => import(module), export: name = 'default' }: Registration): Promise<Parser> {
  const loaded = (await load()) as Record<string, ParserClass | undefined>
  const ParserOfAgent = loaded[name]
  if (typeof ParserOfAgent !== 'function') throw new Error(`${module} has no export ${name} that is a parser class`)
  return new ParserOfAgent(entry)
}
