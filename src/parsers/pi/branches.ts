import { columnText } from '../columns.js'

/** Where an entry stands in the tree of its file: empty on the first branch. */
export interface Place {
  readonly branch?: number
  /** On the entry that begins a branch: the entry that it hangs on, null for a second root. */
  readonly branch_from?: string | null
}

const FIRST: Place = {}

/**
 * Tells the branches of one session file apart. An entry continues the branch whose last entry is its parent; any other parent begins a
 * new one (pi-and-claude-code 1.6). A parent that the file does not hold was lost, and shows no branch; entries without ids (version 1)
 * are one chain.
 */
export class Branches {
  readonly #branchOf = new Map<string, number>()
  /** The last entry of each branch; branch 1 stands first. */
  readonly #tips: string[] = []
  #latest = 1

  place(id: unknown, parentId: unknown): Place {
    const own = columnText(id)
    if (own === '') return FIRST
    const parent = columnText(parentId)
    const continued = this.#continued(parent)
    const branch = continued ?? this.#tips.length + 1
    this.#tips[branch - 1] = own
    this.#branchOf.set(own, branch)
    this.#latest = branch
    if (continued === undefined) return { branch, branch_from: parent === '' ? null : parent }
    return branch === 1 ? FIRST : { branch }
  }

  /** The branch that an entry with this parent continues; undefined where it begins one. */
  #continued(parent: string): number | undefined {
    if (this.#tips.length === 0) return 1
    if (parent === '') return undefined
    const branch = this.#branchOf.get(parent)
    if (branch === undefined) return this.#latest
    return this.#tips[branch - 1] === parent ? branch : undefined
  }
}
