import { byCodeUnit } from '../../rows/index.js'
import { FOLDERS_BELOW_PROJECT, type MovedStore, type WalkedFolder } from '../evidence.js'
import { recordedBelow, slashed } from '../recorded-path.js'
import { join, readable, treePath, type FolderTree, type Listing, type TreePath } from '../tree.js'
import type { EvidenceTrouble } from '../trouble.js'
import type { Rules, Ruling } from './rules.js'

/** A path that the catalog matched. */
export interface Match {
  readonly tree: FolderTree
  readonly at: TreePath
  readonly listing: Listing
  readonly ruling: Ruling
  /** The project that holds it, as recorded; empty for the others. */
  readonly project: string
  readonly sourceFile: string
}

/** A folder or link in the way of the catalog's globs that was not entered. */
export interface Obstacle {
  readonly tree: FolderTree
  readonly at: TreePath
  readonly trouble: EvidenceTrouble
}

/** Version control is not entered below projects, save where a glob names it. */
const VERSION_CONTROL = ['**/.git/**', '**/.hg/**', '**/.svn/**']
const PACKAGES = '**/node_modules/*/**'

/** What the catalog matches in a home. */
export function homeMatches({ tree, prefix }: WalkedFolder, rules: Rules): Match[] {
  return found(tree, prefix, rules.globs, rules.notEntered, (path) => named(rules.of(path), path))
}

/** What it matches in the directory that an environment variable had put in the place of a usual one. */
export function movedMatches({ tree, moved }: WalkedFolder & { readonly moved: MovedStore }, rules: Rules): Match[] {
  const globs = (usual: readonly string[]) => usual.filter((glob) => reaches(moved, glob)).map((glob) => glob.slice(moved.base.length + 1))
  return found(tree, '', globs(rules.globs), globs(rules.notEntered), (path) => {
    const usual = join(moved.base, path)
    return named(rules.of(usual), usual)
  })
}

function reaches(moved: MovedStore, glob: string): boolean {
  return moved.paths.some((usual) => glob === usual || glob.startsWith(`${usual}/`))
}

/** What it matches in a temp directory: rows and readers know such a file by its whole path. */
export function tempMatches(tree: FolderTree, rules: Rules): Match[] {
  const root = slashed(readable(tree.absolute('').toString('latin1')))
  return found(tree, '', rules.globs, rules.notEntered, (path) => named(rules.of(path), `${root}/${path}`))
}

/**
 * What it matches in a project: in its own folder, and in each folder up to four below it that holds a `.letta` (rows.md, Permission
 * settings), which is then a project of its own. A path that belongs to two of them goes to the one where a parser reads it.
 */
export function projectMatches({ tree, prefix, recorded }: WalkedFolder, rules: Rules): Match[] {
  const matches = new Map<TreePath, Match>()
  for (const holder of projectFolders(tree, prefix)) {
    const project = recordedBelow(recorded, holder === '' ? [] : readable(holder).split('/'))
    const rule = (path: string) => named(rules.of(path), `${slashed(project)}/${path}`)
    for (const match of folderMatches(tree, join(prefix, holder), rules, rule)) {
      const known = matches.get(match.at)
      if (!known || (!known.ruling.store?.parsed && match.ruling.store?.parsed)) matches.set(match.at, { ...match, project })
    }
  }
  return [...matches.values()].sort((a, b) => byCodeUnit(a.at, b.at))
}

function folderMatches(tree: FolderTree, folder: TreePath, rules: Rules, rule: Ruled): Match[] {
  const inGit = rules.globs.filter((glob) => glob.startsWith('.git/'))
  const others = rules.globs.filter((glob) => !glob.startsWith('.git/'))
  const ignore = [...rules.notEntered, ...VERSION_CONTROL, PACKAGES]
  return [...found(tree, folder, others, ignore, rule), ...(inGit.length > 0 ? found(tree, folder, inGit, [], rule) : [])]
}

function projectFolders(tree: FolderTree, prefix: TreePath): TreePath[] {
  const below = tree
    .find(prefix, ['**/.letta'], { ignore: [...VERSION_CONTROL, '**/node_modules/**'], deep: FOLDERS_BELOW_PROJECT + 1 })
    .filter((at) => tree.list(at)?.kind === 'directory')
    .map((at) => at.slice(prefix === '' ? 0 : prefix.length + 1, -'/.letta'.length))
  return [...new Set(['', ...below])].sort(byCodeUnit)
}

type Ruled = (path: string) => { readonly ruling: Ruling; readonly sourceFile: string } | undefined

function named(ruling: Ruling | undefined, sourceFile: string): ReturnType<Ruled> {
  return ruling && { ruling, sourceFile }
}

function found(tree: FolderTree, prefix: TreePath, globs: readonly string[], ignore: readonly string[], rule: Ruled): Match[] {
  if (globs.length === 0) return []
  return tree
    .find(prefix, globs, { ignore })
    .sort(byCodeUnit)
    .flatMap((at) => {
      const ruled = rule(readable(prefix === '' ? at : at.slice(prefix.length + 1)))
      const listing = ruled && tree.list(at)
      if (!listing || (listing.kind === 'directory' && ruled.ruling.exclusion?.when !== 'always')) return []
      return [{ tree, at, listing, project: '', ...ruled }]
    })
}

/** What kept the last searches of a tree from looking everywhere. */
export function obstacles(tree: FolderTree): Obstacle[] {
  return tree
    .takeTroubles()
    .map((trouble) => ({ tree, at: treePath(trouble.path), trouble }))
    .sort((a, b) => byCodeUnit(a.at, b.at))
}
