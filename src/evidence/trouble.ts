/** What kept a path from being read, in words for a person; `path` is logical, as rows name it. */
export class EvidenceTrouble extends Error {
  constructor(
    readonly path: string,
    readonly problem: string,
  ) {
    super(`${path}: ${problem}`)
    this.name = 'EvidenceTrouble'
  }
}

/** A person named evidence that cannot be used at all (no such directory, a file where a directory is needed). */
export class EvidenceUsageError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'EvidenceUsageError'
  }
}

const WORDS: Record<string, string> = {
  EACCES: 'cannot be opened: permission denied',
  EPERM: 'cannot be opened: not permitted',
  ELOOP: 'is a symbolic link, which is not followed',
  ENOENT: 'was gone when it was opened',
  EIO: 'cannot be read: input/output error',
  EMFILE: 'cannot be opened: too many open files',
  ENXIO: 'cannot be opened: nothing at the other end',
}

/** The words for an error of the operating system. */
export function problemOf(error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code
  return (code && WORDS[code]) ?? `cannot be read${code ? `: ${code}` : ''}`
}
