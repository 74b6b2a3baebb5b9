import picomatch from 'picomatch'
import { EvidenceTrouble } from './trouble.js'
import {
  join,
  matchable,
  parent,
  readable,
  Troubles,
  unreadableAs,
  type FindOptions,
  type Listing,
  type Tree,
  type TreePath,
} from './tree.js'

/** Hands out a file's bytes in order; what is wrong with them but leaves them readable is noted. */
export type Read = (note: (problem: string) => void) => AsyncGenerator<Buffer>

/** One file or link that an archive or a package holds. */
export interface Member {
  readonly listing: Listing
  readonly read: Read
}

const DIRECTORY: Listing = { kind: 'directory', size: 0, mtimeNs: -1n, mtimeFrom: 'unreliable' }

/** A tree made of members at paths, directories implied: the entries of an archive, or a package's files at their original paths. */
export class MemberTree implements Tree {
  readonly #members = new Map<TreePath, Member>()
  readonly #directories = new Map<TreePath, Set<string>>([['', new Set()]])
  readonly #links: TreePath[] = []
  readonly #troubles = new Troubles()

  /** `name` tells the trees of one run apart. */
  constructor(readonly name: string) {}

  /** Adds a member. What cannot stand beside what is there already is refused, with the reason. */
  add(at: TreePath, member: Member): string | undefined {
    if (this.#members.has(at)) return 'stands in the archive twice; the first is read'
    if (this.#directories.has(at)) return 'has the name of a directory'
    const refused = this.#addDirectory(parent(at))
    if (refused !== undefined) return refused
    this.#members.set(at, member)
    if (member.listing.kind === 'link') this.#links.push(at)
    this.#directories.get(parent(at))!.add(nameOf(at))
    return undefined
  }

  addDirectory(at: TreePath): string | undefined {
    return this.#addDirectory(at)
  }

  note(at: TreePath, problem: string): void {
    this.#troubles.note(at, problem)
  }

  member(at: TreePath): Member | undefined {
    return this.#members.get(at)
  }

  find(prefix: TreePath, globs: readonly string[], options: FindOptions = {}): TreePath[] {
    const cut = prefix === '' ? 0 : prefix.length + 1
    const test = picomatch([...globs], { dot: true, ignore: [...(options.ignore ?? [])] })
    const deep = options.deep ?? Infinity
    const found = new Set<TreePath>()
    for (const base of basesOf(globs)) {
      for (const at of this.#below(join(prefix, base))) {
        const inside = at.slice(cut)
        if (inside.split('/').length - 1 <= deep && test(matchable(inside))) found.add(at)
      }
    }
    this.#noteLinks(prefix, globs)
    return [...found]
  }

  list(at: TreePath): Listing | undefined {
    return this.#members.get(at)?.listing ?? (this.#directories.has(at) ? DIRECTORY : undefined)
  }

  names(at: TreePath): string[] {
    return [...(this.#directories.get(at) ?? [])]
  }

  async *read(at: TreePath): AsyncGenerator<Buffer> {
    const member = this.#members.get(at)
    if (!member) throw new EvidenceTrouble(readable(at), 'is not in the package')
    const problem = unreadableAs(member.listing)
    if (problem !== undefined) throw new EvidenceTrouble(readable(at), problem)
    try {
      yield* member.read((noted) => this.note(at, noted))
    } catch (error) {
      throw error instanceof EvidenceTrouble ? new EvidenceTrouble(readable(at), error.problem) : error
    }
  }

  identity(at: TreePath): string {
    return `${this.name}\0${at}`
  }

  takeTroubles(below?: TreePath): EvidenceTrouble[] {
    return this.#troubles.take(below)
  }

  /** Every directory and member at or below a path. */
  *#below(at: TreePath): Generator<TreePath> {
    if (at !== '' && this.list(at)) yield at
    for (const name of this.#directories.get(at) ?? []) yield* this.#below(join(at, name))
  }

  #addDirectory(at: TreePath): string | undefined {
    if (this.#directories.has(at)) return undefined
    const member = this.#members.get(at)
    if (member) return member.listing.kind === 'link' ? 'lies behind a symbolic link, which is not followed' : 'lies below a file'
    const refused = this.#addDirectory(parent(at))
    if (refused !== undefined) return refused
    this.#directories.set(at, new Set())
    this.#directories.get(parent(at))!.add(nameOf(at))
    return undefined
  }

  /** A link in the place of a directory that a pattern enters hides evidence: that is said, as for a folder. */
  #noteLinks(prefix: TreePath, globs: readonly string[]): void {
    for (const link of this.#links) {
      if (prefix !== '' && !link.startsWith(`${prefix}/`)) continue
      const steps = link.slice(prefix === '' ? 0 : prefix.length + 1).split('/')
      if (globs.some((glob) => entersLink(glob, steps))) this.note(link, 'is a symbolic link, which is not followed')
    }
  }
}

function nameOf(at: TreePath): string {
  return at.slice(at.lastIndexOf('/') + 1)
}

/** The directories in which patterns begin, none below another. */
function basesOf(globs: readonly string[]): string[] {
  const bases = [...new Set(globs.map((glob) => picomatch.scan(glob).base))].sort()
  return bases.filter((base, i) => !bases.slice(0, i).some((above) => above === '' || base.startsWith(`${above}/`)))
}

function entersLink(glob: string, steps: readonly string[]): boolean {
  const parts = glob.split('/')
  if (parts.length <= steps.length || parts[0] === '**') return false
  return picomatch(parts.slice(0, steps.length).join('/'), { dot: true })(steps.join('/'))
}
