import { z } from 'zod'
import type { CatalogEntry } from '../schema.js'
import { collections, type Collection } from './collection.js'
import { forensicArtifacts } from './forensic-artifacts.js'
import { globs } from './globs.js'
import { kape } from './kape.js'
import { uac } from './uac.js'
import { velociraptor } from './velociraptor.js'

export const EXPORT_FORMATS = ['velociraptor', 'kape', 'uac', 'forensic-artifacts', 'globs'] as const
export const ExportFormat = z.enum(EXPORT_FORMATS)
export type ExportFormat = z.infer<typeof ExportFormat>

/** A file for another collector: its usual name, and its text. */
export const ExportFile = z.strictObject({
  name: z.string(),
  agent: z.string(),
  /** Credential files are a file of their own, so that they are a choice of their own. */
  holds: z.enum(['evidence', 'credentials']),
  content: z.string(),
})
export type ExportFile = z.infer<typeof ExportFile>

const writers: Readonly<Record<ExportFormat, { readonly write: (collection: Collection) => string; readonly ending: string }>> = {
  velociraptor: { write: velociraptor, ending: 'yaml' },
  kape: { write: kape, ending: 'tkape' },
  uac: { write: uac, ending: 'yaml' },
  'forensic-artifacts': { write: forensicArtifacts, ending: 'yaml' },
  globs: { write: globs, ending: 'txt' },
}

/** The catalog in another collector's language: for each agent its evidence, and its credential files apart. */
export function exportCatalog(format: ExportFormat, entries: readonly CatalogEntry[]): ExportFile[] {
  const { write, ending } = writers[format]
  return entries
    .flatMap(collections)
    .map((one) => ({ name: `${one.agent}-${one.holds}.${ending}`, agent: one.agent, holds: one.holds, content: write(one) }))
}
