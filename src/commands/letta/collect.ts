import { CollectCommand } from '../../verbs/collect.js'

export default class LettaCollect extends CollectCommand {
  static override summary = 'copy what Letta Code left behind into a package that proves itself'
  static override description =
    'Takes running processes, temp directories, homes and the projects that their records name, most volatile first. Keys and tokens are withheld or masked unless asked for. The SHA-256 of the manifest is printed last: note it. Nothing on the evidence changes.'
  static override examples = [
    '<%= config.bin %> <%= command.id %> --output /mnt/usb/alice.zip --case 2026-17 --examiner "A. Turing"',
    '<%= config.bin %> <%= command.id %> --home /mnt/image/home/alice --output alice-letta',
    '<%= config.bin %> <%= command.id %> --dry-run',
  ]

  protected readonly agent = 'letta'
}
