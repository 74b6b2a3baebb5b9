/**
 * Whether a path of keys falls under a credential's key pattern: `*` stands for one key or index, `**` for any number of them, also none
 * (`hooks.**.command`, `accounts.*.token`). A value below a secret one is secret too.
 */
export function isSecretKey(path: readonly string[], patterns: readonly string[]): boolean {
  return patterns.some((pattern) => fits(path, pattern.split('.')))
}

function fits(path: readonly string[], pattern: readonly string[]): boolean {
  const [first, ...rest] = pattern
  if (first === undefined) return true
  if (first === '**') {
    if (rest.length === 0) return path.length > 0
    return path.some((_, skipped) => fits(path.slice(skipped), rest))
  }
  return path.length > 0 && (first === '*' || first === path[0]) && fits(path.slice(1), rest)
}
