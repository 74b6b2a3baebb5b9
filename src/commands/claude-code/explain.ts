import { ExplainCommand } from '../../verbs/explain.js'

export default class ClaudeCodeExplain extends ExplainCommand {
  static override summary = 'say what is known of Claude Code files, and how: the catalog, a path, a row, a text, a conversation'
  static override description =
    'Without a question, prints the whole catalog entry. Evidence is never written to; secret values are masked unless --show-secrets.'
  static override examples = ['<%= config.bin %> <%= command.id %>', '<%= config.bin %> <%= command.id %> --export globs']

  protected readonly agent = 'claude-code'
}
