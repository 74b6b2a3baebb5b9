import { z } from 'zod'
import { phrases, printed } from '../../rows/index.js'
import { columnText } from '../columns.js'
import type { Turn } from '../file-rows.js'
import { isObject, type JsonObject } from '../json.js'
import { known, optionalFlag, optionalId, optionalText, optionalTime } from '../shapes.js'
import { argumentSummary } from './summary.js'

/**
 * A message of pi-ai, as pi and the local backend of Letta Code store it (letta-stores 4.4; pi-and-claude-code 1.4; seen in pi 0.73.1 and
 * 1.6.0, Letta Code 0.25.9 to 0.32.18). `parts` is the older UI form (Letta Code 0.24.13 to 0.25.7).
 */
export const Message = z.looseObject({
  id: optionalId,
  role: optionalText,
  otid: z.unknown().optional(),
  timestamp: optionalTime,
  metadata: z
    .looseObject({
      created_at: optionalTime,
      updated_at: z.unknown().optional(),
      agent_id: optionalText,
      conversation_id: optionalText,
      provider: z.unknown().optional(),
      compaction: z
        .looseObject({
          summary: z.unknown().optional(),
          stats: z
            .looseObject({
              context_tokens_before: z.unknown().optional(),
              ...known('trigger context_tokens_after context_window messages_count_before messages_count_after'),
            })
            .nullish(),
        })
        .nullish(),
    })
    .nullish(),
  content: z.union([z.string(), z.array(z.unknown())]).nullish(),
  parts: z.array(z.unknown()).nullish(),
  api: z.unknown().optional(),
  provider: optionalText,
  model: optionalText,
  responseModel: optionalText,
  responseId: z.unknown().optional(),
  diagnostics: z.unknown().optional(),
  usage: z.unknown().optional(),
  stopReason: optionalText,
  errorMessage: z.unknown().optional(),
  toolCallId: optionalId,
  toolName: optionalText,
  isError: optionalFlag,
})
export type Message = z.infer<typeof Message>

/** What a message gave besides its turns. */
export interface Turns {
  readonly turns: readonly Turn[]
  /** Parts without text. */
  readonly empty: number
  /** Parts of a kind that is not known, in words. */
  readonly odd: readonly string[]
}

/** Names that stand where no model is known: the column keeps them, they make no model row. */
const PLACEHOLDERS = new Set(['local', 'legacy-local'])

/** Follows the model of one conversation: a row at the first, and at each change. */
export class ModelTrack {
  #current: string | undefined

  to(model: string, provider: unknown): Turn | undefined {
    if (model === '' || PLACEHOLDERS.has(model) || model === this.#current) return undefined
    const previous = this.#current
    this.#current = model
    const text = previous === undefined ? phrases.model.say({ model, provider }) : phrases.modelChange.say({ previous, model, provider })
    const values = previous === undefined ? { model, provider } : { previous, model, provider }
    return { turn_type: 'system', text, model, details: { kind: 'model', ...values } }
  }
}

/** Collects what one message gives. */
class Collector {
  readonly turns: Turn[] = []
  readonly odd: string[] = []
  empty = 0

  add(turn: Turn): void {
    if (turn.text === '' && (turn.turn_type === 'assistant' || turn.turn_type === 'thinking')) this.empty++
    else this.turns.push(turn)
  }
}

/** The turns of an assistant message, one for each content part, in order; an error or abort adds one, so that it is not invisible. */
export function assistantTurns(message: Message, models: ModelTrack, losslessArguments: (part: number) => unknown): Turns {
  const found = new Collector()
  const model = columnText(message.responseModel) || columnText(message.model)
  const change = models.to(columnText(message.model), message.provider)
  if (change) found.add(change)
  parts(message.content).forEach((part, i) => assistantPart(part, i, model, found, losslessArguments))
  if (message.stopReason === 'error' || message.stopReason === 'aborted') {
    const values = { error_message: message.errorMessage }
    found.add({ turn_type: 'system', text: phrases.error.say(values), model, details: { kind: 'error', ...values } })
  }
  return found
}

function assistantPart(part: unknown, index: number, model: string, found: Collector, losslessArguments: (part: number) => unknown): void {
  if (!isObject(part)) found.odd.push(`field content.${index} is not a part`)
  else if (part.type === 'text') found.add({ turn_type: 'assistant', text: columnText(part.text), model })
  else if (part.type === 'thinking')
    found.add({ turn_type: 'thinking', text: part.redacted === true ? '[redacted thinking]' : columnText(part.thinking), model })
  else if (part.type === 'toolCall') {
    const text = argumentSummary(part.arguments, () => losslessArguments(index))
    found.add({ turn_type: 'tool_use', text, model, tool_name: columnText(part.name), tool_use_id: columnText(part.id) })
  } else found.odd.push(unknownPart(part, index))
}

/** A tool's result: its texts and images joined, whatever `isError` says. */
export function toolResultTurns(message: Message): Turns {
  const found = new Collector()
  const texts = parts(message.content).flatMap((part, i) => textOrImage(part, i, found))
  found.add({
    turn_type: 'tool_result',
    text: texts.join('\n'),
    tool_name: columnText(message.toolName),
    tool_use_id: columnText(message.toolCallId),
    details: typeof message.isError === 'boolean' ? { is_error: message.isError } : {},
  })
  return found
}

/**
 * What a user message holds: the context that the program injected, one turn for each part that begins with it, and the rest as one turn
 * (rows.md, messages.jsonl).
 */
export function userTurns(message: Message): Turns {
  const found = new Collector()
  const rest: string[] = []
  for (const [i, part] of parts(message.content).entries()) {
    const [text] = textOrImage(part, i, found)
    if (text === undefined) continue
    const { context, typed } = isObject(part) && part.type === 'image' ? { context: '', typed: text } : splitContext(text)
    if (context !== '') found.turns.push({ turn_type: 'system', text: context, details: { kind: 'injected-context' } })
    if (typed.trim() !== '') rest.push(typed)
    else if (context === '') found.empty++
  }
  if (rest.length > 0) found.turns.push({ turn_type: 'user', text: rest.join('\n'), details: originOf(rest) })
  return found
}

/** Texts and images of a content as one text, for records whose text stands as it is. */
export function plainText(content: Message['content']): { readonly text: string; readonly odd: readonly string[] } {
  const found = new Collector()
  const texts = parts(content).flatMap((part, i) => textOrImage(part, i, found))
  return { text: texts.join('\n'), odd: found.odd }
}

const CONTEXT_START = '<system-reminder>'
const CONTEXT_END = '</system-reminder>'

function splitContext(text: string): { context: string; typed: string } {
  const start = text.length - text.trimStart().length
  const end = text.lastIndexOf(CONTEXT_END)
  if (!text.startsWith(CONTEXT_START, start) || end === -1) return { context: '', typed: text }
  const cut = end + CONTEXT_END.length
  return { context: text.slice(start, cut), typed: text.slice(cut).replace(/^[\r\n]+/, '') }
}

/** How texts begin that a machine wrote as a whole (letta-stores 5.5). */
const ORIGINS: readonly (readonly [string, RegExp])[] = [
  ['task-notification', /^<task-notification>/],
  ['scheduled-task', /^Scheduled task "[^\n]*" is firing\.\n/],
  ['channel', /^<channel-notification[ >]/],
  ['claude-subconscious', /^<claude_code_session_(?:update|start)>/],
]

/** `details.origin` of a user's text whose parts all come from one machine, with the session of another agent that it names. */
export function originOf(texts: readonly string[]): JsonObject {
  const origins = new Set(texts.map((text) => ORIGINS.find(([, begins]) => begins.test(text))?.[0]))
  const [origin] = origins
  return origins.size === 1 && origin !== undefined ? { origin, ...linksOf(texts[0]!) } : {}
}

/** An update of Claude Subconscious begins with the session that it relays (claude-subconscious scripts/send_messages_to_letta.ts). */
const RELAYED_SESSION = /^<claude_code_session_(?:update|start)>\s*<session_id>([^<\n]+)<\/session_id>/

function linksOf(text: string): JsonObject {
  const session_id = RELAYED_SESSION.exec(text)?.[1]
  return session_id === undefined ? {} : { links: [{ agent: 'claude-code', session_id }] }
}

/** The turns of a message in the older UI form: tool calls carry their results with them. */
export function uiTurns(message: Message, losslessInput: (part: number) => unknown): Turns {
  if (message.role === 'user') return userTurns({ ...message, content: (message.parts ?? []).map(asImage) })
  const found = new Collector()
  for (const [i, part] of (message.parts ?? []).entries()) {
    if (!isObject(part)) found.odd.push(`field parts.${i} is not a part`)
    else if (part.type === 'text') found.add({ turn_type: 'assistant', text: columnText(part.text) })
    else if (part.type === 'reasoning') found.add({ turn_type: 'thinking', text: columnText(part.text) })
    else if (part.type === 'step-start') found.empty++
    else if (typeof part.type === 'string' && part.type.startsWith('tool-')) uiToolCall(part, () => losslessInput(i), found)
    else found.odd.push(unknownPart(part, i))
  }
  return found
}

function uiToolCall(part: JsonObject, losslessInput: () => unknown, found: Collector): void {
  const call = { tool_name: String(part.type).slice('tool-'.length), tool_use_id: columnText(part.toolCallId) }
  found.add({ turn_type: 'tool_use', text: argumentSummary(part.input, losslessInput), ...call })
  const failed = part.state === 'output-error'
  const denied = part.state === 'output-denied'
  if (!failed && !denied && part.state !== 'output-available') return
  const text = failed
    ? columnText(part.errorText)
    : part.output === undefined && denied
      ? columnText(part.errorText)
      : columnText(part.output)
  found.add({ turn_type: 'tool_result', text, ...call, details: { is_error: denied || failed } })
}

function asImage(part: unknown): unknown {
  return isObject(part) && part.type === 'file' ? { type: 'image', mimeType: part.mediaType } : part
}

function textOrImage(part: unknown, index: number, found: Collector): string[] {
  if (isObject(part) && part.type === 'text') return [columnText(part.text)]
  if (isObject(part) && part.type === 'image') return [`[image ${printed(part.mimeType)}]`]
  found.odd.push(isObject(part) ? unknownPart(part, index) : `field content.${index} is not a part`)
  return []
}

function unknownPart(part: JsonObject, index: number): string {
  return `field content.${index} is of an unknown kind (${printed(part.type)})`
}

/** Content is a list of parts, or one text. */
function parts(content: Message['content']): readonly unknown[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return content ?? []
}
