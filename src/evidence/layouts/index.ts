import { join, type Tree, type TreePath } from '../tree.js'
import { treeAt } from '../sub-tree.js'
import { holdsHomes, type HomeMarks } from '../machine.js'
import { cylr } from './cylr.js'
import { kape } from './kape.js'
import type { Layout, Place, Source } from './layout.js'
import { ownPackage } from './package.js'
import { plain } from './plain.js'
import { uac } from './uac.js'
import { velociraptor } from './velociraptor.js'
import { velociraptorLegacy } from './velociraptor-legacy.js'

export type { MappedMachine, Place, Source } from './layout.js'

/** In the order in which they are asked: what bears a record of its own before what is told by names alone. */
const LAYOUTS: readonly Layout[] = [ownPackage, velociraptor, velociraptorLegacy, kape, uac, cylr]

/** Folders around a package: one made by packing a folder, one a host in a hunt, one a case. */
const DEEPEST_BASE = 3
/** No machine's files begin in these: what the kernel makes up, and what macOS packs beside files. */
const NOT_ENTERED = ['proc', 'sys', 'dev', '__MACOSX']

export interface Placed {
  readonly layout: Layout
  readonly place: Place
}

/** Every place in a source where some collector's files, or a machine's own, begin; the source itself when nothing is known. */
export function placesIn(source: Source, tree: Tree, marks: HomeMarks): Placed[] {
  const found = placesBelow(source, tree, marks, '', 0)
  return found.length > 0 ? found : [{ layout: plain, place: { source, tree, base: '' } }]
}

function placesBelow(source: Source, tree: Tree, marks: HomeMarks, base: TreePath, depth: number): Placed[] {
  const place = { source, tree: treeAt(tree, base), base }
  const layout = LAYOUTS.find((layout) => layout.detect(place)) ?? (holdsHomes(place.tree, marks) ? plain : undefined)
  if (layout) return [{ layout, place }]
  if (depth === DEEPEST_BASE) return []
  return tree
    .names(base)
    .filter((name) => !NOT_ENTERED.includes(name) && tree.list(join(base, name))?.kind === 'directory')
    .sort()
    .flatMap((name) => placesBelow(source, tree, marks, join(base, name), depth + 1))
}
