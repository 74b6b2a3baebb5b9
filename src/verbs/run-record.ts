import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { HomeRun, Registered, RegistryNote } from '../parsers/index.js'
import { compactJson } from '../rows/index.js'
import type { Timeline } from './timeline.js'

const Count = z.number().int()

/** What a run read and gave, so that two people can prove that they read the same. Written beside the output as `FILE.run.json`. */
export const RunRecord = z.strictObject({
  record: z.literal('agent-forensics run'),
  tool: z.strictObject({ name: z.string(), version: z.string(), node: z.string(), platform: z.string() }),
  arguments: z.array(z.string()),
  started: z.string(),
  ended: z.string(),
  parsers: z.array(
    z.strictObject({
      agent: z.string(),
      plugin: z.string(),
      plugin_version: z.string(),
      catalog_version: z.string(),
      catalog_sha256: z.string(),
    }),
  ),
  plugin_notes: z.array(
    z.strictObject({
      kind: z.enum(['failed', 'stepped-back', 'conflict']),
      agent: z.string().optional(),
      plugins: z.array(z.string()),
      message: z.string(),
    }),
  ),
  rows: Count,
  rows_without_time: Count,
  rows_filtered_out: Count,
  time_range: z.strictObject({ first: z.string(), last: z.string() }),
  output: z.strictObject({ file: z.string(), format: z.string() }).nullable(),
  /** Packages of our own that were read, with the SHA-256 of each one's manifest: the hash that `collect` printed last. */
  packages: z.array(z.strictObject({ package: z.string(), manifest_sha256: z.string() })),
  homes: z.array(
    z.strictObject({
      user: z.string(),
      host: z.string(),
      directory: z.string(),
      agent: z.string(),
      stores: z.record(
        z.string(),
        z.strictObject({
          files: Count,
          bytes: Count,
          records: Count,
          headers: Count,
          rows: Count,
          dropped: Count,
          copied: Count,
          replaced: Count,
          empty: Count,
          bad: Count,
          unknown_fields: z.record(z.string(), Count),
        }),
      ),
      files: z.array(z.strictObject({ path: z.string(), size: Count, mtime: z.string(), mtime_from: z.string(), sha256: z.string() })),
      not_read: z.array(z.strictObject({ path: z.string(), problem: z.string() })),
      projects_not_found: z.array(z.string()),
      projects_refused: z.array(z.string()),
    }),
  ),
})
export type RunRecord = z.infer<typeof RunRecord>

export interface RunRecordInput {
  readonly version: string
  readonly arguments: readonly string[]
  readonly started: Date
  readonly ended: Date
  readonly registered: readonly Registered[]
  readonly notes: readonly RegistryNote[]
  readonly manifests?: readonly { readonly package: string; readonly sha256: string }[]
  readonly timeline: Timeline
  readonly output: { readonly file: string; readonly format: string } | null
}

export function runRecord(input: RunRecordInput): RunRecord {
  const { timeline } = input
  return {
    record: 'agent-forensics run',
    tool: { name: 'agent-forensics', version: input.version, node: process.version, platform: `${process.platform} ${process.arch}` },
    arguments: [...input.arguments],
    started: input.started.toISOString(),
    ended: input.ended.toISOString(),
    parsers: input.registered.map(({ entry, by }) => ({
      agent: entry.agent,
      plugin: by.name,
      plugin_version: by.version,
      catalog_version: entry.version,
      catalog_sha256: createHash('sha256').update(compactJson(entry)).digest('hex'),
    })),
    plugin_notes: input.notes.map(({ kind, agent, plugins, message }) => ({ kind, agent, plugins: [...plugins], message })),
    rows: timeline.rows,
    rows_without_time: timeline.withoutTime,
    rows_filtered_out: timeline.filteredOut,
    time_range: { first: timeline.first, last: timeline.last },
    output: input.output,
    packages: (input.manifests ?? []).map(({ package: at, sha256 }) => ({ package: at, manifest_sha256: sha256 })),
    homes: timeline.runs.map(homeRecord),
  }
}

function homeRecord({ user, host, directory, agent, run }: HomeRun): RunRecord['homes'][number] {
  return {
    user,
    host,
    directory,
    agent,
    stores: Object.fromEntries([...run.tallies].map(([store, tally]) => [store, tally.toJSON()])),
    files: [...run.files].flatMap((file) => file.wasRead ?? []),
    not_read: [...run.troubles.values()].map(({ path, problem }) => ({ path, problem })),
    projects_not_found: [...run.projectsNotFound],
    projects_refused: [...run.projectsRefused],
  }
}
