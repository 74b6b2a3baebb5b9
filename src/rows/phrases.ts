import { phrase } from './phrase.js'

/** The exact texts of system rows (rows.md). A value's name is the record's own; `time_from` says which time the row stands at. */
export const phrases = {
  sessionEnd: phrase(
    'session-end',
    'letta session end: agent=<agent_id> exit_reason=<exit_reason> messages=<message_count> tool_calls=<tool_call_count> wall_ms=<wall_ms>',
  ),
  sessionStart: phrase('session-start', 'letta session start: agent=<agent_id> provider=<provider> model=<model> project=<project>'),
  modelChange: phrase('model-change', 'model: <previous> -> <model> provider=<provider>'),
  model: phrase('model', 'model: <model> provider=<provider>'),
  permissionSetting: phrase('permission-setting', 'permission setting: permissions.<key>=<value> (from <file>, file mtime)'),
  permissionDecision: phrase(
    'permission-decision',
    'permission decision: <decision> reason=<reason> (from <file>, interrupted turn, file mtime)',
  ),
  permissionOutcome: phrase(
    'permission-outcome',
    'permission decision: <decision> reason=<reason> source=<source> (from <file>, timestamp)',
  ),
  syncedConversation: phrase(
    'session-synced-conversation',
    'session synced: server conversation <conversation_id> agent <agent_id> server <server> (from .letta/transcripts path, first captured_at)',
  ),
  syncedLastSession: phrase(
    'session-synced-last-session',
    'session synced: last session on <server> agent <agent_id> conversation <conversation_id> (from <file>, file mtime)',
  ),
  syncedHarness: phrase(
    'session-synced-harness',
    'session synced: <harness> session <harness_session_id> conversation <conversation_id> agent <agent_id> sent_to=<last_processed_index> (from <file>, <time_from>)',
  ),
  syncedRoute: phrase(
    'session-synced-route',
    'session synced: <harness> session <harness_session_id> conversation <conversation_id> agent <agent_id> updated=<updated_at> (from <file>, <time_from>)',
  ),
  subconsciousAgent: phrase('subconscious-agent', 'subconscious agent: <agent_id> model=<model> (from <file>, <time_from>)'),
  relayed: phrase(
    'session-relayed',
    'session relayed: <channel> chat <chat_id> type <chat_type> thread <thread_id> account <account_id> agent <agent_id> enabled=<enabled> outbound=<outbound_enabled> detached=<detached> updated=<updated_at> (from <file>, <time_from>)',
  ),
  scheduledTask: phrase(
    'scheduled-task',
    'scheduled task: <id> name=<name> status=<status> cron=<cron> timezone=<timezone> recurring=<recurring> scheduled_for=<scheduled_for> agent=<agent_id> conversation=<conversation_id> fire_count=<fire_count> last_fired=<last_fired_at> last_run=<last_run_at> outcome=<last_run_outcome> reason=<last_run_reason> error=<last_run_error> cancel_reason=<cancel_reason> (from <file>, <time_from>) description: <description> prompt: <prompt>',
  ),
  scheduledTaskRun: phrase(
    'scheduled-task-run',
    'scheduled task run: <job_id> action=<action> status=<status> outcome=<outcome> reason=<reason> agent=<agent_id> conversation=<conversation_id> run=<run_id> scheduled_for=<scheduled_for> fired=<fired_at> missed=<missed_count> summary=<summary> error=<error> (from <file>, <time_from>)',
  ),
  interruptedTurn: phrase(
    'interrupted-turn',
    'interrupted turn: agent <agent_id> conversation <conversation_id> run <run_id> tool_calls=<tool_call_ids> unstarted=<unstarted_tool_call_ids> results=<results> working_directory=<working_directory> acting_user=<acting_user_id> (from <file>, file mtime)',
  ),
  compaction: phrase('compaction', 'compaction: tokens_before=<tokens_before> first_kept=<first_kept> summary: <summary>'),
  error: phrase('error', 'error: <error_message>'),
  conversationCompacted: phrase('conversation-compacted', 'conversation compacted: trigger=<trigger> pre_tokens=<pre_tokens>'),
  sessionName: phrase('session-name', 'session name: <name>'),
  label: phrase('label', 'label: <label> on <target_id>'),
  thinkingLevel: phrase('thinking-level', 'thinking level: <level>'),
  contextEdit: phrase('context-edit', 'context edit: <target_id> <edit>'),
  branchSummary: phrase('branch-summary', 'branch summary: from=<from_id> summary: <summary>'),
  systemPrompt: phrase('system-prompt', 'system prompt: sections=<sections> tools_added=<tools_added> tools_removed=<tools_removed>'),
} as const

/** `parser: <file>:<line> <what is wrong>`: what could not be read, and where (rows.md). */
export function parserText(file: string, line: number | null, problem: string): string {
  return `parser: ${file}${line === null ? '' : `:${line}`} ${problem}`
}
