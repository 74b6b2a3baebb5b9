import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { z } from 'zod'
import { Confidence, meaningsOf, Rules, Scope, type CatalogEntry, type Rule, type ScopeName } from '../../catalog/index.js'
import { recordedHomes, slashed } from '../../evidence/index.js'
import { byCodeUnit } from '../../rows/index.js'

/** What becomes of a file: the strongest of its rules. */
export const Verdict = z.enum(['parsed', 'collected', 'excluded', 'credential', 'scratch', 'unknown'])
export type Verdict = z.infer<typeof Verdict>

const PathRule = z.strictObject({
  kind: z.enum(['store', 'exclusion', 'credential', 'scratch']),
  agent: z.string(),
  id: z.string(),
  title: z.string(),
  scope: Scope,
  /** What a file here proves, why it is left out, or how its secrets are treated. */
  says: z.string(),
  caveats: z.array(z.string()),
  confidence: Confidence.nullable(),
  citation: z.array(z.string()),
})

const ExplainedPath = z.strictObject({
  path: z.string(),
  verdict: Verdict,
  /** Where the scope's root lies in the path; empty when the path begins there. Null when no rule fits. */
  root: z.string().nullable(),
  /** The root was not recognised as a home or temp directory: the rules hold if it is one. */
  assumed: z.boolean(),
  why: z.string(),
  rules: z.array(PathRule),
  /** The kinds of rows that files here give, by the ids of `meanings`. */
  rows: z.array(z.strictObject({ id: z.string(), title: z.string() })),
})
export type ExplainedPath = z.infer<typeof ExplainedPath>

/** The result of `explain PATH...`. */
export const ExplainedPaths = z.strictObject({
  explained: z.literal('paths'),
  paths: z.array(ExplainedPath),
  /** Links and folders that were not entered, in words. */
  not_walked: z.array(z.string()),
})
export type ExplainedPaths = z.infer<typeof ExplainedPaths>

export interface PathOptions {
  /** Directories of this machine that are homes. */
  readonly homes?: readonly string[]
}

/** Which rule each path falls under, and why. A folder of this machine is walked; names alone are looked at, no file is opened. */
export function explainPaths(paths: readonly string[], entries: readonly CatalogEntry[], options: PathOptions = {}): ExplainedPaths {
  const rules = new Rules(entries)
  const homes = [...(options.homes ?? []), os.homedir()].map((home) => slashed(path.resolve(home)))
  const walk = new Walk()
  const all = paths.flatMap((one) => walk.files(one))
  return { explained: 'paths', paths: all.map((one) => explainPath(one, rules, homes)), not_walked: walk.refused }
}

const TEMP_FOLDERS =
  /^(\/tmp|\/var\/tmp|\/private\/tmp|(\/private)?\/var\/folders\/[^/]+\/[^/]+\/T|[A-Za-z]:\/Windows\/Temp|.*\/AppData\/Local\/Temp)$/i

interface Place {
  readonly root: string
  readonly assumed: boolean
  readonly rules: readonly Rule[]
}

function explainPath(given: string, rules: Rules, homes: readonly string[]): ExplainedPath {
  const place = placeOf(normal(given), rules, homes)
  if (!place) return { path: given, verdict: 'unknown', root: null, assumed: false, why: UNKNOWN, rules: [], rows: [] }
  const verdict = verdictOf(place.rules)
  return {
    path: given,
    verdict,
    root: place.root,
    assumed: place.assumed,
    why: whyOf(verdict, place.rules),
    rules: place.rules.map(shown),
    rows: rowsOf(place.rules),
  }
}

/** The kinds of rows that files of these stores give, each once. */
function rowsOf(rules: readonly Rule[]): ExplainedPath['rows'] {
  const found = rules.flatMap(({ kind, agent, rule }) => (kind === 'store' && rule.parsed ? meaningsOf(agent, rule.id) : []))
  return [...new Set(found)].map(({ id, title }) => ({ id, title }))
}

const UNKNOWN = 'No rule of the catalog names this path. That it is unknown does not mean that it is not evidence.'

/** With `/`, whatever system recorded it; `~` and environment words for a home are taken off. */
function normal(given: string): string {
  const text = /^[A-Za-z]:[\\/]|^\\\\|^[^/]*\\/.test(given) ? given.replaceAll('\\', '/') : given
  const absolute = fs.existsSync(given) ? slashed(path.resolve(given)) : text
  return absolute.replace(/^(~|\$HOME|%USERPROFILE%)\//i, '').replace(/\/+$/, '')
}

/** The outermost place in a path from which some rule fits. */
function placeOf(text: string, rules: Rules, homes: readonly string[]): Place | undefined {
  const segments = text.split('/')
  for (let i = 0; i < segments.length; i++) {
    const root = segments.slice(0, i).join('/')
    const rest = segments.slice(i).join('/')
    if (rest === '' || (i === 1 && root === '' && !text.startsWith('/'))) continue
    const scopes = scopesOf(i === 0 ? '' : root || '/', i === 0, homes)
    const found = scopes.names.flatMap((scope) => rules.of(rest, scope))
    if (found.length > 0) return { root: i === 0 ? '' : root || '/', assumed: scopes.assumed, rules: found }
  }
  return undefined
}

/** Which scopes can begin at a directory, by its name. */
function scopesOf(root: string, begins: boolean, homes: readonly string[]): { names: ScopeName[]; assumed: boolean } {
  if (begins) return { names: ['home', 'project', 'temp'], assumed: true }
  if (homes.includes(root) || isHome(root)) return { names: ['home'], assumed: false }
  if (TEMP_FOLDERS.test(root)) return { names: ['temp', 'project'], assumed: false }
  return { names: ['home', 'project'], assumed: true }
}

function isHome(root: string): boolean {
  const stood = recordedHomes(root)
  return stood.some(({ segments }) => segments.length === root.split('/').filter((part) => part !== '' && !/^[A-Za-z]:$/.test(part)).length)
}

function verdictOf(rules: readonly Rule[]): Verdict {
  if (rules.some(({ kind, rule }) => kind === 'exclusion' && rule.when === 'always')) return 'excluded'
  if (rules.some(({ kind, rule }) => kind === 'credential' && rule.class === 'withhold')) return 'credential'
  if (rules.some(({ kind, rule }) => kind === 'store' && rule.parsed)) return 'parsed'
  if (rules.some(({ kind }) => kind === 'store')) return 'collected'
  if (rules.some(({ kind }) => kind === 'credential')) return 'credential'
  return rules.some(({ kind }) => kind === 'scratch') ? 'scratch' : 'unknown'
}

function whyOf(verdict: Verdict, rules: readonly Rule[]): string {
  const masked = rules.some(({ kind, rule }) => kind === 'credential' && rule.class === 'redact')
  const words: Record<Verdict, string> = {
    parsed: 'Collected, and read into rows.',
    collected: 'Collected, and not read into rows.',
    excluded: 'Left out of a collection.',
    credential: 'A credential file: its name, size and time are recorded, its content is not, unless --include-credentials asks for it.',
    scratch: 'A working directory of the agent itself.',
    unknown: UNKNOWN,
  }
  return masked && (verdict === 'parsed' || verdict === 'collected') ? `${words[verdict]} Its secret values are masked.` : words[verdict]
}

function shown(found: Rule): z.infer<typeof PathRule> {
  const { kind, agent, rule } = found
  const scope = rule.scope === 'external' ? 'home' : rule.scope
  const common = { kind, agent, scope, citation: [...rule.citation] }
  switch (kind) {
    case 'store':
      return {
        ...common,
        id: rule.id,
        title: rule.title,
        says: `${rule.proves} Time: ${rule.time_source}.`,
        caveats: [...rule.caveats],
        confidence: rule.confidence,
      }
    case 'exclusion':
      return {
        ...common,
        id: rule.id,
        title: rule.when === 'always' ? 'Left out' : 'Left out when it is large',
        says: rule.reason,
        caveats: [],
        confidence: null,
      }
    case 'credential': {
      const keys = rule.keys.includes('**') ? 'The whole file is secret.' : `Secret: ${rule.keys.join(', ')}.`
      return {
        ...common,
        id: rule.id,
        title: rule.title,
        says: `${CLASSES[rule.class]} ${keys}`,
        caveats: rule.notes === undefined ? [] : [rule.notes],
        confidence: null,
      }
    }
    case 'scratch':
      return {
        ...common,
        id: 'scratch',
        title: rule.title,
        says: 'The agent works here itself; it is not a project of the user.',
        caveats: [],
        confidence: null,
      }
  }
}

const CLASSES = {
  withhold: 'Only its metadata is recorded.',
  redact: 'Evidence too: a copy is made with the secret values masked.',
  keep: 'Evidence that may hold pasted secrets: copied, and flagged.',
  external: 'Not a file.',
} as const

/** What the kernel makes up is not a disk. */
const MADE_UP = ['/proc', '/sys', '/dev']

/** The files of a folder, by name; links are named and not followed. */
class Walk {
  readonly refused: string[] = []

  files(given: string): string[] {
    const stat = fs.lstatSync(given, { throwIfNoEntry: false })
    return stat?.isDirectory() ? this.#below(given) : [given]
  }

  #below(directory: string): string[] {
    let entries: fs.Dirent[]
    try {
      entries = fs.readdirSync(directory, { withFileTypes: true })
    } catch {
      this.refused.push(`${directory}: cannot be listed`)
      return []
    }
    return entries
      .sort((a, b) => byCodeUnit(a.name, b.name))
      .flatMap((entry) => {
        const at = path.join(directory, entry.name)
        if (MADE_UP.includes(at)) return []
        if (entry.isSymbolicLink()) this.refused.push(`${at}: a symbolic link, not followed`)
        return entry.isDirectory() ? this.#below(at) : [at]
      })
  }
}
