import type { z } from 'zod'
import { CatalogEntry } from './catalog/index.js'
import { Row } from './rows/index.js'
import { RunRecord } from './verbs/run-record.js'

/** Everything that leaves the program as JSON, by the name of its file in `schemas/`. */
export const published: Readonly<Record<string, z.ZodType>> = {
  'catalog-entry': CatalogEntry,
  row: Row,
  'run-record': RunRecord,
}
