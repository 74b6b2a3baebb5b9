/** A glob's alternatives, its braces written out: `{a,b}/*{,.old}` gives four. Braces in the catalog are never nested. */
export function alternatives(glob: string): string[] {
  const open = glob.indexOf('{')
  const close = glob.indexOf('}', open)
  if (open === -1 || close === -1) return [glob]
  const [before, inside, after] = [glob.slice(0, open), glob.slice(open + 1, close), glob.slice(close + 1)]
  return inside.split(',').flatMap((choice) => alternatives(`${before}${choice}${after}`))
}

/** For readers to whom `**` between folders means one folder at least: with such a step, and without it. */
export function withoutFolders(glob: string): string[] {
  const at = glob.indexOf('**/')
  if (at === -1) return [glob]
  const [before, rest] = [glob.slice(0, at), glob.slice(at + 3)]
  return withoutFolders(rest).flatMap((end) => [`${before}${end}`, `${before}**/${end}`])
}

/** A glob taken apart at its first segment that is not a plain name: a folder, and what is looked for in it. */
export interface Anchored {
  readonly folder: readonly string[]
  readonly rest: readonly string[]
}

export function anchored(glob: string): Anchored {
  const segments = glob.split('/')
  const magic = segments.findIndex((segment) => /[*?]/.test(segment))
  const cut = magic === -1 ? segments.length - 1 : magic
  return { folder: segments.slice(0, cut), rest: segments.slice(cut) }
}

/** One segment of a glob as a regular expression of the common kind (RE2, JavaScript, .NET): `*` stays within a name. */
export function segmentPattern(segment: string): string {
  return segment
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '[^/\\\\]*')
    .replaceAll('?', '[^/\\\\]')
}

/** A whole glob as a regular expression over paths with either separator; `**` is any number of folders, at the end everything below. */
export function pathPattern(glob: string): string {
  const separator = '[/\\\\]'
  const segments = glob.split('/')
  return segments
    .map((segment, i) => {
      const last = i === segments.length - 1
      if (segment === '**') return last ? '.+' : `(?:.*${separator})?`
      return segmentPattern(segment) + (last ? '' : separator)
    })
    .join('')
}
