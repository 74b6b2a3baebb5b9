import type { JsonObject } from '../json.js'
import type { Turn } from '../file-rows.js'
import { originOf } from '../pi/messages.js'

/** What a user line says of itself, besides its text. */
export interface UserLine {
  readonly isMeta?: boolean | null
  readonly isCompactSummary?: boolean | null
  readonly isSidechain?: boolean | null
  readonly origin?: { readonly kind?: string | null } | null
}

const BASH_INPUT = /^<bash-input>([\s\S]*)<\/bash-input>$/
const COMMAND = /^\s*<command-(?:message|name)>/
const LOCAL_OUTPUT = /^<(?:local-command-stdout|local-command-stderr|bash-stdout|bash-stderr)>/
const INTERRUPTED = /^\[Request interrupted by user/

/**
 * A text that stands as a user's: typed, or written by the program in that role (pi-and-claude-code 2.3). What a person typed is `user`;
 * what the program put there is `system`.
 */
export function userTurn(text: string, line: UserLine): Turn {
  const kind = systemKind(text, line)
  if (kind) return { turn_type: 'system', text, details: kind }
  if (line.isSidechain === true) return { turn_type: 'user', text, details: { origin: 'parent-agent' } }
  return { turn_type: 'user', text: commandText(text) ?? text, details: originOf([text]) }
}

function systemKind(text: string, { isMeta, isCompactSummary, origin }: UserLine): JsonObject | undefined {
  if (isCompactSummary === true) return { kind: 'session-summary', summary: text }
  if (origin?.kind === 'task-notification' || text.startsWith('<task-notification>'))
    return { kind: 'injected-context', origin: 'task-notification' }
  if (isMeta === true) return { kind: 'injected-context' }
  if (LOCAL_OUTPUT.test(text)) return { kind: 'local-output' }
  if (INTERRUPTED.test(text)) return { kind: 'interrupted' }
  return undefined
}

/** What the user typed to get a command: `!ls` or `/model name`; undefined where the text is not a command's record. */
export function commandText(text: string): string | undefined {
  const bash = BASH_INPUT.exec(text)?.[1]
  if (bash !== undefined) return `!${bash}`
  if (!COMMAND.test(text)) return undefined
  const name = inside(text, 'command-name')
  if (name === undefined) return undefined
  const args = inside(text, 'command-args') ?? ''
  return args === '' ? name : `${name} ${args}`
}

/** What stands between the first such tag and its end. */
function inside(text: string, tag: string): string | undefined {
  const start = text.indexOf(`<${tag}>`)
  const end = start === -1 ? -1 : text.indexOf(`</${tag}>`, start)
  return end === -1 ? undefined : text.slice(start + tag.length + 2, end)
}
