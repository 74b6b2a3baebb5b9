import { ReportCommand } from '../verbs/report.js'

export default class Report extends ReportCommand {
  static override summary = 'write one triage report of what all known agents left in a home'
  static override description =
    'Says what to look at first and why, shows each conversation as it is read, and names what was not read. Secrets are masked.'
  static override examples = ['<%= config.bin %> <%= command.id %> --home copy/home/alice --output alice.html --case 2026-117']

  protected readonly agent = undefined
}
