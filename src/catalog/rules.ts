import picomatch from 'picomatch'
import type { CatalogEntry, Credential, Exclusion, Scope, Scratch, Store } from './schema.js'
import type { z } from 'zod'

export type ScopeName = z.infer<typeof Scope>

/** One rule of a catalog entry that names paths. */
export type Rule =
  | { readonly kind: 'store'; readonly agent: string; readonly rule: Store }
  | { readonly kind: 'exclusion'; readonly agent: string; readonly rule: Exclusion }
  | { readonly kind: 'credential'; readonly agent: string; readonly rule: Credential }
  | { readonly kind: 'scratch'; readonly agent: string; readonly rule: Scratch }

interface Test {
  readonly found: Rule
  readonly scope: ScopeName
  readonly matches: (path: string) => boolean
}

/** Which rules of catalog entries a path falls under. Of stores, which stand in match order, the first counts. */
export class Rules {
  readonly #tests: readonly Test[]

  constructor(entries: readonly CatalogEntry[]) {
    this.#tests = entries.flatMap((entry) => entryRules(entry).flatMap(test))
  }

  /** `path` is relative to the root of its scope, with `/`. */
  of(path: string, scope: ScopeName): Rule[] {
    const found = this.#tests.filter((one) => one.scope === scope && one.matches(path)).map((one) => one.found)
    const first = new Set<string>()
    return found.filter(({ kind, agent }) => kind !== 'store' || (!first.has(agent) && first.add(agent)))
  }
}

function entryRules(entry: CatalogEntry): Rule[] {
  const { agent } = entry
  return [
    ...entry.exclusions.map((rule): Rule => ({ kind: 'exclusion', agent, rule })),
    ...entry.credentials.map((rule): Rule => ({ kind: 'credential', agent, rule })),
    ...entry.stores.map((rule): Rule => ({ kind: 'store', agent, rule })),
    ...entry.scratch.map((rule): Rule => ({ kind: 'scratch', agent, rule })),
  ]
}

function test(found: Rule): Test[] {
  const { scope, globs } = found.rule
  if (scope === 'external' || globs.length === 0) return []
  return [{ found, scope, matches: picomatch([...globs], { dot: true }) }]
}
