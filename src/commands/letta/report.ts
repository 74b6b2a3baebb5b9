import { ReportCommand } from '../../verbs/report.js'

export default class LettaReport extends ReportCommand {
  static override summary = 'write a triage report of what Letta Code left in a home'
  static override description =
    'Says what to look at first and why, shows each conversation as it is read, and names what was not read. HTML is one file that loads nothing; text fits a screen; markdown is for tickets; json for pipelines. Secrets are masked.'
  static override examples = [
    '<%= config.bin %> <%= command.id %> --home /mnt/case/home/alice',
    '<%= config.bin %> <%= command.id %> --home copy/home/alice --output alice.html --case 2026-117',
    '<%= config.bin %> <%= command.id %> --home copy/home/alice --output alice.md --redact names',
  ]

  protected readonly agent = 'letta'
}
