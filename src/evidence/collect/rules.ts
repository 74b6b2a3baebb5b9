import picomatch from 'picomatch'
import type { CatalogEntry, Credential, Exclusion, Store } from '../../catalog/index.js'
import { matchable } from '../tree.js'

/** What the catalog says of one path. */
export interface Ruling {
  readonly agent: string
  /** The path below the folder that the globs are relative to: the home, the project folder that holds it, the temp directory. */
  readonly shortPath: string
  readonly store?: Store
  readonly exclusion?: Exclusion
  /** An exclusion that `--include-scratch` lifts. */
  readonly scratch?: Exclusion
  readonly credentials: readonly Credential[]
}

interface Tested<T> {
  readonly rule: T
  readonly matches: (path: string) => boolean
}

interface Ruled {
  readonly scope: string
  readonly globs: readonly string[]
}

/** The catalog's rules of one agent for one scope, as a collection asks them. */
export class Rules {
  readonly #stores: readonly Tested<Store>[]
  readonly #exclusions: readonly Tested<Exclusion>[]
  readonly #scratch: readonly Tested<Exclusion>[]
  readonly #credentials: readonly Tested<Credential>[]

  constructor(
    readonly entry: CatalogEntry,
    readonly scope: Store['scope'],
    options: { readonly includeScratch?: boolean } = {},
  ) {
    const scratch = new Set(entry.scratch.flatMap(({ globs }) => globs))
    const lifted = (rule: Exclusion) => options.includeScratch === true && rule.globs.every((glob) => scratch.has(glob))
    this.#stores = tested(entry.stores, scope)
    this.#credentials = tested(entry.credentials, scope)
    this.#scratch = tested(entry.exclusions.filter(lifted), scope)
    this.#exclusions = tested(
      entry.exclusions.filter((rule) => !lifted(rule)),
      scope,
    )
  }

  /** Globs of everything that is to be found: evidence, credentials, and the directories that are named but not entered. */
  get globs(): string[] {
    return [...globsOf(this.#stores), ...globsOf(this.#credentials), ...globsOf(this.#scratch), ...this.#closed]
  }

  /** Globs of what lies in directories that are named but not entered. */
  get notEntered(): string[] {
    return this.#closed.map((glob) => `${glob}/*/**`)
  }

  /** What the catalog says of a path; undefined when it says nothing. */
  of(shortPath: string): Ruling | undefined {
    const path = matchable(shortPath)
    const first = <T>(rules: readonly Tested<T>[]) => rules.find(({ matches }) => matches(path))?.rule
    const ruling = {
      agent: this.entry.agent,
      shortPath,
      store: first(this.#stores),
      exclusion: first(this.#exclusions),
      scratch: first(this.#scratch),
      credentials: this.#credentials.filter(({ matches }) => matches(path)).map(({ rule }) => rule),
    }
    const silent = !ruling.store && !ruling.exclusion && !ruling.scratch && ruling.credentials.length === 0
    return silent ? undefined : ruling
  }

  get #closed(): string[] {
    return globsOf(this.#exclusions.filter(({ rule }) => rule.when === 'always'))
      .filter((glob) => glob.endsWith('/**'))
      .map((glob) => glob.slice(0, -'/**'.length))
  }
}

function tested<T extends Ruled>(rules: readonly T[], scope: Store['scope']): Tested<T>[] {
  return rules
    .filter((rule) => rule.scope === scope && rule.globs.length > 0)
    .map((rule) => ({ rule, matches: picomatch([...rule.globs], { dot: true }) }))
}

function globsOf<T extends Ruled>(rules: readonly Tested<T>[]): string[] {
  return rules.flatMap(({ rule }) => [...rule.globs])
}
