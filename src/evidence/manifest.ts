import { z } from 'zod'
import { Scope } from '../catalog/index.js'

/*
 * What `collect` writes and `verify` and `parse --package` read. A package is a folder, a .zip or a .tar.gz of:
 *
 *   collection.json      about the run (`CollectionRecord`)
 *   manifest.jsonl       one line for every path that the catalog matched (`ManifestLine`)
 *   directories.jsonl    the times of each directory before it was listed (`DirectoryLine`)
 *   processes.jsonl      running processes of the agents, on a live machine (`ProcessLine`)
 *   collection.log       the run in words
 *   SHA256SUMS           every file but itself, for `sha256sum -c`
 *   hashdeep.txt         every file below evidence/, for `hashdeep -r -l -a -k hashdeep.txt evidence`
 *   evidence/<user>/home/<path below the home>
 *   evidence/<user>/moved-N/<path below the directory that an environment variable had named>
 *   evidence/<user>/project-N/<path below the project's directory>
 *   evidence/_temp/temp-N/<path below a temp directory>
 *
 * Names below evidence/ are made portable. Never tell anything from a stored name: the manifest line says what the file is.
 */

export const PACKAGE_FORMAT = 'agent-forensics collection'
export const PACKAGE_FORMAT_VERSION = 1

/** The files at the top of a package. */
export const PACKAGE_FILES = {
  collection: 'collection.json',
  manifest: 'manifest.jsonl',
  directories: 'directories.jsonl',
  processes: 'processes.jsonl',
  log: 'collection.log',
  sums: 'SHA256SUMS',
  hashdeep: 'hashdeep.txt',
} as const

export const EVIDENCE_FOLDER = 'evidence'
/** Stands for the user where a file belongs to the machine: temp directories. No user's folder has this name. */
export const MACHINE_FOLDER = '_temp'

/** What was done about a path. */
export const Action = z.enum(['copied', 'redacted', 'withheld', 'excluded', 'link', 'special', 'changed', 'failed', 'too-large'])
export type Action = z.infer<typeof Action>

const Sha256 = z.string().regex(/^[0-9a-f]{64}$/)
/** Nanoseconds since 1970 as decimal digits: JSON numbers cannot hold them. Negative before 1970. */
const Nanoseconds = z.string().regex(/^-?\d+$/)

const Times = {
  mtime_ns: Nanoseconds.nullable(),
  atime_ns: Nanoseconds.nullable(),
  ctime_ns: Nanoseconds.nullable(),
  birthtime_ns: Nanoseconds.nullable(),
}

const Owner = {
  /** Octal digits with the file type, as `stat %f` would give in octal: `100600`. */
  mode: z.string().nullable(),
  uid: z.number().int().nullable(),
  gid: z.number().int().nullable(),
}

/** One path that the catalog matched: where it was, what was done, what is in the package. */
export const ManifestLine = z.strictObject({
  action: Action,
  agent: z.string(),
  /** The catalog rule that decided: the id of a store, an exclusion or a credential. */
  rule: z.string(),
  /** Which list of the catalog the rule stands in; `run` when a flag of the run decided. */
  rule_kind: z.enum(['store', 'exclusion', 'credential', 'run']),
  /** The store that the path belongs to; empty when no store matches it (excluded, or a credential only). */
  store: z.string(),
  /** Why, in words. */
  reason: z.string(),

  /** The account; empty for a file of the machine. */
  user: z.string(),
  scope: Scope,
  /** The folder below `evidence/`: `<user>/home`, `<user>/moved-N`, `<user>/project-N`, `_temp/temp-N`; `collection.json` says what each is. */
  place: z.string(),
  /** The `source_file` of its rows (rows.md, Columns). */
  source_file: z.string(),
  /** The path as seen from the home, from the project folder that holds it, or from the temp directory; for a moved store its usual path. */
  short_path: z.string(),
  /** The project that holds it, as recorded; empty for a file of a home or temp directory. */
  project: z.string(),
  /** Where it stood when it was collected: absolute, separators of that machine. */
  original_path: z.string(),
  /** The bytes of `original_path`, base64, when they are not UTF-8 (the texts above then hold U+FFFD). */
  original_path_base64: z.string().optional(),

  kind: z.enum(['file', 'directory', 'link', 'special']),
  /** Where a link points, as it stands. */
  link_target: z.string().optional(),
  size: z.number().int().nonnegative(),
  /** Bytes really allocated, where the file system says. */
  allocated: z.number().int().nonnegative().nullable(),
  ...Times,
  /** Who vouches for `mtime_ns`. */
  mtime_from: z.enum(['filesystem', 'manifest', 'archive', 'bodyfile', 'unreliable']),
  ...Owner,
  inode: z.string().nullable(),
  device: z.string().nullable(),
  /** Names that the file has in its file system. */
  links: z.number().int().nullable(),

  /** Path in the package, `/` as separator; null when no bytes of it are in the package. */
  stored_path: z.string().nullable(),
  /** SHA-256 of the bytes as they stood in the evidence; null when they were not read, or must not be told. */
  sha256: Sha256.nullable(),
  stored_size: z.number().int().nonnegative().nullable(),
  /** SHA-256 of the bytes in the package; differs from `sha256` for a redacted file only. */
  stored_sha256: Sha256.nullable(),

  /** The catalog's credential rules that the path falls under. */
  credentials: z.array(z.string()),
  /** The stored copy holds, or may hold, secrets in clear: a database, or a run with --include-credentials. */
  contains_credentials: z.boolean(),
  /** Values masked in a redacted copy. */
  masked: z.number().int().nonnegative().nullable(),
  /** What went wrong, in words. */
  problem: z.string().optional(),
})
export type ManifestLine = z.infer<typeof ManifestLine>

/** A directory that was listed, as it stood before: listing changes its access time. */
export const DirectoryLine = z.strictObject({
  original_path: z.string(),
  original_path_base64: z.string().optional(),
  ...Times,
  ...Owner,
  inode: z.string().nullable(),
  device: z.string().nullable(),
})
export type DirectoryLine = z.infer<typeof DirectoryLine>

/** A running process of an agent. */
export const ProcessLine = z.strictObject({
  agent: z.string(),
  pid: z.number().int(),
  parent_pid: z.number().int().nullable(),
  uid: z.number().int().nullable(),
  /** ISO 8601, UTC; empty when the system does not tell. */
  started: z.string(),
  cwd: z.string(),
  executable: z.string(),
  /** Arguments, secrets inside masked. */
  arguments: z.array(z.string()),
  /** The variables that the catalog knows, secrets inside masked; other variables of the agent by name, their values withheld. */
  environment: z.record(z.string(), z.string()),
  problem: z.string().optional(),
})
export type ProcessLine = z.infer<typeof ProcessLine>

const Count = z.number().int().nonnegative()

/** About the run that wrote a package. */
export const CollectionRecord = z.strictObject({
  format: z.literal(PACKAGE_FORMAT),
  format_version: z.literal(PACKAGE_FORMAT_VERSION),
  case: z.string(),
  examiner: z.string(),
  /** The machine that the evidence came from, as far as known: `--host`, else this machine's name when it is the evidence itself. */
  host: z.string(),
  /** The machine that ran the collection. */
  collected_on: z.strictObject({ host: z.string(), platform: z.string(), release: z.string(), arch: z.string(), user: z.string() }),
  tool: z.strictObject({ name: z.string(), version: z.string(), node: z.string() }),
  catalogs: z.array(
    z.strictObject({
      agent: z.string(),
      plugin: z.string(),
      plugin_version: z.string(),
      catalog_version: z.string(),
      catalog_sha256: z.string(),
    }),
  ),
  arguments: z.array(z.string()),
  started: z.string(),
  ended: z.string(),
  /** This machine was the evidence. */
  live: z.boolean(),
  includes_credentials: z.boolean(),
  includes_databases: z.boolean(),
  homes: z.array(
    z.strictObject({
      user: z.string(),
      /** Its folder below `evidence/`: the user's name made portable, with a number when two homes have one name. */
      folder: z.string(),
      host: z.string(),
      /** Where the home was read. */
      directory: z.string(),
      /** Where it stood on its own machine; several when the copy does not tell macOS from Windows. */
      stood: z.array(z.string()),
      /** Every project that a record or a flag named and that was found, those without matching files too. */
      projects: z.array(z.strictObject({ place: z.string(), recorded: z.string(), directory: z.string() })),
      moved: z.array(z.strictObject({ place: z.string(), directory: z.string(), base: z.string() })),
      projects_not_found: z.array(z.string()),
      projects_refused: z.array(z.string()),
    }),
  ),
  temp: z.array(z.strictObject({ place: z.string(), directory: z.string() })),
  counts: z.record(Action, Count),
  files: Count,
  bytes: Count,
  manifest_sha256: Sha256,
})
export type CollectionRecord = z.infer<typeof CollectionRecord>
