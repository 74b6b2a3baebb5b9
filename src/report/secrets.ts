import type { SecretLintRuleContext, SecretLintRuleReportDescriptor, SecretLintSourceCode } from '@secretlint/types'

/** Where a secret value stands in a text (UTF-16 offsets), and which rule found it. */
export interface Secret {
  readonly rule: string
  readonly start: number
  readonly end: number
}

/** Rules of the preset that look at more than the text: comments that switch rules off, which evidence could carry, and files on disk. */
const NOT_FOR_TEXTS = ['@secretlint/secretlint-rule-filter-comments', '@secretlint/secretlint-rule-gcp']

/**
 * Forms that secretlint 11.7 does not know, or knows only with a file name. The value is the group `value`, else the whole match.
 * Each can begin only once in a run of its own characters, so that a hostile text costs no more than its length.
 */
const FORMS: readonly { readonly rule: string; readonly form: RegExp }[] = [
  { rule: 'letta-key', form: /(?<![\w=+/-])sk-let-[\w=+/-]{16,}/g },
  { rule: 'anthropic-key', form: /(?<![\w-])sk-ant-[\w-]{16,}/g },
  { rule: 'provider-key', form: /(?<![\w-])sk-(?=[A-Za-z_-]{0,64}\d)[\w-]{32,}/g },
  { rule: 'google-key', form: /(?<![\w-])AIza[\w-]{35}(?![\w-])/g },
  { rule: 'gitlab-token', form: /(?<![\w-])glpat-[\w-]{20,}/g },
  { rule: 'slack-session', form: /(?<![\w-])xox[a-z]-[\w-]{10,}/g },
  { rule: 'telegram-token', form: /\b\d{8,10}:[\w-]{35}(?![\w-])/g },
  { rule: 'discord-token', form: /(?<![\w-])[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,}/g },
  { rule: 'json-web-token', form: /(?<![\w-])eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]*/g },
  { rule: 'bearer-token', form: /\bbearer\s{1,4}(?<value>[\w.~+/-]{16,}=*)/gi },
  { rule: 'npm-auth-token', form: /_authToken=(?<value>[^\s"'$][^\s"']*)/g },
  {
    rule: 'private-key',
    form: /-----BEGIN [A-Z ]{0,24}PRIVATE KEY[A-Z ]{0,9}-----(?=[^]{0,200}?[\w+/=]{40})(?<value>(?:[^-"'<>]|-(?!--))+)/g,
  },
  { rule: 'url-password', form: /:\/\/[^\s/:@"'<>]{0,128}:(?<value>[^\s/@$"'<>{}]{4,256})@/g },
  { rule: 'environment-secret', form: /(?:PASSWORD|PASSWD|SECRET|TOKEN|API_?KEY|ACCESS_?KEY)=["']?(?<value>[^\s"'$<>{}()]{8,})/g },
]

/** No text without one of these can hold what any rule looks for: one cheap pass spares most texts the rules. */
const HINT =
  /sk-|AIza|glpat-|xox[a-z]-|xapp-|hooks\.slack|\d{8}:|\.[\w-]{6}\.[\w-]{27}|eyJ|bearer\s|_authToken|npm_|x-oauth|PRIVATE KEY|SG\.|shp(?:pa|ca|at|ss)_|gh[pousr]_|github_pat_|lin_api_|ops_ey|mongodb|mysql|postgres|:\/\/[^\s/@]{0,400}@|(?:PASSWORD|PASSWD|SECRET|TOKEN|API_?KEY)=|ACCESS_?KEY["']?\s*(?:=|:)/i

type Check = (text: string) => readonly Secret[]

/** A part of a text. Patterns are tried on parts: a megabyte that was made for it exhausts the stack of the engine that runs them. */
interface Window {
  readonly from: number
  readonly to: number
}

const WINDOW = 64 * 1024
/** Longer than any key that is a text of its own, so that each lies whole in some part. */
const OVERLAP = 16 * 1024

function* windows(text: string): Generator<Window> {
  for (let from = 0; ; from += WINDOW - OVERLAP) {
    const to = Math.min(text.length, from + WINDOW)
    yield { from, to }
    if (to === text.length) return
  }
}

/** Where the word that goes on at `at` ends: a secret that reaches the end of its part may go on in the next. */
function wordEnd(text: string, at: number): number {
  const rest = /[\s"'<>]/g
  rest.lastIndex = at
  return rest.exec(text)?.index ?? text.length
}

/** Finds secrets in texts by secretlint's recommended rules and the forms above. Load it once: the rules take a moment to import. */
export class Secrets {
  private constructor(private readonly checks: readonly Check[]) {}

  static async load(): Promise<Secrets> {
    const { rules } = await import('@secretlint/secretlint-rule-preset-recommend')
    const linted = rules.filter(({ meta }) => !NOT_FOR_TEXTS.includes(meta.id)).map((rule) => ruleCheck(rule))
    return new Secrets([...linted, ...FORMS.map(formCheck)])
  }

  /** Every secret of a text, in order, overlapping ones as one. */
  find(text: string): Secret[] {
    if (!HINT.test(text)) return []
    const found = [...windows(text)].flatMap((window) => this.#inWindow(text, window))
    found.sort((a, b) => a.start - b.start || b.end - a.end)
    const apart: Secret[] = []
    for (const secret of found) {
      const last = apart.at(-1)
      if (last && secret.start < last.end) apart[apart.length - 1] = { ...last, end: Math.max(last.end, secret.end) }
      else apart.push(secret)
    }
    return apart
  }

  #inWindow(text: string, { from, to }: Window): Secret[] {
    const part = from === 0 && to === text.length ? text : text.slice(from, to)
    const found = this.checks.flatMap((check) => check(part))
    return found.map(({ rule, start, end }) => ({ rule, start: from + start, end: from + end === to ? wordEnd(text, to) : from + end }))
  }

  /** The text with `[masked: N characters]` in place of each secret. */
  mask(text: string): string {
    return masked(text, this.find(text))
  }
}

export function masked(text: string, secrets: readonly Secret[]): string {
  if (secrets.length === 0) return text
  let result = ''
  let at = 0
  for (const { start, end } of secrets) {
    result += `${text.slice(at, start)}[masked: ${end - start} characters]`
    at = end
  }
  return result + text.slice(at)
}

type Rule = (typeof import('@secretlint/secretlint-rule-preset-recommend'))['rules'][number]

/**
 * One rule of the preset, run on its own: `@secretlint/core` keeps performance marks of every text it has seen, which a hundred
 * thousand rows cannot afford.
 */
function ruleCheck(rule: Rule): Check {
  let reports: SecretLintRuleReportDescriptor[] = []
  const context: SecretLintRuleContext = {
    sharedOptions: {},
    createTranslator: () => (messageId, props) => ({ message: String(messageId), messageId: String(messageId), data: props }),
    report: (report) => reports.push(report),
    ignore: () => {},
  }
  const { file } = rule.create(context, {})
  const name = rule.meta.id.replace('@secretlint/secretlint-rule-', '')
  return (text) => {
    reports = []
    file?.(textSource(text))
    return reports.map((report) => ({ rule: name, ...span(text, report) }))
  }
}

/** What rules that read texts ask of a source; it has no path, so no rule can open one. */
function textSource(content: string): SecretLintSourceCode {
  const none = () => undefined
  const source: Partial<SecretLintSourceCode> = {
    content,
    contentType: 'text',
    ext: '',
    hasBOM: false,
    getFilePath: none,
    getPhysicalFilePath: none,
  }
  return source as SecretLintSourceCode
}

/**
 * A rule whose secret is a group of its pattern reports a range that starts with the pattern but is only as long as the group (aws,
 * npm in 11.7.1): its end would stay readable. The value that the message carries says where the secret really stands.
 */
function span(text: string, { range, message }: SecretLintRuleReportDescriptor): { start: number; end: number } {
  const [from, to] = range
  const values = Object.values((message.data ?? {}) as Record<string, unknown>)
  for (const value of values) {
    const start = typeof value === 'string' && value.length === to - from ? text.indexOf(value, from) : -1
    if (start !== -1) return { start, end: start + (to - from) }
  }
  return { start: from, end: to }
}

function formCheck({ rule, form }: (typeof FORMS)[number]): Check {
  return (text) =>
    [...text.matchAll(form)].map((match) => {
      const value = match.groups?.value ?? match[0]
      const start = match.index + match[0].lastIndexOf(value)
      return { rule, start, end: start + value.length }
    })
}
