import { z } from 'zod'
import { Details } from './kinds.js'

export const TurnType = z.enum(['user', 'assistant', 'thinking', 'tool_use', 'tool_result', 'system'])
export type TurnType = z.infer<typeof TurnType>

/** One line of the timeline (rows.md). Columns stand in output order. */
export const Row = z.strictObject({
  timestamp_utc: z
    .string()
    .regex(/^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z)?$/)
    .describe('ISO 8601, UTC, milliseconds, Z; empty when the record has no time'),
  host: z.string().describe('the machine; empty when unknown'),
  user: z.string().describe("the account: the home directory's last segment; empty when unknown"),
  agent: z.string().describe('the catalog agent whose parser emitted the row'),
  session_id: z.string().describe('conversation or session id; empty when none'),
  project_path: z.string().describe('the working directory as the evidence records it'),
  git_branch: z.string().describe('empty for letta'),
  turn_type: TurnType,
  model: z.string(),
  tool_name: z.string(),
  tool_use_id: z.string(),
  text: z.string().describe('never shortened unless asked'),
  source_file: z.string().describe('logical path with /, relative to its home, or the recorded project path'),
  source_line: z.number().int().positive().nullable().describe('1-based line in a line-based file; null for whole-file records'),
  details: Details,
})
export type Row = z.infer<typeof Row>

export type Column = keyof typeof Row.shape
export const COLUMNS = Object.keys(Row.shape) as readonly Column[]
