import picomatch from 'picomatch'
import { letta, type CatalogEntry } from '../../src/catalog/index.js'
import { Evidence, readable, type EvidenceFile, type Home } from '../../src/evidence/index.js'
import { LettaParser } from '../../src/parsers/letta/index.js'
import { parseEvidence } from '../../src/parsers/index.js'

/** What a collection of a home brings, by the catalog: every file of a store, in projects that records name too, less the exclusions. */
export async function collectedFrom(home: string, entry: CatalogEntry = letta): Promise<Set<string>> {
  const evidence = new Evidence({ homes: [home] })
  await parseEvidence(evidence, [{ parser: new LettaParser(entry), plugin: 'test' }], {}, { add() {}, withdraw() {} })
  const [place] = evidence.homes
  return new Set(
    filesOf(place!, entry)
      .filter((file) => !isExcluded(file, entry))
      .map((file) => readable(file.at)),
  )
}

function filesOf(home: Home, entry: CatalogEntry): EvidenceFile[] {
  return [...home.files(entry.stores), ...home.projectFiles(entry.stores, new Set())].filter(({ listing }) => listing.kind === 'file')
}

function isExcluded(file: EvidenceFile, entry: CatalogEntry): boolean {
  const scope = file.project === '' ? 'home' : 'project'
  const globs = entry.exclusions.filter((one) => one.scope === scope && one.when === 'always').flatMap((one) => one.globs)
  return picomatch(globs, { dot: true })(file.shortPath)
}
