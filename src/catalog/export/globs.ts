import { comments, type Collection, type Target } from './collection.js'

/** Where each scope begins, in words that a script can replace. */
const ROOTS: Readonly<Record<Target['scope'], string>> = { home: '~/', project: '~/**/', temp: '$TMPDIR/' }

/**
 * Plain glob patterns, one a line: `~` stands for each home, `$TMPDIR` for each temp directory, `**` for any number of folders, also
 * none; a line that begins with `!` leaves out again. `#` begins a comment.
 */
export function globs(collection: Collection): string {
  const { targets, exclusions, notes } = collection
  const wanted = targets.map(({ id, title, scope, globs, comment }) =>
    section(
      `${id}: ${title}. ${comment}`,
      globs.map((glob) => ROOTS[scope] + glob),
    ),
  )
  const left = exclusions.map(({ id, scope, globs, reason }) =>
    section(
      `${id}: ${reason}`,
      globs.map((glob) => `!${ROOTS[scope]}${glob}`),
    ),
  )
  return comments(notes) + [...wanted, ...left].join('')
}

function section(comment: string, lines: readonly string[]): string {
  return `\n${comments([comment])}${lines.map((line) => `${line}\n`).join('')}`
}
