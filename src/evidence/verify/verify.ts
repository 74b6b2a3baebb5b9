import { createHash } from 'node:crypto'
import { byCodeUnit } from '../../rows/index.js'
import { breath } from '../breath.js'
import { CollectionRecord, EVIDENCE_FOLDER, ManifestLine, PACKAGE_FILES } from '../manifest.js'
import { EvidenceUsageError } from '../trouble.js'
import { BrokenPackageError, visitPackage } from './packaged.js'

/** One way in which a package is not what its manifest says. */
export interface Difference {
  readonly kind: 'altered' | 'missing' | 'extra' | 'renamed' | 'swapped' | 'twice' | 'not-a-file' | 'invalid' | 'manifest' | 'broken'
  readonly path: string
  /** For people: what is wrong with it. */
  readonly problem: string
}

export interface Verification {
  readonly package: string
  readonly files: number
  readonly bytes: number
  readonly manifest_sha256: string | null
  readonly differences: readonly Difference[]
}

export interface VerifyOptions {
  /** The manifest's hash as it was noted when the package was made: without it, a manifest that was forged to agree is believed. */
  readonly manifestSha256?: string
  readonly onProgress?: (progress: { readonly files: number; readonly bytes: number; readonly path: string }) => void
}

interface Found {
  readonly sha256: string
  readonly size: number
}

/** The lists of a package, kept while the rest is only hashed. */
type Texts = Map<string, string>
const KEPT: readonly string[] = [PACKAGE_FILES.manifest, PACKAGE_FILES.sums, PACKAGE_FILES.collection, PACKAGE_FILES.hashdeep]

/** Holds every file of a package against its manifest, its `SHA256SUMS` and its hashdeep list. */
export async function verifyPackage(at: string, options: VerifyOptions = {}): Promise<Verification> {
  const contents = new Contents(options)
  try {
    await visitPackage(at, (file, bytes) => contents.visit(file, bytes))
  } catch (error) {
    if (!(error instanceof BrokenPackageError)) throw error
    contents.differences.push({ kind: 'broken', path: '', problem: `the archive cannot be read to its end: ${error.message}` })
  }
  const { found, texts, differences } = contents
  const broken = differences.some(({ kind }) => kind === 'broken')
  if (differences.length === 0 && !KEPT.some((name) => found.has(name)))
    throw new EvidenceUsageError(`${at}: not a package that collect wrote; it has none of ${KEPT.join(', ')}`)
  const lists = new Lists(texts, differences)
  differences.push(...identity(lists, found, options.manifestSha256), ...(broken && lists.empty ? [] : compare(lists, found)))
  return {
    package: at,
    files: found.size,
    bytes: [...found.values()].reduce((sum, { size }) => sum + size, 0),
    manifest_sha256: found.get(PACKAGE_FILES.manifest)?.sha256 ?? null,
    differences: [...differences].sort((a, b) => byCodeUnit(a.path, b.path)),
  }
}

/** Stands for a file that is there and cannot be read: it is named once, as that. */
const UNREADABLE: Found = { sha256: '', size: 0 }

/** What stands in the package: every file's hash, the lists as text. */
class Contents {
  readonly found = new Map<string, Found>()
  readonly texts: Texts = new Map()
  readonly differences: Difference[] = []
  #bytes = 0

  constructor(readonly options: VerifyOptions) {}

  async visit({ name, kind }: { name: string; kind: string }, bytes: AsyncIterable<Buffer>): Promise<void> {
    this.options.onProgress?.({ files: this.found.size, bytes: this.#bytes, path: name })
    const hash = createHash('sha256')
    const kept: Buffer[] = []
    let size = 0
    try {
      for await (const chunk of bytes) {
        await breath()
        hash.update(chunk)
        size += chunk.length
        if (KEPT.includes(name)) kept.push(Buffer.from(chunk))
      }
    } catch (error) {
      this.found.set(name, UNREADABLE)
      return this.#differ('altered', name, `cannot be read to its end: ${(error as Error).message}`)
    }
    this.#bytes += size
    if (kind !== 'file') return this.#differ('not-a-file', name, `is a ${kind}; a package holds files only`)
    if (this.found.has(name)) return this.#differ('twice', name, 'stands in the archive more than once')
    this.found.set(name, { sha256: hash.digest('hex'), size })
    if (KEPT.includes(name)) this.texts.set(name, Buffer.concat(kept).toString('utf8'))
  }

  #differ(kind: Difference['kind'], path: string, problem: string): void {
    this.differences.push({ kind, path, problem })
  }
}

/** What the package says of itself, list by list: hash by name. */
class Lists {
  readonly manifest = new Map<string, string>()
  readonly sums = new Map<string, string>()
  readonly hashdeep = new Map<string, string>()
  readonly record: CollectionRecord | undefined
  readonly #counts = new Map<string, number>()

  constructor(
    texts: Texts,
    readonly differences: Difference[],
  ) {
    this.#each(texts, PACKAGE_FILES.manifest, (line) => this.#manifestLine(line))
    this.#each(texts, PACKAGE_FILES.sums, (line) => {
      const [, sha256, name] = /^([0-9a-f]{64}) {2}(.+)$/.exec(line) ?? []
      if (name === undefined || this.sums.has(name)) return false
      return this.sums.set(name, sha256!) !== undefined
    })
    this.#each(texts, PACKAGE_FILES.hashdeep, (line) => {
      if (/^(?:%%%%|##)/.test(line)) return true
      const [, sha256, name] = /^\d+,([0-9a-f]{64}),(.+)$/.exec(line) ?? []
      return name !== undefined && this.hashdeep.set(name, sha256!) !== undefined
    })
    this.record = this.#collection(texts.get(PACKAGE_FILES.collection))
  }

  /** No list was found: nothing can be held against one. */
  get empty(): boolean {
    return this.manifest.size === 0 && this.sums.size === 0
  }

  /** Lines that the manifest has of each action. */
  get counts(): ReadonlyMap<string, number> {
    return this.#counts
  }

  #each(texts: Texts, name: string, read: (line: string) => boolean): void {
    const text = texts.get(name)
    if (text === undefined) return
    const lines = text.split('\n')
    if (lines.pop() !== '') this.#invalid(name, 'its last line has no end')
    for (const [i, line] of lines.entries()) if (!read(line)) this.#invalid(name, `line ${i + 1} is not one that collect writes`)
  }

  #manifestLine(text: string): boolean {
    const line = ManifestLine.safeParse(json(text)).data
    if (!line) return false
    this.#counts.set(line.action, (this.#counts.get(line.action) ?? 0) + 1)
    if (line.stored_path === null) return true
    if (this.manifest.has(line.stored_path) || line.stored_sha256 === null) return false
    this.manifest.set(line.stored_path, line.stored_sha256)
    return true
  }

  #collection(text: string | undefined): CollectionRecord | undefined {
    const record = text === undefined ? undefined : CollectionRecord.safeParse(json(text)).data
    if (text !== undefined && !record) this.#invalid(PACKAGE_FILES.collection, 'is not a record that collect writes')
    return record
  }

  #invalid(path: string, problem: string): void {
    this.differences.push({ kind: 'invalid', path, problem })
  }
}

function json(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Whether the manifest is the one that was written: by the hash that a person noted, and by what the package says of it. */
function identity(lists: Lists, found: ReadonlyMap<string, Found>, noted: string | undefined): Difference[] {
  const actual = found.get(PACKAGE_FILES.manifest)?.sha256
  const differences: Difference[] = []
  const differ = (problem: string) => differences.push({ kind: 'manifest', path: PACKAGE_FILES.manifest, problem })
  if (noted !== undefined && actual !== noted.toLowerCase())
    differ(`its SHA-256 is ${actual ?? 'none: it is missing'}, not ${noted.toLowerCase()}`)
  if (lists.record && lists.record.manifest_sha256 !== actual)
    differ(`${PACKAGE_FILES.collection} names another one: ${lists.record.manifest_sha256}`)
  for (const [action, count] of Object.entries(lists.record?.counts ?? {})) {
    const has = lists.counts.get(action) ?? 0
    if (has !== count) differ(`it has ${has} lines of action ${action}, ${PACKAGE_FILES.collection} counted ${count}`)
  }
  return differences
}

function compare(lists: Lists, found: ReadonlyMap<string, Found>): Difference[] {
  const expected = new Map([...lists.sums, ...lists.manifest])
  const wrong = [...found].filter(
    ([name, { sha256 }]) => sha256 !== '' && expected.has(name) && disagreements(name, sha256, lists).length > 0,
  )
  const missing = [...new Set([...expected.keys(), ...Object.values(REQUIRED)])].filter((name) => !found.has(name))
  const extra = [...found.keys()].filter((name) => !expected.has(name) && name !== PACKAGE_FILES.sums)
  const { pairs, left, unmatched } = renamed(missing, extra, expected, found)
  return [
    ...wrong.map(([name, { sha256 }]) => alteration(name, sha256, lists, wrong, expected)),
    ...pairs,
    ...left.map((path): Difference => ({ kind: 'missing', path, problem: 'is not in the package' })),
    ...unmatched.map((path): Difference => ({ kind: 'extra', path, problem: 'is in no list of the package' })),
    ...unlisted(lists, found),
  ]
}
const REQUIRED = [PACKAGE_FILES.manifest, PACKAGE_FILES.collection, PACKAGE_FILES.sums, PACKAGE_FILES.hashdeep]

/** Which lists name another hash for a file. */
function disagreements(name: string, sha256: string, lists: Lists): string[] {
  const named: [string, ReadonlyMap<string, string>][] = [
    [PACKAGE_FILES.manifest, lists.manifest],
    [PACKAGE_FILES.sums, lists.sums],
    [PACKAGE_FILES.hashdeep, lists.hashdeep],
  ]
  return named.filter(([, list]) => list.has(name) && list.get(name) !== sha256).map(([list]) => list)
}

type Wrong = readonly (readonly [string, Found])[]

function alteration(name: string, sha256: string, lists: Lists, wrong: Wrong, expected: ReadonlyMap<string, string>): Difference {
  const twin = wrong.find(([other, { sha256: has }]) => other !== name && has === expected.get(name) && expected.get(other) === sha256)
  if (twin) return { kind: 'swapped', path: name, problem: `has the contents of ${twin[0]}, and that of this` }
  return {
    kind: 'altered',
    path: name,
    problem: `its SHA-256 is ${sha256}; another one stands in ${disagreements(name, sha256, lists).join(', ')}`,
  }
}

/** A missing file whose contents stand under a name that no list knows was renamed. */
function renamed(
  missing: readonly string[],
  extra: readonly string[],
  expected: ReadonlyMap<string, string>,
  found: ReadonlyMap<string, Found>,
) {
  const unmatched = new Set(extra)
  const pairs: Difference[] = []
  const left: string[] = []
  for (const name of missing) {
    const now = [...unmatched].find((other) => found.get(other)!.sha256 === expected.get(name))
    if (now === undefined) left.push(name)
    else {
      unmatched.delete(now)
      pairs.push({ kind: 'renamed', path: name, problem: `is now ${now}` })
    }
  }
  return { pairs, left, unmatched: [...unmatched] }
}

/** A file that is there and agrees with one list, while another list does not know it. */
function unlisted(lists: Lists, found: ReadonlyMap<string, Found>): Difference[] {
  const inEvidence = (name: string) => name.startsWith(`${EVIDENCE_FOLDER}/`)
  const lacks = (list: ReadonlyMap<string, string>, name: string, which: string): Difference[] =>
    list.has(name) ? [] : [{ kind: 'extra', path: name, problem: `is not in ${which}` }]
  return [...found.keys()]
    .filter((name) => lists.sums.has(name) || lists.manifest.has(name))
    .flatMap((name) => [
      ...lacks(lists.sums, name, PACKAGE_FILES.sums),
      ...(inEvidence(name) ? lacks(lists.manifest, name, PACKAGE_FILES.manifest) : []),
      ...(inEvidence(name) ? lacks(lists.hashdeep, name, PACKAGE_FILES.hashdeep) : []),
    ])
}
