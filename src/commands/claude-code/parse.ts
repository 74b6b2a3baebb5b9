import { ParseCommand } from '../../verbs/parse.js'

export default class ClaudeCodeParse extends ParseCommand {
  static override summary = 'print every row that the Claude Code files of a home give, in time order'
  static override description =
    'Reads transcripts of sessions and subagents, typed prompts, permission decisions and permission settings. Nothing on the evidence changes.'
  static override examples = [
    '<%= config.bin %> <%= command.id %> --home /mnt/case/home/alice',
    '<%= config.bin %> <%= command.id %> --home copy/home/alice --all-sources --output alice.jsonl',
  ]

  protected readonly agent = 'claude-code'
}
