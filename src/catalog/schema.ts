import { z } from 'zod'

/** How sure the catalog is of a claim: seen in files of a real run, read in source code, or neither. */
export const Confidence = z.enum(['observed', 'source', 'told', 'not-determined'])

/** What a path in the catalog is relative to: the home directory, a project directory, or the machine's temp directory. */
export const Scope = z.enum(['home', 'project', 'temp'])

/** Glob patterns relative to their scope's root, `/` as separator on every system; braces and `**` as in picomatch. */
const Globs = z.array(z.string().min(1)).min(1)

/** Where a claim can be checked: sections of the reference, source files with lines, releases in which it was observed. */
const Citation = z.array(z.string().min(1)).min(1)

/** A kind of file that an agent writes and that is evidence. */
export const Store = z.strictObject({
  /** Stable id; rows name it in `details.store`. */
  id: z.string().regex(/^[a-z0-9]+(-[a-z0-9]+)*$/),
  title: z.string(),
  scope: Scope,
  globs: Globs,
  format: z.enum(['jsonl', 'json', 'yaml', 'text', 'markdown', 'html', 'git', 'sqlite', 'code', 'binary', 'directory']),
  /** What a file of this kind shows, in a sentence that a report can quote. */
  proves: z.string(),
  /** Where the times of its rows come from. */
  time_source: z.string(),
  /** Whether a parser of the agent turns it into rows. */
  parsed: z.boolean(),
  /** Credential values are withheld by key; this says whether pasted or echoed secrets can stand elsewhere in it. */
  may_hold_secrets: z.boolean(),
  /** Lost at shutdown, swept after hours, or gone when the program ends: collected first. */
  volatile: z.boolean().default(false),
  /** First and last release that writes it, where known. */
  since: z.string().optional(),
  until: z.string().optional(),
  confidence: Confidence,
  citation: Citation,
  caveats: z.array(z.string()).default([]),
})

/** Paths below an agent's directories that are not evidence, or too large to be worth their bytes. */
export const Exclusion = z.strictObject({
  id: z.string(),
  scope: Scope,
  globs: Globs,
  reason: z.string(),
  /** `always`, or only files above the collector's size cap. */
  when: z.enum(['always', 'over-size-cap']).default('always'),
  citation: Citation,
})

/**
 * A file or store that holds secrets.
 * `withhold`: only metadata is recorded. `redact`: evidence too, so a copy with the secret values masked.
 * `keep`: evidence that may hold pasted secrets (databases); flagged, not masked. `external`: not a file.
 */
export const Credential = z.strictObject({
  id: z.string(),
  title: z.string(),
  scope: z.enum([...Scope.options, 'external']),
  globs: z.array(z.string()),
  class: z.enum(['withhold', 'redact', 'keep', 'external']),
  /** Key paths whose values are secret: `*` one key or index, `**` any depth; for INI files `section.key`. */
  keys: z.array(z.string()),
  /** Key paths whose values are evidence themselves (commands, arguments, addresses): only what looks like a secret inside is masked. */
  partly: z.array(z.string()).default([]),
  format: z.enum(['json', 'ini', 'yaml', 'text', 'sqlite', 'directory', 'os-store']),
  notes: z.string().optional(),
  citation: Citation,
})

/** Directories in which the agent works itself: its own clones, worktrees and overflow, not the user's projects. */
export const Scratch = z.strictObject({
  scope: Scope,
  globs: Globs,
  title: z.string(),
  citation: Citation,
})

/** An environment variable that moves or changes what is written, and the flag that mirrors it. */
export const EnvironmentOverride = z.strictObject({
  variable: z.string(),
  /** The command-line flag with the same effect, when there is one. */
  flag: z.string().optional(),
  /** Usual paths (relative to the home) that the variable moves; the value takes the place of `base`. */
  moves: z.strictObject({ base: z.string(), paths: z.array(z.string()).min(1) }).optional(),
  effect: z.string(),
  citation: Citation,
})

/** How a running program of the agent is told: the name of its executable, or a part of the path of a script that an interpreter runs. */
export const Processes = z.strictObject({
  names: z.array(z.string().min(1)),
  scripts: z.array(z.string().min(1)),
  citation: Citation,
})

/** One agent: which files are evidence, which are left out, which hold credentials. */
export const CatalogEntry = z.strictObject({
  agent: z.string().regex(/^[a-z0-9]+(-[a-z0-9]+)*$/),
  title: z.string(),
  /** Version of this entry; changes whenever a rule changes. */
  version: z.string(),
  summary: z.string(),
  /** Where the agent's makers describe it. */
  urls: z.array(z.url()).default([]),
  /** Releases whose files were seen or whose source was read. */
  reviewed: z.array(z.strictObject({ release: z.string(), how: z.enum(['observed', 'source', 'told']), note: z.string().optional() })),
  stores: z.array(Store).min(1),
  exclusions: z.array(Exclusion),
  credentials: z.array(Credential),
  scratch: z.array(Scratch),
  environment: z.array(EnvironmentOverride),
  processes: Processes.optional(),
  capabilities: z.strictObject({
    /** Some file records to which chat or host a conversation was relayed. */
    records_relay: z.boolean(),
    /** Whether a deletion of a conversation leaves a local record, and what it leaves. */
    records_deletions: z.boolean(),
    deletions: z.string(),
    /** Source-host integrations (repository grants) that the agent records. */
    source_hosts: z.array(z.string()),
  }),
  caveats: z.array(z.string()),
})

export type Store = z.output<typeof Store>
export type Exclusion = z.output<typeof Exclusion>
export type Credential = z.output<typeof Credential>
export type Scratch = z.output<typeof Scratch>
export type EnvironmentOverride = z.output<typeof EnvironmentOverride>
export type CatalogEntry = z.output<typeof CatalogEntry>

/** A catalog entry as an author writes it, defaults left out. */
export type CatalogEntryInput = z.input<typeof CatalogEntry>
