import { ParseCommand } from '../../verbs/parse.js'

export default class LettaParse extends ParseCommand {
  static override summary = 'print every row that the Letta Code files of a home give, in time order'
  static override description =
    'Reads transcripts, local-backend messages, sessions, permission settings, channel routes, scheduled tasks and interrupted turns. Nothing on the evidence changes.'
  static override examples = [
    '<%= config.bin %> <%= command.id %> --home /mnt/case/home/alice',
    '<%= config.bin %> <%= command.id %> --home copy/home/alice --output alice.jsonl',
    '<%= config.bin %> <%= command.id %> --home copy/alice --home-was "C:\\Users\\alice" --format csv --details',
  ]

  protected readonly agent = 'letta'
}
