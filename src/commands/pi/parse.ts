import { ParseCommand } from '../../verbs/parse.js'

export default class PiParse extends ParseCommand {
  static override summary = 'print every row that the pi sessions of a home give, in time order'
  static override description =
    "Reads session files of every version: prompts, answers, tool calls and results on every branch, the user's own commands, and what forks copied. Nothing on the evidence changes."
  static override examples = [
    '<%= config.bin %> <%= command.id %> --home /mnt/case/home/alice',
    '<%= config.bin %> <%= command.id %> --home copy/home/alice --originals-only --output alice.jsonl',
  ]

  protected readonly agent = 'pi'
}
