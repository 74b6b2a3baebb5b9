import { z } from 'zod'
import { CatalogEntry, Meaning, meanings } from '../../catalog/index.js'
import type { Registered } from '../../parsers/index.js'

/** The result of `explain`: what the program knows of each agent's files, and which plugin it knows it from. */
export const ExplainedCatalog = z.strictObject({
  explained: z.literal('catalog'),
  tool: z.strictObject({ name: z.string(), version: z.string() }),
  agents: z.array(z.strictObject({ plugin: z.string(), plugin_version: z.string(), entry: CatalogEntry })),
  /** Every kind of row, what it proves and what it does not. */
  rows: z.array(Meaning),
})
export type ExplainedCatalog = z.infer<typeof ExplainedCatalog>

export function explainCatalog(registered: readonly Registered[], version: string): ExplainedCatalog {
  return {
    explained: 'catalog',
    tool: { name: 'agent-forensics', version },
    agents: registered.map(({ entry, by }) => ({ plugin: by.name, plugin_version: by.version, entry })),
    rows: [...meanings],
  }
}
