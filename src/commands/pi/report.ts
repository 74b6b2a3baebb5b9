import { ReportCommand } from '../../verbs/report.js'

export default class PiReport extends ReportCommand {
  static override summary = 'write a triage report of what pi left in a home'
  static override description =
    'Says what to look at first and why, shows each conversation as it is read, and names what was not read. Secrets are masked.'
  static override examples = ['<%= config.bin %> <%= command.id %> --home copy/home/alice --output alice.html']

  protected readonly agent = 'pi'
}
