import { driveOf } from '../recorded-path.js'
import { treePath, type TreePath } from '../tree.js'
import { filesBelow, isDirectory, isFile, Mapping, memberOf, originalPath, type Layout, type MappedMachine, type Place } from './layout.js'
import { hostInName, resultsBelow } from './velociraptor.js'

/**
 * A Velociraptor collection of 0.6.0: `C/Users/...` at the top when the artifact names its uploads, else below `<accessor>/`; `:` and `?`
 * are gone, nothing is escaped; no uploads.json, no client record and no member times. Results lie in `<artifact>/<source>.json`
 * (evidence/collectors, Velociraptor, last point; tag v0.6.0 reporting/container.go). Told from KAPE and CyLR by the results.
 */
export const velociraptorLegacy: Layout = {
  id: 'velociraptor-legacy',
  detect: ({ tree }) =>
    tree.names('').some((name) => ARTIFACT.test(name) && isDirectory(tree, name) && isFile(tree, `${name}/Uploads.json`)),
  map,
}

/** `Windows.Collectors.File`. */
const ARTIFACT = /^[A-Z][A-Za-z0-9]*(\.[A-Z][A-Za-z0-9_]*)+$/

async function map(place: Place): Promise<MappedMachine> {
  const { tree, source } = place
  const mapping = new Mapping(place, 'velociraptor-legacy')
  const artifacts = tree.names('').filter((name) => ARTIFACT.test(name))
  const said = new Map((await Promise.all(artifacts.map((name) => resultsBelow(tree, name)))).flatMap((one) => [...one]))
  for (const [at, listing] of filesBelow(tree, '')) {
    if (artifacts.includes(at.split('/')[0]!)) continue
    const original = originalOf(at)
    const vouched = said.get(original)
    mapping.put(original, at, memberOf(tree, at, listing), {
      hash: vouched?.hash,
      ...(vouched?.mtimeNs === undefined ? {} : { mtimeNs: vouched.mtimeNs, mtimeFrom: 'manifest' }),
    })
  }
  return mapping.as(hostInName(source.name))
}

function originalOf(at: TreePath): TreePath {
  const [first, second, ...rest] = at.split('/')
  const withAccessor = driveOf(first!) === undefined && second !== undefined && driveOf(second) !== undefined
  const [drive, ...inside] = withAccessor ? [second, ...rest] : at.split('/')
  const letter = driveOf(drive!)
  return (letter === undefined ? undefined : originalPath(`${letter}\\${inside.join('\\')}`)) ?? treePath(at)
}
