import type { TreePath } from '../tree.js'

/** Deeper than any path that an operating system lets a program make by name. */
const DEEPEST = 250

export type EntryName = { readonly at: TreePath } | { readonly refused: string }

/**
 * Where an archive entry stands in the tree: `./` and doubled separators dropped, a final separator too. A name that points out of the
 * archive is refused, whatever separator it uses; `backslash` says that the archive's maker used `\` for `/`.
 */
export function entryName(stored: TreePath, backslash: boolean): EntryName {
  const name = backslash ? stored.replaceAll('\\', '/') : stored
  if (name.includes('\0')) return { refused: 'has a NUL in its name' }
  if (/(^|[\\/])\.\.([\\/]|$)/.test(name)) return { refused: 'points out of the archive (..)' }
  if (name.startsWith('/')) return { refused: 'has an absolute path' }
  if (/^([A-Za-z]:[\\/]|\\\\)/.test(name)) return { refused: 'has an absolute Windows path' }
  const segments = name.split('/').filter((segment) => segment !== '' && segment !== '.')
  if (segments.length > DEEPEST) return { refused: `lies more than ${DEEPEST} folders deep` }
  return { at: segments.join('/') }
}
