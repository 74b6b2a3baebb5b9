import { Flags } from '@oclif/core'
import type { CatalogEntry } from '../catalog/index.js'
import { Evidence, type MovedStore } from '../evidence/index.js'
import { standalone } from './standalone.js'

/** Which evidence a verb reads: the same flags in every verb (docs/cli). */
export const evidenceFlags = {
  home: Flags.directory({
    description: 'a copied home directory; repeatable (default: your own, live)',
    multiple: true,
    helpGroup: 'EVIDENCE',
  }),
  'home-was': Flags.string({
    description: 'where that home stood on its own machine, when its name does not say',
    multiple: true,
    helpGroup: 'EVIDENCE',
  }),
  root: Flags.directory({
    description: 'a mounted image or an unpacked collection: every home in it is read; repeatable',
    multiple: true,
    helpGroup: 'EVIDENCE',
  }),
  package: Flags.string({
    description: 'what collect, KAPE, Velociraptor, UAC or CyLR wrote (folder, zip, tar, tar.gz); repeatable',
    multiple: true,
    helpGroup: 'EVIDENCE',
  }),
  live: Flags.boolean({ description: 'the homes stand where they stood: this machine is the evidence', helpGroup: 'EVIDENCE' }),
  'project-dir': Flags.directory({
    description: 'a project directory to read beside those that records name; repeatable',
    multiple: true,
    helpGroup: 'EVIDENCE',
  }),
  'letta-dir': Flags.directory({ description: 'where .letta had been moved to', helpGroup: 'EVIDENCE' }),
  'transcript-root': Flags.directory({ description: 'where LETTA_TRANSCRIPT_ROOT pointed', helpGroup: 'EVIDENCE' }),
  'local-backend-dir': Flags.directory({ description: 'where LETTA_LOCAL_BACKEND_DIR pointed', helpGroup: 'EVIDENCE' }),
  'cron-dir': Flags.directory({ description: 'where LETTA_HOME pointed: crons.json and runs/', helpGroup: 'EVIDENCE' }),
  'pi-dir': Flags.directory({ description: 'where PI_CODING_AGENT_DIR pointed', helpGroup: 'EVIDENCE' }),
  'pi-session-dir': Flags.directory({ description: 'where pi kept its sessions, when it was told', helpGroup: 'EVIDENCE' }),
  'claude-dir': Flags.directory({ description: 'where CLAUDE_CONFIG_DIR pointed', helpGroup: 'EVIDENCE' }),
  user: Flags.string({ description: 'only this account; names a single copied home; repeatable', multiple: true, helpGroup: 'EVIDENCE' }),
  host: Flags.string({ description: 'fills the host column', helpGroup: 'EVIDENCE' }),
  'temp-dir': Flags.directory({ description: 'where sorting spills to (default: beside --output)', helpGroup: 'EVIDENCE' }),
}

/** The values of `evidenceFlags` as parsed. */
export interface EvidenceFlagValues {
  readonly home?: string[]
  readonly 'home-was'?: string[]
  readonly root?: string[]
  readonly package?: string[]
  readonly live?: boolean
  readonly 'project-dir'?: string[]
  readonly 'letta-dir'?: string
  readonly 'transcript-root'?: string
  readonly 'local-backend-dir'?: string
  readonly 'cron-dir'?: string
  readonly 'pi-dir'?: string
  readonly 'pi-session-dir'?: string
  readonly 'claude-dir'?: string
  readonly user?: string[]
  readonly host?: string
  readonly 'temp-dir'?: string
}

export function evidenceFrom(flags: EvidenceFlagValues, entries: readonly CatalogEntry[]): Promise<Evidence> {
  return Evidence.open({
    homes: flags.home,
    homesWere: flags['home-was'],
    roots: flags.root,
    packages: flags.package,
    stores: entries.flatMap((entry) => entry.stores),
    tempDir: flags['temp-dir'] ?? (standalone ? null : undefined),
    live: flags.live,
    projectDirs: flags['project-dir'],
    moved: movedStores(flags, entries),
    users: flags.user,
    host: flags.host,
  })
}

/** The flags that mirror environment variables, as the catalogs describe what those move. */
function movedStores(flags: EvidenceFlagValues, entries: readonly CatalogEntry[]): MovedStore[] {
  return entries
    .flatMap((entry) => entry.environment)
    .flatMap(({ flag, moves }) => {
      const directory = flag && moves ? (flags as Record<string, unknown>)[flag] : undefined
      return typeof directory === 'string' && moves ? [{ directory, ...moves }] : []
    })
}
