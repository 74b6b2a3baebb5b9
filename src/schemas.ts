import type { z } from 'zod'
import { CatalogEntry } from './catalog/index.js'
import { CollectionRecord, DirectoryLine, ManifestLine, ProcessLine } from './evidence/index.js'
import { Report } from './report/schema.js'
import { Row } from './rows/index.js'
import { RunRecord } from './verbs/run-record.js'
import { VerifyResult } from './verbs/verify.js'

/** Everything that leaves the program as JSON, by the name of its file in `schemas/`. */
export const published: Readonly<Record<string, z.ZodType>> = {
  'catalog-entry': CatalogEntry,
  'collection-record': CollectionRecord,
  'directory-line': DirectoryLine,
  'manifest-line': ManifestLine,
  'process-line': ProcessLine,
  report: Report,
  row: Row,
  'run-record': RunRecord,
  'verify-result': VerifyResult,
}
