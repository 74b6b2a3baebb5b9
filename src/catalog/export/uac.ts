import { anchored, withoutFolders } from '../globs.js'
import { PACKAGE_FOLDERS, type Collection, type Target } from './collection.js'

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
}

/** A UAC artifact file (tclahr/uac, validate_artifact.sh and parse_artifact.sh of 3.x): it looks like YAML and is read line by line by a shell. */
export function uac(collection: Collection): string {
  const { targets, notes } = collection
  return [
    ...notes.map((note) => `# ${note}`),
    'version: 1.0',
    'artifacts:',
    ...targets.flatMap((target) => items(target, collection)),
    '',
  ].join('\n')
}

function items(target: Target, collection: Collection): string[] {
  const excluded = exclusionsFor(target, collection)
  return ROOTS[target.scope].flatMap((root) =>
    searches(root, target).flatMap(({ path, patterns }) => [
      '  -',
      `    description: ${plain(`${target.title} (${target.id}). ${target.comment}`)}`,
      `    supported_os: ${root.startsWith('/private') ? '[macos]' : '[all]'}`,
      '    collector: file',
      `    path: ${path}`,
      ...list('path_pattern', patterns),
      ...list('exclude_path_pattern', excluded),
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

/** The searches of a target: one for each folder that its globs begin with. */
function searches(root: string, { scope, globs }: Target): Search[] {
  if (scope === 'project') return [{ path: root, patterns: globs.flatMap(withoutFolders).map((glob) => `*/${shellSafe(glob)}`) }]
  const byPath = new Map<string, string[] | undefined>()
  for (const glob of globs.flatMap(withoutFolders)) {
    const { folder, rest } = anchored(glob)
    const everything = rest.join('/') === '**'
    const whole = rest.length === 1 && !/[*?]/.test(rest[0]!)
    const path = [root, ...folder, ...(whole ? rest : [])].map(quoted).join('/')
    if (everything || whole) byPath.set(path, undefined)
    else if (!byPath.has(path)) byPath.set(path, [`*/${shellSafe(glob)}`])
    else byPath.get(path)?.push(`*/${shellSafe(glob)}`)
  }
  return [...byPath].map(([path, patterns]) => ({ path, patterns: patterns ?? [] }))
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

/** What is pruned: folders that the exclusions name, where the target could reach them. */
function exclusionsFor(target: Target, { exclusions }: Collection): string[] {
  if (target.scope === 'temp') return []
  const scoped = exclusions.filter(({ scope }) => scope === target.scope).flatMap(({ globs }) => globs.flatMap(withoutFolders))
  const reached = target.scope === 'project' ? scoped : scoped.filter((glob) => target.globs.some((other) => overlap(glob, other)))
  const own = reached.map((glob) => `*/${shellSafe(glob.replace(/\/\*\*$/, ''))}`)
  return target.scope === 'project' ? [`*/${PACKAGE_FOLDERS}`, ...own.filter((pattern) => !pattern.endsWith(`/${PACKAGE_FOLDERS}`))] : own
}

function overlap(a: string, b: string): boolean {
  const [x, y] = [anchored(a).folder, anchored(b).folder]
  return x.every((segment, i) => i >= y.length || segment === y[i])
}
