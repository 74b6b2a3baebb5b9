import { VerifyCommand } from '../../verbs/verify.js'

export default class ClaudeCodeVerify extends VerifyCommand {
  static override summary = 'hold a package against its manifest and name each difference'
  static override examples = ['<%= config.bin %> <%= command.id %> alice-claude-code.zip']
}
