import { Store, type CatalogEntry, type Credential } from '../catalog/index.js'
import type { Evidence, Home } from '../evidence/index.js'
import type { Presence } from '../report/index.js'

/** Which files of the evidence fall under a catalog's stores and credentials, read or not. Looks at names only. */
export function presenceOf(evidence: Evidence, entries: readonly CatalogEntry[]): { stores: Presence[]; credentials: Presence[] } {
  const each = (rules: (entry: CatalogEntry) => readonly Store[]) =>
    evidence.homes.flatMap((home) => entries.flatMap((entry) => present(home, entry.agent, rules(entry))))
  return {
    stores: each(({ stores }) => stores),
    credentials: each(({ credentials }) => credentials.flatMap(asStore)),
  }
}

function present(home: Home, agent: string, rules: readonly Store[]): Presence[] {
  const files = [...home.files(rules), ...home.projectFiles(rules, new Set())]
  return files.map(({ store, path }) => ({ user: home.user, agent, rule: store, path }))
}

/** A credential rule in the form in which evidence is searched; what no file holds is not looked for. */
function asStore({ id, title, scope, globs, citation }: Credential): Store[] {
  if (scope === 'external' || globs.length === 0) return []
  return [
    Store.parse({
      id,
      title,
      scope,
      globs,
      citation,
      format: 'directory',
      proves: title,
      time_source: 'file time',
      parsed: false,
      may_hold_secrets: true,
      confidence: 'source',
    }),
  ]
}
