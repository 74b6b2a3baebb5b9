import type { EvidenceTrouble } from './trouble.js'
import { FolderTree, join, type FindOptions, type Listing, type Tree, type TreePath } from './tree.js'

/** A directory of an archive, as a tree of its own: a home in a package, a host in a hunt. */
export class SubTree implements Tree {
  constructor(
    readonly whole: Tree,
    readonly prefix: TreePath,
  ) {}

  find(prefix: TreePath, globs: readonly string[], options?: FindOptions): TreePath[] {
    const cut = this.prefix === '' ? 0 : this.prefix.length + 1
    return this.whole.find(join(this.prefix, prefix), globs, options).map((at) => at.slice(cut))
  }

  list(at: TreePath): Listing | undefined {
    return this.whole.list(join(this.prefix, at))
  }

  names(at: TreePath): string[] {
    return this.whole.names(join(this.prefix, at))
  }

  read(at: TreePath, listed: Listing): AsyncGenerator<Buffer> {
    return this.whole.read(join(this.prefix, at), listed)
  }

  identity(at: TreePath): string {
    return this.whole.identity(join(this.prefix, at))
  }

  takeTroubles(below: TreePath = ''): EvidenceTrouble[] {
    return this.whole.takeTroubles(join(this.prefix, below))
  }
}

/** A directory of a tree as a tree of its own: in a folder a folder, so that all that folders can do can be done with it. */
export function treeAt(whole: Tree, at: TreePath): Tree {
  if (at === '') return whole
  if (whole instanceof FolderTree) return whole.below(at)
  return whole instanceof SubTree ? treeAt(whole.whole, join(whole.prefix, at)) : new SubTree(whole, at)
}

/** Step by step, each a directory and not a link; on Windows paths whatever the case. Undefined where one is missing. */
export function walk(tree: Tree, from: TreePath, names: readonly TreePath[], ignoreCase: boolean): TreePath | undefined {
  let at = from
  for (const wanted of names) {
    const name = ignoreCase ? tree.names(at).find((name) => name.toLowerCase() === wanted.toLowerCase()) : wanted
    if (name === undefined) return undefined
    at = join(at, name)
    if (tree.list(at)?.kind !== 'directory') return undefined
  }
  return at
}
