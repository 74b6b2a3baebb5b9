import { z } from 'zod'
import { exportCatalog, ExportFile, ExportFormat } from '../../catalog/export/index.js'
import type { CatalogEntry } from '../../catalog/index.js'

/** The result of `explain --export`. */
export const ExplainedExport = z.strictObject({ explained: z.literal('export'), format: ExportFormat, files: z.array(ExportFile) })
export type ExplainedExport = z.infer<typeof ExplainedExport>

export function explainExport(format: ExportFormat, entries: readonly CatalogEntry[]): ExplainedExport {
  return { explained: 'export', format, files: exportCatalog(format, entries) }
}
