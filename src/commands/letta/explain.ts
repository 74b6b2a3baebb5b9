import { ExplainCommand } from '../../verbs/explain.js'

export default class LettaExplain extends ExplainCommand {
  static override summary = 'say what is known of Letta Code files, and how: the catalog, a path, a row, a text, a conversation'
  static override description =
    'Without a question, prints the whole catalog entry. Evidence is never written to; secret values are masked unless --show-secrets.'
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> "C:\\Users\\alice\\.letta\\settings.json"',
    '<%= config.bin %> <%= command.id %> --home copy/home/alice --row .letta/sessions.jsonl:3',
    '<%= config.bin %> <%= command.id %> --text "model: gpt-5 provider=openai"',
    '<%= config.bin %> <%= command.id %> --export velociraptor',
  ]

  protected readonly agent = 'letta'
}
