import { anchored, withoutFolders } from '../globs.js'
import { comments, PACKAGE_FOLDERS, type Collection, type Target } from './collection.js'

/** Where each scope lies on the systems that UAC runs on. */
const ROOTS: Readonly<Record<Target['scope'], readonly string[]>> = {
  home: ['/%user_home%'],
  project: ['/%user_home%'],
  temp: ['/tmp', '/var/tmp', '/private/var/folders/*/*/T'],
}

/** One item of a UAC artifact: `find` in a folder, by patterns over whole paths, in which `*` crosses folders. */
interface Search {
  readonly path: string
  /** Empty: everything below the path, or the path itself. */
  readonly patterns: readonly string[]
  /** The folder below the root that is searched: what is pruned depends on it. Undefined for a single file. */
  readonly excluding: readonly string[] | undefined
}

/** A UAC artifact file (tclahr/uac, validate_artifact.sh and parse_artifact.sh of 3.x): it looks like YAML and is read line by line by a shell. */
export function uac(collection: Collection): string {
  const { targets, notes } = collection
  const lines = ['version: 1.0', 'artifacts:', ...targets.flatMap((target) => items(target, collection))]
  return `${comments(notes)}${lines.join('\n')}\n`
}

function items(target: Target, collection: Collection): string[] {
  return ROOTS[target.scope].flatMap((root) =>
    searches(root, target).flatMap(({ path, patterns, excluding }) => [
      '  -',
      `    description: ${plain(`${target.title} (${target.id}). ${target.comment}`)}`,
      `    supported_os: ${root.startsWith('/private') ? '[macos]' : '[all]'}`,
      '    collector: file',
      `    path: ${path}`,
      ...list('path_pattern', patterns),
      ...list('exclude_path_pattern', exclusionsFor(target, excluding, collection)),
      '    file_type: [f]',
    ]),
  )
}

/** Everything after a number sign is a comment to UAC, and quotes are taken away. */
function plain(text: string): string {
  return text.replaceAll('#', 'no. ').replace(/["']/g, '')
}

function list(property: string, values: readonly string[]): string[] {
  return values.length === 0 ? [] : [`    ${property}: [${values.map((value) => `"${value}"`).join(', ')}]`]
}

/** The searches of a target: one for each folder or file that its globs begin with. */
function searches(root: string, { scope, globs }: Target): Search[] {
  if (scope === 'project')
    return [{ path: root, patterns: globs.flatMap(withoutFolders).map((glob) => `*/${shellSafe(glob)}`), excluding: [] }]
  const byPath = new Map<string, Search>()
  for (const glob of globs.flatMap(withoutFolders)) {
    const { folder, rest } = anchored(glob)
    const isFile = rest.length === 1 && !/[*?]/.test(rest[0]!)
    const path = [root, ...folder, ...(isFile ? rest : [])].map(quoted).join('/')
    const before = byPath.get(path)?.patterns
    const everything = isFile || rest.join('/') === '**' || before?.length === 0
    const patterns = everything ? [] : [...(before ?? []), `*/${shellSafe(glob)}`]
    byPath.set(path, { path, patterns, excluding: isFile ? undefined : folder })
  }
  return [...byPath.values()]
}

/** UAC hands its command to a shell: a dollar sign would be a variable there. To `find`, `**` is `*`. */
function shellSafe(glob: string): string {
  return glob.replaceAll('**', '*').replaceAll('$', '?')
}

/** A segment of `path`, which the shell splits at spaces. */
function quoted(segment: string): string {
  const safe = segment.replaceAll('$', '?')
  return safe.includes(' ') ? `"${safe}"` : safe
}

/** What is pruned: folders that the exclusions name, where the search could reach them. */
function exclusionsFor({ scope }: Target, searched: readonly string[] | undefined, { exclusions }: Collection): string[] {
  if (scope === 'temp' || searched === undefined) return []
  const scoped = exclusions.filter((exclusion) => exclusion.scope === scope).flatMap(({ globs }) => globs.flatMap(withoutFolders))
  const reached = scoped
    .filter((glob) => overlap(anchored(glob).folder, searched))
    .map((glob) => `*/${shellSafe(glob.replace(/\/\*\*$/, ''))}`)
  return scope === 'project' ? [`*/${PACKAGE_FOLDERS}`, ...reached.filter((pattern) => !pattern.endsWith(`/${PACKAGE_FOLDERS}`))] : reached
}

/** Whether one folder lies in the other. */
function overlap(a: readonly string[], b: readonly string[]): boolean {
  return a.every((segment, i) => i >= b.length || segment === b[i])
}
