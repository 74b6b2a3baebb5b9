/** A key path of a document: object keys and array indices, outermost first. */
export type KeyPath = readonly (string | number)[]

/**
 * Whether one of these patterns (catalog `Credential.keys`: `*` one key or index, `**` any depth) names the value at a path, or something
 * that holds it: what stands below a secret is secret.
 */
export function keyMatcher(patterns: readonly string[], options: { readonly ignoreCase?: boolean } = {}): (path: KeyPath) => boolean {
  const fold = (text: string) => (options.ignoreCase ? text.toLowerCase() : text)
  const wanted = patterns.map((pattern) => fold(pattern).split('.'))
  return (path) => {
    const steps = path.map((step) => fold(String(step)))
    return wanted.some((pattern) => holds(pattern, 0, steps, 0))
  }
}

function holds(pattern: readonly string[], p: number, steps: readonly string[], s: number): boolean {
  if (p === pattern.length) return true
  if (pattern[p] === '**') {
    if (p === pattern.length - 1) return s < steps.length
    for (let next = s; next <= steps.length; next++) if (holds(pattern, p + 1, steps, next)) return true
    return false
  }
  return s < steps.length && (pattern[p] === '*' || pattern[p] === steps[s]) && holds(pattern, p + 1, steps, s + 1)
}
