import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import picomatch from 'picomatch'
import { parse } from 'yaml'

/** Finds files of a home as another collector would, by nothing but the text of an export. Paths are relative to the home. */
export type Collector = (text: string, home: string) => Set<string>

/** Every regular file below a directory; links are not followed. */
export function filesBelow(directory: string): string[] {
  return fs
    .readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(directory, path.join(entry.parentPath, entry.name)).split(path.sep).join('/'))
}

/** One segment of a wildcard path as a pattern: `*` and `?` stay in a name. */
function segment(text: string, flags = ''): RegExp {
  const escaped = text
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.')
  return new RegExp(`^${escaped}$`, `s${flags}`)
}

function same(names: readonly string[], patterns: readonly string[], flags = ''): boolean {
  return names.length === patterns.length && patterns.every((pattern, i) => segment(pattern, flags).test(names[i]!))
}

/** Plain globs: `~` is the home, `!` leaves out. */
export const plainGlobs: Collector = (text, home) => {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  const matchers = (wanted: boolean) =>
    lines
      .filter((line) => line.startsWith('!') !== wanted)
      .map((line) => line.replace(/^!/, ''))
      .filter((line) => line.startsWith('~/'))
      .map((line) => picomatch(line.slice(2), { dot: true }))
  const [include, exclude] = [matchers(true), matchers(false)]
  return new Set(filesBelow(home).filter((file) => include.some((test) => test(file)) && !exclude.some((test) => test(file))))
}

interface VelociraptorArtifact {
  readonly name: string
  readonly type: string
  readonly parameters: readonly { readonly name: string; readonly type: string; readonly default: string }[]
  readonly sources: readonly { readonly name: string; readonly query: string }[]
}

/** Velociraptor: a csv parameter of globs and a regular expression (RE2, whatever the case) for each source that begins at homes. */
export const velociraptor: Collector = (text, home) => {
  const artifact = parse(text) as VelociraptorArtifact
  const parameter = (name: string) => artifact.parameters.find((one) => one.name === name)!.default
  const found = new Set<string>()
  for (const { query } of artifact.sources.filter(({ query }) => query.includes('globs=Homes.Glob'))) {
    const [, globs] = /globs=(\w+)\.Glob, root=Root/.exec(query)!
    const [, left] = /NOT OSPath =~ (\w+)/.exec(query)!
    const excluded = new RegExp(parameter(left!), 'is')
    const column = parameter(globs!)
      .split('\n')
      .slice(1)
      .filter((line) => line !== '')
      .map((line) => line.slice(line.indexOf(',') + 1).split('/'))
    for (const file of filesBelow(home)) {
      if (column.some((glob) => velociraptorGlob(file.split('/'), glob)) && !excluded.test(path.join(home, file))) found.add(file)
    }
  }
  return found
}

/** `**` is one folder at least: Velociraptor's readers have differed over none, so an export may not need it. */
function velociraptorGlob(names: readonly string[], [first, ...rest]: readonly string[]): boolean {
  if (first === undefined) return names.length === 0
  if (first !== '**') return names.length > 0 && segment(first, 'i').test(names[0]!) && velociraptorGlob(names.slice(1), rest)
  if (rest.length === 0) return names.length > 0
  return names.some((_, i) => i > 0 && velociraptorGlob(names.slice(i), rest))
}

export interface KapeTarget {
  readonly Name: string
  readonly Category: string
  readonly Path: string
  readonly Recursive?: boolean
  readonly FileMask?: string
  readonly Comment: string
}

/** KAPE: a path of folders (`*` is one), everything below or not, a mask for the name; whatever the case. */
export const kape: Collector = (text, home) => {
  const { Targets } = parse(text) as { readonly Targets: readonly KapeTarget[] }
  const targets = Targets.map(({ Path, Recursive, FileMask }) => {
    const [drive, users, user, ...folders] = Path.replace(/\\$/, '').split('\\')
    if (drive !== 'C:' || users !== 'Users' || user !== '%user%' || !Path.endsWith('\\'))
      throw new Error(`not a folder of a profile: ${Path}`)
    return { folders, Recursive, mask: FileMask ?? '*' }
  })
  return new Set(
    filesBelow(home).filter((file) => {
      const names = file.split('/')
      return targets.some(({ folders, Recursive, mask }) => {
        const holder = names.slice(0, -1)
        const inside = Recursive ? same(holder.slice(0, folders.length), folders, 'i') : same(holder, folders, 'i')
        return inside && segment(mask, 'i').test(names.at(-1)!)
      })
    }),
  )
}

/** One path of a ForensicArtifacts source below the home: `**N` at the end reaches N folders down (artifacts format; plaso expands it so). */
export function forensicArtifactsPaths(paths: readonly string[], separator: string): (home: string) => Set<string> {
  const variable = separator === '/' ? '%%users.homedir%%' : '%%users.userprofile%%'
  const patterns = paths
    .filter((one) => one.startsWith(variable + separator))
    .map((one) => one.slice(variable.length + separator.length).split(separator))
    .flatMap((segments) => {
      const [, depth] = /^\*\*(\d*)$/.exec(segments.at(-1)!) ?? []
      if (depth === undefined) return [segments]
      return Array.from({ length: Number(depth || 10) }, (_, i) => [...segments.slice(0, -1), ...Array<string>(i + 1).fill('*')])
    })
  return (home) => new Set(filesBelow(home).filter((file) => patterns.some((pattern) => same(file.split('/'), pattern, 'i'))))
}

export interface UacItem {
  readonly [property: string]: string
}

const UAC_PROPERTIES = [
  'description',
  'supported_os',
  'collector',
  'path',
  'path_pattern',
  'name_pattern',
  'exclude_path_pattern',
  'file_type',
]
const UAC_SYSTEMS = 'all|aix|esxi|freebsd|haiku|linux|macos|netbsd|netscaler|openbsd|solaris'.split('|')

/** Reads a UAC artifact line by line, as its shell does, and refuses what its validator refuses (tclahr/uac lib/validate_artifact.sh). */
export function readUac(text: string): UacItem[] {
  const lines = text
    .split('\n')
    .map((line) => line.replace(/#.*$/, '').trim())
    .filter((line) => line !== '')
  const head = lines.splice(0, lines.indexOf('artifacts:') + 1)
  if (!/^version: \S+$/.test(head[0] ?? '') || head.at(-1) !== 'artifacts:' || head.length !== 2)
    throw new Error('no version and artifacts')
  if (lines[0] !== '-') throw new Error("expected '-' after artifacts:")
  const items: Record<string, string>[] = []
  for (const line of lines) {
    if (line === '-') items.push({})
    else {
      const [, key, value] = /^([a-z_]+): (.+)$/.exec(line) ?? []
      if (!key || !value || !UAC_PROPERTIES.includes(key)) throw new Error(`not a property: ${line}`)
      items.at(-1)![key] = value
    }
  }
  items.forEach(checkUac)
  return items
}

function checkUac(item: UacItem): void {
  for (const required of ['description', 'supported_os', 'collector', 'path']) if (!item[required]) throw new Error(`missing ${required}`)
  if (item.collector !== 'file') throw new Error(`collector ${item.collector}`)
  if (!item.path!.startsWith('/')) throw new Error('path must be absolute')
  for (const list of ['supported_os', 'path_pattern', 'exclude_path_pattern', 'file_type']) {
    if (item[list] !== undefined && !/^\[.+\]$/.test(item[list])) throw new Error(`${list} must be a list`)
  }
  for (const system of uacList(item.supported_os)) if (!UAC_SYSTEMS.includes(system)) throw new Error(`system ${system}`)
}

function uacList(value: string | undefined): string[] {
  return (value ?? '[]')
    .replace(/^\[|\]$/g, '')
    .split(',')
    .map((one) => one.trim().replace(/["']/g, ''))
    .filter((one) => one !== '')
}

/** UAC: really runs the `find` that UAC builds (lib/build_find_command.sh), through a shell as UAC does. */
export const uac: Collector = (text, home) => {
  const found = new Set<string>()
  for (const item of readUac(text).filter(({ path: at }) => at!.startsWith('/%user_home%'))) {
    const or = (patterns: readonly string[]) => `\\( ${patterns.map((one) => `-path "${one}"`).join(' -o ')} \\)`
    const [wanted, left] = [uacList(item.path_pattern), uacList(item.exclude_path_pattern)]
    const command = [
      `find ${item.path!.replaceAll('/%user_home%', home)}`,
      ...(left.length > 0 ? [`${or(left)} -prune -o`] : []),
      ...(wanted.length > 0 ? [or(wanted)] : []),
      '-type f -print',
    ].join(' ')
    const { stdout } = spawnSync('sh', ['-c', command], { encoding: 'utf8', env: { PATH: process.env.PATH } })
    for (const line of stdout.split('\n')) if (line !== '') found.add(path.relative(home, line))
  }
  return found
}
