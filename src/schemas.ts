import { z } from 'zod'
import { CatalogEntry } from './catalog/index.js'
import { CollectionRecord, DirectoryLine, ManifestLine, ProcessLine } from './evidence/index.js'
import { Report } from './report/schema.js'
import { Row } from './rows/index.js'
import { ExplainedCatalog } from './verbs/explain/catalog.js'
import { ExplainedConversation } from './verbs/explain/conversation.js'
import { ExplainedExport } from './verbs/explain/export.js'
import { ExplainedPaths } from './verbs/explain/paths.js'
import { ExplainedRow } from './verbs/explain/row.js'
import { ExplainedText } from './verbs/explain/text.js'
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

  'explain-catalog': ExplainedCatalog,
  'explain-conversation': ExplainedConversation,
  'explain-export': ExplainedExport,
  'explain-paths': ExplainedPaths,
  'explain-row': ExplainedRow,
  'explain-text': ExplainedText,
}

/**
 * The JSON Schema of something that leaves the program. What zod knows and JSON Schema has no word for is put in its words: a key that
 * must not be there, and a value that may be absent (JSON leaves out what is undefined).
 */
export function jsonSchemaOf(schema: z.ZodType): object {
  return z.toJSONSchema(schema, {
    io: 'output',
    unrepresentable: 'any',
    override({ zodSchema, jsonSchema }) {
      if (zodSchema instanceof z.ZodUndefined) jsonSchema.not = {}
      if (!(zodSchema instanceof z.ZodObject) || !jsonSchema.required) return
      jsonSchema.required = jsonSchema.required.filter((key) => !(zodSchema.shape[key] instanceof z.ZodUnknown))
    },
  })
}
