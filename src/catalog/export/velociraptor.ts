import { stringify } from 'yaml'
import { pathPattern, withoutFolders } from '../globs.js'
import { camel, type Collection, type Target } from './collection.js'

/** Homes and temp directories of every system that a client runs on. */
const HOMES = ['/home/*', '/root', '/Users/*', '/var/root', 'C:/Users/*', 'C:/Documents and Settings/*']
const TEMPS = ['/tmp', '/var/tmp', '/private/var/folders/*/*/T', 'C:/Users/*/AppData/Local/Temp', 'C:/Windows/Temp']

const SCOPES: Readonly<
  Record<Target['scope'], { readonly source: string; readonly roots: 'Homes' | 'TempFolders'; readonly prefixes: readonly string[] }>
> = {
  home: { source: 'Home', roots: 'Homes', prefixes: [''] },
  project: { source: 'Projects', roots: 'Homes', prefixes: ['', '**/'] },
  temp: { source: 'Temp', roots: 'TempFolders', prefixes: [''] },
}

/** A Velociraptor client artifact: a source for each scope, each one pass of glob() below every home, and an upload with its times. */
export function velociraptor(collection: Collection): string {
  const { title, holds, targets, notes } = collection
  const scopes = (Object.keys(SCOPES) as Target['scope'][]).filter((scope) => targets.some((target) => target.scope === scope))
  const document = {
    name: `Custom.Generic.AgentForensics.${camel(title, holds)}`,
    description: `${[...notes, ...keyNotes(collection)].join('\n\n')}\n`,
    author: 'agent-forensics',
    type: 'CLIENT',
    parameters: [
      csv(
        'Homes',
        'Where the homes of accounts lie.',
        ['Glob'],
        HOMES.map((glob) => [glob]),
      ),
      csv(
        'TempFolders',
        'Where temporary files lie.',
        ['Glob'],
        TEMPS.map((glob) => [glob]),
      ),
      ...scopes.flatMap((scope) => scopeParameters(scope, collection)),
      { name: 'Upload', description: 'Fetch the files, not only their names and times.', type: 'bool', default: 'Y' },
    ],
    sources: scopes.map((scope) => ({ name: SCOPES[scope].source, query: query(scope) })),
  }
  return stringify(document, { lineWidth: 0 })
}

/** Which keys are secret in each credential file. */
function keyNotes({ holds, targets }: Collection): string[] {
  return holds === 'credentials' ? targets.map(({ id, comment }) => `${id}: ${comment}`) : []
}

function scopeParameters(scope: Target['scope'], { targets, exclusions }: Collection): object[] {
  const { source, prefixes } = SCOPES[scope]
  const rows = targets
    .filter((target) => target.scope === scope)
    .flatMap(({ id, globs }) => globs.flatMap(withoutFolders).flatMap((glob) => prefixes.map((prefix) => [id, prefix + glob])))
  const left = exclusions.filter((exclusion) => exclusion.scope === scope)
  const patterns = left.flatMap(({ globs }) => globs).map((glob) => `[/\\\\]${pathPattern(glob)}`)
  return [
    csv(`${source}Globs`, 'What is looked for, by the kind of file of the catalog.', ['Store', 'Glob'], rows),
    {
      name: `${source}Excluded`,
      description:
        left.length === 0 ? 'Nothing is left out.' : left.map(({ globs, reason }) => `${globs.join(', ')}: ${reason}`).join('\n'),
      type: 'regex',
      default: patterns.length === 0 ? '^$' : patterns.join('|'),
    },
  ]
}

function csv(name: string, description: string, columns: readonly string[], rows: readonly (readonly string[])[]): object {
  return { name, description, type: 'csv', default: `${[columns, ...rows].map((row) => row.join(',')).join('\n')}\n` }
}

function query(scope: Target['scope']): string {
  const { source, roots } = SCOPES[scope]
  return `LET roots <= SELECT OSPath AS Root FROM glob(globs=${roots}.Glob, nosymlink=TRUE) WHERE IsDir

LET hits = SELECT * FROM foreach(row=roots, query={
  SELECT OSPath, Size, Mtime, Atime, Ctime, Btime
  FROM glob(globs=${source}Globs.Glob, root=Root, nosymlink=TRUE)
  WHERE NOT IsDir AND NOT OSPath =~ ${source}Excluded
})

SELECT OSPath, Size, Mtime, Atime, Ctime, Btime,
       if(condition=Upload, then=upload(file=OSPath, mtime=Mtime, atime=Atime, ctime=Ctime, btime=Btime)) AS Uploaded
FROM hits
GROUP BY OSPath
`
}
