import type { CatalogEntry } from '../catalog/index.js'
import type { Row } from '../rows/index.js'

/** What the run record says of one home; the report takes what it needs of it (`schemas/run-record.schema.json`). */
export interface HomeFacts {
  readonly user: string
  readonly host: string
  readonly directory: string
  readonly agent: string
  readonly stores: Readonly<Record<string, StoreFacts>>
  readonly files: readonly { readonly path: string; readonly size: number; readonly mtime: string; readonly sha256: string }[]
  readonly not_read: readonly { readonly path: string; readonly problem: string }[]
  readonly projects_not_found: readonly string[]
  readonly projects_refused: readonly string[]
}

export interface StoreFacts {
  readonly files: number
  readonly bytes: number
  readonly rows: number
  readonly dropped: number
  readonly copied: number
  readonly replaced: number
  readonly bad: number
  readonly unknown_fields: Readonly<Record<string, number>>
}

export interface RunFacts {
  readonly tool: { readonly name: string; readonly version: string }
  readonly arguments: readonly string[]
  readonly started: string
  readonly parsers: readonly {
    readonly agent: string
    readonly plugin: string
    readonly plugin_version: string
    readonly catalog_version: string
  }[]
  readonly plugin_notes: readonly { readonly message: string }[]
  readonly homes: readonly HomeFacts[]
  /** Packages of `collect` that were read, with the hash that each one's collection printed last. */
  readonly packages?: readonly { readonly package: string; readonly manifest_sha256: string }[]
}

/** A file of a home that falls under a catalog rule, whether it was read or not: paths only, never content. */
export interface Presence {
  readonly user: string
  readonly agent: string
  /** The id of a store or of a credential of the catalog entry. */
  readonly rule: string
  readonly path: string
}

export interface ReportInput {
  /** In the order of `parse` (rows.md, Columns). */
  readonly rows: readonly Row[]
  readonly catalog: readonly CatalogEntry[]
  readonly run: RunFacts
  readonly stores: readonly Presence[]
  readonly credentials: readonly Presence[]
  /** Rows that filters left out: then rules about what is absent are not asked. */
  readonly filteredOut?: number
  readonly case?: string
  readonly examiner?: string
  /** Users, hosts and home paths give way to pseudonyms. */
  readonly redactNames?: boolean
}
