import { Scalar, stringify } from 'yaml'
import { anchored, withoutFolders } from '../globs.js'
import { beyondNotes, comments, LINE_WIDTH, PROJECT_DEPTH, stableId, type Collection, type Target } from './collection.js'

/** One entry of a KAPE target: a folder (`*` one level, `%user%` each profile), a mask for names, or everything below. */
interface KapeTarget {
  readonly Name: string
  readonly Category: string
  readonly Path: string | Scalar<string>
  readonly Recursive?: true
  readonly FileMask?: string
  readonly Comment: string
}

const PROFILE = 'C:\\Users\\%user%\\'
const TEMP = `${PROFILE}AppData\\Local\\Temp\\`

/** A KAPE target (.tkape, KapeFiles): Windows only, no exclusions; a mask holds for the name of a file alone. */
export function kape(collection: Collection): string {
  const { title, version, holds, targets, notes } = collection
  const document = {
    Description: `${title}: ${holds === 'evidence' ? 'conversations, settings, schedules and logs' : 'credential files'}`,
    Author: 'agent-forensics',
    Version: 'VERSION',
    Id: stableId(collection),
    RecreateDirectories: true,
    Targets: targets.flatMap((target) => kapeTargets(target, title)),
  }
  const yaml = stringify(document, { lineWidth: LINE_WIDTH, indent: 4, singleQuote: true }).replace(
    'Version: VERSION',
    `Version: ${numeric(version)}`,
  )
  const documentation = [
    ...notes,
    ...beyondNotes(collection),
    `Project folders are looked for in a profile and up to ${PROJECT_DEPTH} folders below it.`,
  ]
  return `${yaml}\n# Documentation\n${comments(documentation)}`
}

/** KAPE reads a version as a number: `2026-11-30.1` as 20261130.1. */
function numeric(version: string): string {
  return version.replaceAll('-', '')
}

function kapeTargets({ title, scope, globs, comment }: Target, agent: string): KapeTarget[] {
  const named = { Name: `${agent}: ${title}`, Category: 'Apps' }
  return globs
    .flatMap((glob) => withoutFolders(glob))
    .flatMap((glob) => (scope === 'project' ? inProjects(glob) : [placed(scope === 'temp' ? TEMP : PROFILE, glob)]))
    .map((place) => ({ ...named, ...place, Path: ownLine(place.Path), Comment: comment }))
}

/** A path cannot be broken: a long one stands on a line by itself. */
function ownLine(path: string): string | Scalar<string> {
  if (path.length < LINE_WIDTH) return path
  const scalar = new Scalar(path)
  scalar.type = Scalar.BLOCK_FOLDED
  return scalar
}

interface Place extends Pick<KapeTarget, 'Recursive' | 'FileMask'> {
  readonly Path: string
}

function placed(root: string, glob: string): Place {
  const segments = glob.split('/')
  const name = segments.at(-1)!
  const folders = segments.slice(0, -1)
  const star = folders.indexOf('**')
  const path = root + (star === -1 ? folders : folders.slice(0, star)).map((segment) => `${segment}\\`).join('')
  if (name === '**') return { Path: path, Recursive: true }
  return star === -1 ? { Path: path, FileMask: name } : { Path: path, Recursive: true, FileMask: name }
}

/** In every folder of a profile down to a depth: a mask cannot say "in a folder named .letta". */
function inProjects(glob: string): Place[] {
  if (anchored(glob).folder.length === 0 && !glob.includes('/')) return [{ Path: PROFILE, Recursive: true, FileMask: glob }]
  return Array.from({ length: PROJECT_DEPTH + 1 }, (_, depth) => placed(PROFILE + '*\\'.repeat(depth), glob))
}
