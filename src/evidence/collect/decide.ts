import type { Credential } from '../../catalog/index.js'
import type { ManifestLine } from '../manifest.js'
import { isSparse, type Listing } from '../tree.js'
import type { Match } from './match.js'

/** What a person asked of a collection. */
export interface Wishes {
  /** Copy credentials too, unmasked. */
  readonly includeCredentials?: boolean
  /** Leave databases out, which may hold secrets and cannot be masked. */
  readonly noDatabases?: boolean
  readonly includeScratch?: boolean
  /** Larger files are named, not copied. */
  readonly maxFileSize?: number
  /** Files last modified before this time, in nanoseconds since 1970, are named, not copied. */
  readonly sinceNs?: bigint
}

/** What is to be done about a path, and which rule says so. */
export interface Decision extends Pick<ManifestLine, 'action' | 'rule' | 'rule_kind' | 'reason'> {
  /** For `redacted`: the rules whose values are masked. */
  readonly mask?: readonly Credential[]
  readonly containsCredentials?: boolean
}

/** Files that the catalog excludes only when they are large: this is large. */
const SIZE_CAP = 100 * 1024 * 1024

/** Each question in order; the first that has an answer decides. */
const QUESTIONS: readonly ((match: Match, wishes: Wishes) => Decision | undefined)[] = [
  notAFile,
  excluded,
  ({ ruling, listing }, wishes) => {
    const { exclusion } = ruling
    if (!exclusion || listing.size <= (wishes.maxFileSize ?? SIZE_CAP)) return undefined
    return { action: 'too-large', rule: exclusion.id, rule_kind: 'exclusion', reason: exclusion.reason }
  },
  ({ ruling }, wishes) => {
    const rule = wishes.includeCredentials ? undefined : ruling.credentials.find((credential) => credential.class === 'withhold')
    return rule && { action: 'withheld', rule: rule.id, rule_kind: 'credential', reason: rule.title }
  },
  ({ listing }, { sinceNs }) =>
    sinceNs !== undefined && listing.mtimeNs < sinceNs ? byRun('excluded', 'since', 'last modified before --since') : undefined,
  (match, { noDatabases }) =>
    noDatabases && isDatabase(match) ? byRun('excluded', 'no-databases', 'a database, which may hold secrets: --no-databases') : undefined,
  ({ listing }, { maxFileSize }) =>
    maxFileSize !== undefined && listing.size > maxFileSize
      ? byRun('too-large', 'max-file-size', `${listing.size} bytes, over --max-file-size`)
      : undefined,
  ({ listing }) => (isSparse(listing) ? byRun('too-large', 'sparse', sparseWords(listing)) : undefined),
  ({ ruling }, wishes) => {
    const mask = wishes.includeCredentials ? [] : ruling.credentials.filter((credential) => credential.class === 'redact')
    if (mask.length === 0) return undefined
    const [rule] = mask
    return { action: 'redacted', rule: rule!.id, rule_kind: 'credential', reason: rule!.title, mask }
  },
]

export function decide(match: Match, wishes: Wishes): Decision {
  for (const question of QUESTIONS) {
    const decision = question(match, wishes)
    if (decision) return decision
  }
  const containsCredentials = match.ruling.credentials.length > 0
  return { action: 'copied', ...because(match), containsCredentials }
}

/** A file in which no rule found a secret: its copy is a copy. */
export function nothingMasked(match: Match): Decision {
  return { action: 'copied', ...because(match) }
}

/** A masked file of which nobody can say where its secrets stand. */
export function withheldWhole(decision: Decision, problem: string): Decision {
  const { rule, rule_kind, reason } = decision
  return { action: 'withheld', rule, rule_kind, reason: `${reason}; ${problem}, so it cannot be masked` }
}

function notAFile(match: Match): Decision | undefined {
  const { kind } = match.listing
  if (kind === 'link') return { action: 'link', ...because(match) }
  if (kind === 'special') return { action: 'special', ...because(match) }
  return undefined
}

function excluded({ ruling, listing }: Match): Decision | undefined {
  const { exclusion } = ruling
  if (exclusion?.when !== 'always') return undefined
  const contents = listing.kind === 'directory' ? ' (the directory was not entered)' : ''
  return { action: 'excluded', rule: exclusion.id, rule_kind: 'exclusion', reason: `${exclusion.reason}${contents}` }
}

function isDatabase({ ruling }: Match): boolean {
  return ruling.store?.format === 'sqlite' || ruling.credentials.some((credential) => credential.class === 'keep')
}

function byRun(action: Decision['action'], rule: string, reason: string): Decision {
  return { action, rule, rule_kind: 'run', reason }
}

function sparseWords({ size, allocated }: Listing): string {
  return `sparse: ${size} bytes long with ${allocated} allocated`
}

/** The rule that makes a path part of a collection. */
function because({ ruling }: Match): Pick<Decision, 'rule' | 'rule_kind' | 'reason'> {
  const [credential] = ruling.credentials
  if (ruling.store) return { rule: ruling.store.id, rule_kind: 'store', reason: ruling.store.title }
  if (credential) return { rule: credential.id, rule_kind: 'credential', reason: credential.title }
  const exclusion = ruling.scratch ?? ruling.exclusion!
  return { rule: exclusion.id, rule_kind: 'exclusion', reason: `${exclusion.reason} Asked for by --include-scratch.` }
}
