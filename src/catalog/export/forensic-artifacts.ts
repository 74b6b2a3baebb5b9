import { stringify } from 'yaml'
import { withoutFolders } from '../globs.js'
import { beyondNotes, camel, comments, PROJECT_DEPTH, type Collection, type Target } from './collection.js'

interface Source {
  readonly type: 'FILE' | 'ARTIFACT_GROUP'
  readonly attributes: { readonly paths?: readonly string[]; readonly separator?: string; readonly names?: readonly string[] }
  readonly supported_os?: readonly string[]
}

interface Definition {
  readonly name: string
  readonly doc: string
  readonly sources: readonly Source[]
  readonly supported_os: readonly string[]
  readonly urls: readonly string[]
}

/** Folders that a `**` at the end reaches down to: a git repository in an agent's memory is deep. */
const DEPTH = 10
const UNIX = { supported_os: ['Darwin', 'Linux'], home: '%%users.homedir%%' }
const WINDOWS = { supported_os: ['Windows'], home: '%%users.userprofile%%', separator: '\\' }
const TEMPS = { Linux: ['/tmp', '/var/tmp'], Darwin: ['/tmp', '/private/var/folders/*/*/T'] }
const ALL = ['Darwin', 'Linux', 'Windows']

/**
 * Definitions for ForensicArtifacts (artifacts-kb, format of artifacts 20221219): one for each kind of file and a group of them all. There
 * are no exclusions, `**` reaches ten folders down and only stands at the end of a path; projects are looked for down to a depth.
 */
export function forensicArtifacts(collection: Collection): string {
  const { title, urls, holds, targets, notes } = collection
  const definitions = targets.map((target) => definition(target, collection))
  const group: Definition = {
    name: camel(title, holds),
    doc: `${title}: all ${holds === 'evidence' ? 'evidence' : 'credential files'}.`,
    sources: [{ type: 'ARTIFACT_GROUP', attributes: { names: definitions.map(({ name }) => name) } }],
    supported_os: ALL,
    urls,
  }
  const header = [
    ...notes,
    ...beyondNotes(collection),
    `Project folders are looked for in a home and up to ${PROJECT_DEPTH} folders below it.`,
  ]
  const documents = [...definitions, group].map((one) => `---\n${stringify(one, { lineWidth: 0 })}`)
  return `${comments(header)}${documents.join('')}`
}

function definition(target: Target, { title, urls }: Collection): Definition {
  return {
    name: camel(title, target.id),
    doc: `${title}: ${target.title}.\n\n${target.comment}`,
    sources: target.scope === 'temp' ? tempSources(target) : homeSources(target),
    supported_os: ALL,
    urls,
  }
}

function homeSources(target: Target): Source[] {
  const below = target.scope === 'project' ? target.globs.flatMap(inProjects) : target.globs.flatMap(plainGlob)
  return [
    { type: 'FILE', attributes: { paths: below.map((glob) => `${UNIX.home}/${glob}`) }, supported_os: UNIX.supported_os },
    {
      type: 'FILE',
      attributes: {
        paths: below.map((glob) => `${WINDOWS.home}\\${glob.replaceAll('/', '\\')}`),
        separator: WINDOWS.separator,
      },
      supported_os: WINDOWS.supported_os,
    },
  ]
}

function tempSources({ globs }: Target): Source[] {
  const below = globs.flatMap(plainGlob)
  const unix = Object.entries(TEMPS).map(([os, roots]): Source => {
    return { type: 'FILE', attributes: { paths: roots.flatMap((root) => below.map((glob) => `${root}/${glob}`)) }, supported_os: [os] }
  })
  const paths = below.map((glob) => `%%users.localappdata%%\\Temp\\${glob.replaceAll('/', '\\')}`)
  return [...unix, { type: 'FILE', attributes: { paths, separator: WINDOWS.separator }, supported_os: WINDOWS.supported_os }]
}

/** `**` in the middle of a path is not understood everywhere: it becomes folders, one more each time. */
function plainGlob(glob: string): string[] {
  return withoutFolders(glob)
    .flatMap((one) => steps(one))
    .map((one) => one.replace(/\*\*$/, `**${DEPTH}`))
}

function steps(glob: string): string[] {
  const at = glob.indexOf('**/')
  if (at === -1) return [glob]
  const [before, rest] = [glob.slice(0, at), glob.slice(at + 3)]
  return Array.from({ length: PROJECT_DEPTH }, (_, i) => `${before}${'*/'.repeat(i + 1)}`).flatMap((start) =>
    steps(rest).map((end) => start + end),
  )
}

function inProjects(glob: string): string[] {
  return Array.from({ length: PROJECT_DEPTH + 1 }, (_, depth) => '*/'.repeat(depth)).flatMap((folders) =>
    plainGlob(glob).map((one) => folders + one),
  )
}
