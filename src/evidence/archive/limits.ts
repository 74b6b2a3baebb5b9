/** Bounds on what an archive may ask of the machine that reads it. */
export interface ArchiveLimits {
  /** Most entries of one archive. */
  readonly entries: number
  /** Most bytes that one archive may come to, unpacked. */
  readonly total: number
  /** Most times larger than its packed bytes that an entry over `ratioFrom` bytes may be. JSON Lines pack to a tenth, rarely a fiftieth. */
  readonly ratio: number
  readonly ratioFrom: number
  /** Unpacked bytes of a compressed tar that are held in memory; larger ones go to a private file in the temp directory. */
  readonly memory: number
}

export const ARCHIVE_LIMITS: ArchiveLimits = {
  entries: 5_000_000,
  total: 2 ** 40,
  ratio: 200,
  ratioFrom: 64 * 2 ** 20,
  memory: 32 * 2 ** 20,
}

/** Whether so many bytes out of so few are a bomb. */
export function isBomb(unpacked: number, packed: number, limits: ArchiveLimits): boolean {
  return unpacked > limits.ratioFrom && unpacked > packed * limits.ratio
}
