import { z } from 'zod'

const recorded = z.unknown()

/** A system row's kind, with the values of its text under the record's own names in snake_case. */
function kind<K extends string, S extends z.ZodRawShape>(name: K, values: S) {
  return z.looseObject({ ...common, kind: z.literal(name), ...values })
}

const common = {
  /** The catalog store's id. */
  store: z.string(),
  time_source: z.enum(['record', 'file-mtime', 'transcript', 'original', 'none']),
  /** For a row at a file's time: who vouches for that time. */
  mtime_from: z.enum(['filesystem', 'manifest', 'archive', 'bodyfile', 'unreliable']).optional(),
  /** The recorded value where a time could not be read. */
  bad_time: z.union([z.string(), z.number(), z.boolean()]).optional(),
  /** The counter that an old release recorded instead of a time. */
  time_synthetic: z.string().optional(),
  /** Which file named the project of this row. */
  project_from: z.string().optional(),
  lone_surrogate: z.literal(true).optional(),
  invalid_utf8: z.literal(true).optional(),
  copied_from: z.strictObject({ session_id: z.string(), source_file: z.string(), source_line: z.number().int() }).optional(),
  /** Earlier lines that this snapshot of a message replaces. */
  replaced: z.array(z.number().int()).optional(),
  /** Who wrote a whole text that stands as a user's: `task-notification`, `scheduled-task`, `channel`, `claude-subconscious`, `dream-import`. */
  origin: z.string().optional(),
  /** In a session file that is a tree: which branch, counted from the second on, and the entry that it left (pi-and-claude-code 1.6). */
  branch: z.number().int().optional(),
  branch_from: z.string().nullable().optional(),
  /** The other coding agent that this call started. */
  starts: z.string().optional(),
  /** Sessions of other agents that this row belongs with, and the file that names both; without one the row itself does. */
  links: z.array(z.strictObject({ agent: z.string(), session_id: z.string(), from: z.string().optional() })).optional(),
}

const Turn = z.looseObject({
  ...common,
  kind: z.undefined().optional(),
  source_line_id: z.string().optional(),
  source_message_id: z.string().optional(),
  /** A transcript's tool call: true, false, or null when the line does not say. */
  result_ok: z.boolean().nullable().optional(),
  submitted_at: z.string().optional(),
  is_error: z.boolean().optional(),
})

const SystemKinds = z.discriminatedUnion('kind', [
  Turn,
  kind('session-end', {
    agent_id: recorded,
    exit_reason: recorded,
    message_count: recorded,
    tool_call_count: recorded,
    wall_ms: recorded,
  }),
  kind('session-start', { agent_id: recorded, provider: recorded, model: recorded, project: recorded }),
  kind('model', { model: recorded, previous: recorded.optional(), provider: recorded }),
  kind('permission-setting', { key: z.string(), value: recorded, file: z.string() }),
  kind('permission-decision', { decision: z.string(), reason: recorded, file: z.string() }),
  kind('session-synced', { agent_id: recorded, conversation_id: recorded, server: recorded.optional() }),
  kind('session-relayed', { channel: z.string(), chat_id: recorded, agent_id: recorded, conversation_id: recorded }),
  kind('scheduled-task', { id: recorded, name: recorded, status: recorded, prompt: recorded }),
  kind('scheduled-task-run', { job_id: recorded, status: recorded, outcome: recorded }),
  kind('interrupted-turn', { agent_id: recorded, conversation_id: recorded, tool_call_ids: recorded }),
  kind('compaction', { tokens_before: recorded, first_kept: recorded, summary: recorded }),
  kind('error', { error_message: recorded }),
  kind('injected-context', {}),
  kind('session-name', { name: recorded }),
  kind('label', { label: recorded.optional(), target_id: recorded }),
  kind('thinking-level', { level: recorded }),
  kind('context-edit', { target_id: recorded, edit: z.enum(['omitted', 'replaced']) }),
  kind('branch-summary', { from_id: recorded, summary: recorded }),
  kind('system-prompt', { sections: z.array(z.string()), tools_added: z.array(z.string()), tools_removed: z.array(z.string()) }),
  kind('custom-message', { custom_type: recorded }),
  kind('conversation-compacted', { trigger: recorded, pre_tokens: recorded }),
  kind('session-summary', { summary: recorded, leaf_uuid: recorded.optional() }),
  kind('interrupted', {}),
  kind('local-output', {}),
  kind('notice', { subtype: recorded, level: recorded.optional() }),
  kind('subconscious-agent', { agent_id: recorded, model: recorded }),
  kind('parser', { problem: z.string(), line: z.number().int().nullable() }),
])

/** A kind of a plugin's own begins with its agent and a colon: `example:handover`. */
const PluginKind = z.looseObject({ ...common, kind: z.string().regex(/^[a-z0-9-]+:/) })

export const Details = z.union([SystemKinds, PluginKind])
export type Details = z.infer<typeof Details>
export type TimeSource = z.infer<typeof common.time_source>
export type MtimeFrom = NonNullable<z.infer<typeof common.mtime_from>>
