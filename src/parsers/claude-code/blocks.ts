import { compactJson, printed, type TurnType } from '../../rows/index.js'
import { columnText } from '../columns.js'
import { isObject, type JsonObject } from '../json.js'
import type { Turn } from '../file-rows.js'
import { argumentSummary } from '../pi/summary.js'
import { lookUp } from '../table.js'

/** What the blocks of one message gave. */
export interface Blocks {
  readonly turns: Turn[]
  /** Blocks without text. */
  empty: number
  /** Blocks of a kind that is not known, in words. */
  readonly odd: string[]
}

export function noBlocks(): Blocks {
  return { turns: [], empty: 0, odd: [] }
}

/** Content is a list of blocks, or one text. */
export function blocksOf(content: unknown): readonly unknown[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  return Array.isArray(content) ? content : []
}

type BlockReader = (block: JsonObject, lossless: () => unknown) => Turn

/** Blocks of an answer; those of tools that the server runs look like others, under names of their own (pi-and-claude-code 2.3). */
const ASSISTANT_BLOCKS: Record<string, BlockReader> = {
  text: ({ text }) => ({ turn_type: 'assistant', text: columnText(text) }),
  thinking: ({ thinking }) => ({ turn_type: 'thinking', text: columnText(thinking) }),
  redacted_thinking: () => ({ turn_type: 'thinking', text: '[redacted thinking]' }),
  tool_use: toolUse,
  server_tool_use: toolUse,
  mcp_tool_use: toolUse,
}

function toolUse({ id, name, input }: JsonObject, lossless: () => unknown): Turn {
  return { turn_type: 'tool_use', text: argumentSummary(input, lossless), tool_name: columnText(name), tool_use_id: columnText(id) }
}

/** The turns of an answer's blocks; `losslessInput` gives a block's input with recorded digits and key order. */
export function assistantBlocks(content: unknown, losslessInput: (block: number) => unknown): Blocks {
  const found = noBlocks()
  blocksOf(content).forEach((block, i) => {
    const type = isObject(block) ? columnText(block.type) : ''
    const reader = lookUp(ASSISTANT_BLOCKS, type)
    if (!isObject(block)) found.odd.push(`field message.content.${i} is not a block`)
    else if (reader)
      add(
        found,
        reader(block, () => losslessInput(i)),
      )
    else if (type.endsWith('_tool_result')) add(found, resultTurn(block, found.odd))
    else found.odd.push(unknownBlock(block, i))
  })
  return found
}

function add(found: Blocks, turn: Turn): void {
  if (turn.text === '' && (turn.turn_type === 'assistant' || turn.turn_type === 'thinking')) found.empty++
  else found.turns.push(turn)
}

/** A tool's result: its text, or texts and placeholders of its blocks joined. */
export function resultTurn(block: JsonObject, odd: string[]): Turn {
  const { content } = block
  const text = Array.isArray(content) ? content.map((part) => plainBlock(part) ?? compactOdd(part, odd)).join('\n') : columnText(content)
  const details = typeof block.is_error === 'boolean' ? { is_error: block.is_error } : {}
  return { turn_type: 'tool_result' satisfies TurnType, text, tool_use_id: columnText(block.tool_use_id), details }
}

function compactOdd(part: unknown, odd: string[]): string {
  odd.push('a part of a tool result is of an unknown kind; it is shown as recorded')
  return compactJson(part)
}

/** Text as it is, other content as a placeholder; undefined for what is not known. */
export function plainBlock(block: unknown): string | undefined {
  if (typeof block === 'string') return block
  if (!isObject(block)) return undefined
  if (block.type === 'text') return columnText(block.text)
  if (block.type === 'image' || block.type === 'document')
    return `[${block.type} ${printed(isObject(block.source) ? block.source.media_type : undefined)}]`
  if (block.type === 'tool_reference') return `[tool ${printed(block.tool_name)}]`
  return undefined
}

export function unknownBlock(block: JsonObject, index: number): string {
  return `field message.content.${index} is of an unknown kind (${printed(block.type)})`
}
