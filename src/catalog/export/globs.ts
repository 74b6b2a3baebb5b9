import type { Collection, Target } from './collection.js'

/** Where each scope begins, in words that a script can replace. */
const ROOTS: Readonly<Record<Target['scope'], string>> = { home: '~/', project: '~/**/', temp: '$TMPDIR/' }

/**
 * Plain glob patterns, one a line: `~` stands for each home, `$TMPDIR` for each temp directory, `**` for any number of folders, also
 * none; a line that begins with `!` leaves out again. `#` begins a comment.
 */
export function globs(collection: Collection): string {
  const { targets, exclusions, notes } = collection
  return [
    ...notes.map((note) => `# ${note}`),
    ...targets.flatMap(({ id, title, scope, globs, comment }) => [
      '',
      `# ${id}: ${title}. ${comment}`,
      ...globs.map((glob) => ROOTS[scope] + glob),
    ]),
    ...exclusions.flatMap(({ id, scope, globs, reason }) => ['', `# ${id}: ${reason}`, ...globs.map((glob) => `!${ROOTS[scope]}${glob}`)]),
    '',
  ].join('\n')
}
