import { CollectCommand } from '../verbs/collect.js'

export default class Collect extends CollectCommand {
  static override summary = 'copy what all known agents left behind into a package that proves itself'
  static override description =
    'Takes running processes, temp directories, homes and the projects that their records name, most volatile first. Keys and tokens are withheld or masked unless asked for. Nothing on the evidence changes.'
  static override examples = ['<%= config.bin %> <%= command.id %> --output /mnt/usb/alice.zip --case 2026-17']

  protected readonly agent = undefined
}
