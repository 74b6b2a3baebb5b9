import { Args, Command, Flags } from '@oclif/core'
import { z } from 'zod'
import { EvidenceUsageError, PACKAGE_FILES } from '../evidence/index.js'
import { verifyPackage, type Verification } from '../evidence/verify/index.js'
import { ProgressLine, visible } from '../output/index.js'
import { exitOnSignals } from './verb.js'

/** Exit codes (architecture.md): 2 wrong usage, 4 `verify` found a difference. */
const USAGE = 2
const DIFFERENT = 4

/** What `verify --json` prints. */
export const VerifyResult = z.strictObject({
  package: z.string(),
  files: z.number().int(),
  bytes: z.number().int(),
  manifest_sha256: z.string().nullable(),
  differences: z.array(z.strictObject({ kind: z.string(), path: z.string(), problem: z.string() })),
})

/** The verb `verify`: the same for every agent, since a package may hold several. */
export abstract class VerifyCommand extends Command {
  static override enableJsonFlag = false
  static override args = { package: Args.string({ description: 'the folder, .zip or .tar.gz that collect wrote', required: true }) }
  static override flags = {
    'manifest-sha256': Flags.string({
      description: 'the hash that collect printed last: without it, a manifest that was forged to agree is believed',
    }),
    json: Flags.boolean({ description: 'the result on stdout as JSON' }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(VerifyCommand)
    const noted = flags['manifest-sha256']
    if (noted !== undefined && !/^[0-9a-f]{64}$/i.test(noted)) this.error('--manifest-sha256 takes 64 hexadecimal digits', { exit: USAGE })
    exitOnSignals()
    const progress = new ProgressLine('verify')
    const result = await verifyPackage(args.package, { manifestSha256: noted, onProgress: (step) => progress.step(step) }).finally(() =>
      progress.end(),
    )
    if (flags.json) this.log(JSON.stringify(result, null, 2))
    else for (const line of lines(result)) this.log(line)
    if (noted === undefined)
      this.logToStderr(`compare with the hash noted when the package was made: ${result.manifest_sha256 ?? '-'}  ${PACKAGE_FILES.manifest}`)
    if (result.differences.length > 0) process.exitCode = DIFFERENT
  }

  protected override async catch(error: Error & { exitCode?: number }): Promise<unknown> {
    if (error instanceof EvidenceUsageError) return this.error(error.message, { exit: USAGE })
    if ((error as NodeJS.ErrnoException).syscall !== undefined) return this.error(error.message, { exit: 1 })
    return super.catch(error)
  }
}

function lines({ files, differences }: Verification): string[] {
  if (differences.length === 0) return [`${files} files, no difference`]
  return [
    ...differences.map(({ kind, path, problem }) => visible(`${kind}: ${path === '' ? '' : `${path} `}${problem}`)),
    `${files} files, ${differences.length} ${differences.length === 1 ? 'difference' : 'differences'}`,
  ]
}
