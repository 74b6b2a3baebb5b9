/** A part of a text, by character: `start` is in, `end` is not. */
export interface Span {
  readonly start: number
  readonly end: number
}

interface SecretRule {
  readonly what: string
  /** The group `secret` is what is masked; global, with indices. */
  readonly pattern: RegExp
}

/** Names whose values are secrets: of variables, flags, query parameters and headers. */
const SECRET_NAME =
  '[\\w.-]*(?:api[_-]?key|access[_-]?key|secret[_-]?key|private[_-]?key|signing[_-]?key|auth[_-]?key|token|secret|passw(?:or)?d|passwd|passphrase|pwd|credentials?|auth|cookie|signature|pat)'
/** A value in quotes, or up to what ends a word in a shell, a query or a header. A variable's name (`$TOKEN`) is no secret. */
const VALUE = '(?:"(?<q>[^"]+)"|\'(?<s>[^\']+)\'|(?<secret>[^\\s"\'&;|<>()`$][^\\s"\'&;|<>()`]*))'

/**
 * What counts as a secret inside a text that is evidence itself (a hook's command, a server's arguments or address). The shapes of known
 * tokens follow their issuers' published prefixes (GitHub, GitLab, Slack, AWS, Google, npm, PyPI, Hugging Face, Stripe, SendGrid, Letta).
 */
const RULES: readonly SecretRule[] = [
  { what: 'password in an address', pattern: /[a-z][a-z0-9+.-]*:\/\/[^\s/:@"'<>]*:(?<secret>[^\s/@"'<>]+)@/dgi },
  { what: 'token in the place of a user name in an address', pattern: /[a-z][a-z0-9+.-]*:\/\/(?<secret>[^\s/:@"'<>]{8,})@/dgi },
  { what: 'value of a variable, parameter or field', pattern: new RegExp(`(?<![\\w])${SECRET_NAME}["']?\\s*[=:]\\s*${VALUE}`, 'dgi') },
  { what: 'value of a flag', pattern: new RegExp(`(?<![\\w-])--?${SECRET_NAME}[\\s=]+(?!-)${VALUE}`, 'dgi') },
  {
    what: 'authorization header',
    pattern:
      /authorization["']?\s*[:=]\s*["']?(?:(?:bearer|basic|token|digest)\s+)?(?!(?:bearer|basic|token|digest)\b)(?<secret>[^\s"'$][^\s"']*)/dgi,
  },
  { what: 'bearer or basic credentials', pattern: /\b(?:bearer|basic)\s+(?<secret>[\w.~+/=-]{6,})/dgi },
  {
    what: 'user and password of a request',
    pattern: /(?<![\w-])(?:-u|--user|--proxy-user)[\s=]*["']?[^\s:"']+:(?<secret>[^\s"'$][^\s"']*)/dg,
  },
  { what: 'address that is a secret', pattern: /hooks\.slack\.com\/(?:services|workflows|triggers)\/(?<secret>[\w/-]+)/dgi },
  { what: 'address that is a secret', pattern: /discord(?:app)?\.com\/api\/webhooks\/\d+\/(?<secret>[\w-]+)/dgi },
  { what: 'address that is a secret', pattern: /api\.telegram\.org\/bot(?<secret>\d+:[\w-]+)/dgi },
  {
    what: 'token of a known shape',
    pattern:
      /(?<![A-Za-z0-9])(?<secret>(?:sk-|sk_|rk_|pk_|at-|gh[opsur]_|github_pat_|glpat-|glptt-|xox[a-z]-|xapp-|AKIA|ASIA|AIza|ya29\.|hf_|npm_|pypi-|dop_v1_|shpat_|whsec_|SG\.|dckr_pat_|lin_api_|ATATT)[\w.~+/=-]{8,})/dg,
  },
  { what: 'JSON web token', pattern: /(?<![\w-])(?<secret>eyJ[\w-]{8,}\.[\w-]+\.[\w-]*)/dg },
  { what: 'private key', pattern: /-----BEGIN [A-Z ]*PRIVATE KEY-----(?<secret>[^-]+)/dg },
  { what: 'long random word', pattern: /(?<![\w/+.-])(?<secret>(?=[\w-]*[a-z])(?=[\w-]*[A-Z])(?=[\w-]*\d)[\w-]{40,})(?![\w/.-])/dg },
]

/** The secrets inside a text, in order, without overlaps. */
export function secretsIn(text: string): Span[] {
  const found = RULES.flatMap(({ pattern }) => [...text.matchAll(pattern)].map(spanOf))
  return merged(found)
}

/** Whether an argument is a flag whose value, a secret, is the next argument. */
export function announcesSecret(argument: string): boolean {
  return FLAG_ALONE.test(argument)
}
const FLAG_ALONE = new RegExp(`^--?${SECRET_NAME}$`, 'i')

function spanOf(match: RegExpExecArray): Span {
  const groups = match.indices!.groups!
  const [start, end] = (groups.secret ?? groups.q ?? groups.s)!
  return { start, end }
}

function merged(spans: readonly Span[]): Span[] {
  const inOrder: Span[] = []
  for (const span of [...spans].sort((a, b) => a.start - b.start || a.end - b.end)) {
    const last = inOrder.at(-1)
    if (!last || span.start >= last.end) inOrder.push(span)
    else if (span.end > last.end) inOrder[inOrder.length - 1] = { start: last.start, end: span.end }
  }
  return inOrder
}

/** What stands in the place of a secret. */
export function withheld(characters: number): string {
  return `[withheld: ${characters} characters]`
}

/** A text with the secrets inside masked. */
export function withoutSecrets(text: string): string {
  let kept = ''
  let from = 0
  for (const { start, end } of secretsIn(text)) {
    kept += text.slice(from, start) + withheld([...text.slice(start, end)].length)
    from = end
  }
  return kept + text.slice(from)
}
