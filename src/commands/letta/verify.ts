import { VerifyCommand } from '../../verbs/verify.js'

export default class LettaVerify extends VerifyCommand {
  static override summary = 'hold a package against its manifest and name each difference'
  static override description =
    'Every file is hashed. Altered, missing, extra, renamed and swapped files are named, and exit code 4 says that there were any.'
  static override examples = [
    '<%= config.bin %> <%= command.id %> alice.zip',
    '<%= config.bin %> <%= command.id %> alice.zip --manifest-sha256 3f2a...',
  ]
}
