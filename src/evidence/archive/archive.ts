import type { Member } from '../member-tree.js'
import type { TreePath } from '../tree.js'

/** Takes down what an archive holds, in the order of the archive. */
export interface ArchiveIndex {
  member(at: TreePath, member: Member): void
  directory(at: TreePath): void
  /** Names what is not read, and why; the empty path is the archive itself. */
  refuse(at: TreePath, problem: string): void
}

/** An open archive: what layouts tell its maker by, beside its entries. */
export interface Archive {
  readonly kind: 'zip' | 'tar'
  readonly comment: string
  /** Written by a library that marks every entry as Zip64, however small. */
  readonly everyEntryZip64: boolean
  close(): void
}
