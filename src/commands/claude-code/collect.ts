import { CollectCommand } from '../../verbs/collect.js'

export default class ClaudeCodeCollect extends CollectCommand {
  static override summary = 'copy what Claude Code left behind into a package that proves itself'
  static override description =
    'Keys and tokens are withheld or masked unless asked for. The SHA-256 of the manifest is printed last: note it. Nothing on the evidence changes.'
  static override examples = ['<%= config.bin %> <%= command.id %> --home /mnt/image/home/alice --output alice-claude-code.zip']

  protected readonly agent = 'claude-code'
}
