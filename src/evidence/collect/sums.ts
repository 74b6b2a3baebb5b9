import { byCodeUnit } from '../../rows/index.js'
import { EVIDENCE_FOLDER } from '../manifest.js'

/** A file of a package and what it holds. */
export interface Sum {
  readonly stored: string
  readonly size: number
  readonly sha256: string
}

/** `SHA256SUMS`, as coreutils' `sha256sum -c` reads it. Stored names hold no backslash and no line break, so none needs escaping. */
export function sha256Sums(sums: readonly Sum[]): string {
  return sorted(sums)
    .map(({ sha256, stored }) => `${sha256}  ${stored}\n`)
    .join('')
}

/** A list of known hashes as hashdeep 4.4 writes and audits it, of the files below `evidence/`. */
export function hashdeep(sums: readonly Sum[]): string {
  const known = sorted(sums).filter(({ stored }) => stored.startsWith(`${EVIDENCE_FOLDER}/`))
  return [
    '%%%% HASHDEEP-1.0',
    '%%%% size,sha256,filename',
    '## In the folder of the package:',
    `## $ hashdeep -r -l -a -v -k hashdeep.txt ${EVIDENCE_FOLDER}`,
    '##',
    ...known.map(({ size, sha256, stored }) => `${size},${sha256},${stored}`),
    '',
  ].join('\n')
}

function sorted(sums: readonly Sum[]): Sum[] {
  return [...sums].sort((a, b) => byCodeUnit(a.stored, b.stored))
}
