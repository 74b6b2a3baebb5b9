/** A path as a record on some machine names it, taken apart. */
export interface RecordedPath {
  readonly style: 'posix' | 'windows'
  /** `C:` on Windows, empty elsewhere. */
  readonly drive: string
  readonly segments: readonly string[]
}

/**
 * Takes an absolute path apart; `..` and `.` are resolved by name. Undefined for what is never opened: relative paths, UNC and
 * device paths (`\\host\share`, `\\?\`, `//host`), names with NUL (architecture.md, The evidence stays in the evidence).
 */
export function recordedPath(text: string): RecordedPath | undefined {
  if (text.includes('\0') || /^[\\/]{2}/.test(text)) return undefined
  const windows = /^([A-Za-z]:)[\\/]/.exec(text)
  if (windows) return { style: 'windows', drive: windows[1]!.toUpperCase(), segments: resolveDots(text.slice(2).split(/[\\/]+/)) }
  if (text.startsWith('/')) return { style: 'posix', drive: '', segments: resolveDots(text.split(/\/+/)) }
  return undefined
}

function resolveDots(parts: readonly string[]): string[] {
  const segments: string[] = []
  for (const part of parts) {
    if (part === '..') segments.pop()
    else if (part !== '' && part !== '.') segments.push(part)
  }
  return segments
}

/** The part of `path` below `base`, or undefined when it is elsewhere. Windows paths match whatever their case. */
export function below(path: RecordedPath, base: RecordedPath): readonly string[] | undefined {
  if (path.style !== base.style || path.segments.length < base.segments.length) return undefined
  if (base.drive !== '' && path.drive !== base.drive) return undefined
  const same = path.style === 'windows' ? equalIgnoringCase : (a: string, b: string) => a === b
  return base.segments.every((segment, i) => same(segment, path.segments[i]!)) ? path.segments.slice(base.segments.length) : undefined
}

function equalIgnoringCase(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase()
}

/**
 * Where a home directory stood on its own machine, told from the end of the directory it was copied to: `.../home/alice`,
 * `.../Users/alice` (macOS or any Windows drive), `.../Documents and Settings/alice`, `.../root`.
 */
export function recordedHomes(directory: string): RecordedPath[] {
  const segments = directory.split(/[\\/]+/).filter((segment) => segment !== '')
  const name = segments.at(-1)
  const holder = segments.at(-2)
  if (name === undefined) return []
  if (holder === 'home') return [{ style: 'posix', drive: '', segments: ['home', name] }]
  if (holder?.toLowerCase() === 'users') {
    return [
      { style: 'posix', drive: '', segments: ['Users', name] },
      { style: 'windows', drive: '', segments: ['Users', name] },
    ]
  }
  if (holder?.toLowerCase() === 'documents and settings')
    return [{ style: 'windows', drive: '', segments: ['Documents and Settings', name] }]
  if (name === 'root') return [{ style: 'posix', drive: '', segments: ['root'] }]
  return []
}

/** A recorded project path as `source_file` begins with it: `/` separators, no separator at the end. */
export function slashed(recorded: string): string {
  const text = /^[A-Za-z]:[\\/]/.test(recorded) ? recorded.replaceAll('\\', '/') : recorded
  return text.length > 1 ? text.replace(/\/+$/, '') : text
}

/** A folder below a recorded path, in the separators that the record uses. */
export function recordedBelow(recorded: string, segments: readonly string[]): string {
  if (segments.length === 0) return recorded
  const separator = /^[A-Za-z]:\\/.test(recorded) ? '\\' : '/'
  return [recorded.replace(/[\\/]+$/, ''), ...segments].join(separator)
}

/** The drive that a folder stands for, named `C`, `C:` or `C%3A` as collectors name it. */
export function driveOf(name: string): string | undefined {
  const letter = /^([A-Za-z])(?::|%3[Aa])?$/.exec(name)?.[1]
  return letter === undefined ? undefined : `${letter.toUpperCase()}:`
}
