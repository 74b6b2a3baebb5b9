import { ExplainCommand } from '../verbs/explain.js'

export default class Explain extends ExplainCommand {
  static override summary = 'say what is known of the files of all known agents, and how'
  static override description =
    'Without a question, prints every catalog entry. Evidence is never written to; secret values are masked unless --show-secrets.'
  static override examples = [
    '<%= config.bin %> <%= command.id %> /home/alice',
    '<%= config.bin %> <%= command.id %> --export kape --output targets',
  ]

  protected readonly agent = undefined
}
