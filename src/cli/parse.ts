import { ParseCommand } from '../verbs/parse.js'

export default class Parse extends ParseCommand {
  static override summary = 'print every row that the files of all known agents in a home give, in one timeline'
  static override description =
    'Reads the files of every registered agent: Letta Code, pi, Claude Code, and those of --plugin. Nothing on the evidence changes.'
  static override examples = [
    '<%= config.bin %> <%= command.id %> --home /mnt/case/home/alice',
    '<%= config.bin %> <%= command.id %> --home copy/home/alice --home copy/home/bob --output both.jsonl',
  ]

  protected readonly agent = undefined
}
