import fs from 'node:fs'
import path from 'node:path'
import { EvidenceUsageError, type Evidence } from '../evidence/index.js'
import type { EvidenceFlagValues } from './evidence-flags.js'

/** Where agents keep their files below a home or a project: on a live machine people may write elsewhere in their own home. */
const STORES = ['.letta', '.config/letta', '.claude', '.pi']

/** Places that a run would write to, by the flag that names them; each is a directory. */
export type Places = Readonly<Record<string, string | undefined>>

/** Refuses places that lie in the evidence, which is never written to, and those that are not there. */
export function assertOutside(places: Places, evidence: Evidence, flags: EvidenceFlagValues): void {
  const directories = evidenceDirectories(evidence, flags).map(real)
  for (const [flag, place] of Object.entries(places)) {
    if (place === undefined) continue
    if (!isDirectory(place)) throw new EvidenceUsageError(`${flag}: there is no directory ${path.resolve(place)}`)
    const inside = directories.find((directory) => holds(directory, real(place)))
    if (inside !== undefined)
      throw new EvidenceUsageError(`${flag} lies in the evidence, which is never written to (${inside}); choose a place elsewhere`)
  }
}

/** A copied home, an image or a package is evidence as a whole, a live one where agents keep their files. */
function evidenceDirectories({ homes, live }: Evidence, flags: EvidenceFlagValues): string[] {
  const roots = [...homes.map(({ directory }) => directory), ...(flags['project-dir'] ?? [])]
  const whole = [...(flags.package ?? []), ...(live ? [] : (flags.root ?? []))]
  const moved = [flags['letta-dir'], flags['transcript-root'], flags['local-backend-dir'], flags['cron-dir']]
  return [
    ...(live ? roots.flatMap((root) => STORES.map((store) => path.join(root, store))) : roots),
    ...whole,
    ...moved.filter((directory) => directory !== undefined),
  ]
}

function isDirectory(place: string): boolean {
  try {
    return fs.statSync(place).isDirectory()
  } catch {
    return false
  }
}

function real(directory: string): string {
  try {
    return fs.realpathSync(directory)
  } catch {
    return path.resolve(directory)
  }
}

function holds(directory: string, place: string): boolean {
  const inside = path.relative(directory, place)
  return inside.split(path.sep)[0] !== '..' && !path.isAbsolute(inside)
}
