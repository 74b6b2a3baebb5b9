import { CollectCommand } from '../../verbs/collect.js'

export default class PiCollect extends CollectCommand {
  static override summary = 'copy what pi left behind into a package that proves itself'
  static override description =
    'Keys and tokens are withheld or masked unless asked for. The SHA-256 of the manifest is printed last: note it. Nothing on the evidence changes.'
  static override examples = ['<%= config.bin %> <%= command.id %> --home /mnt/image/home/alice --output alice-pi.zip']

  protected readonly agent = 'pi'
}
