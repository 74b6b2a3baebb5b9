import { code, count, h, longText, oneLine, plural, shortLocator, when } from './dom.js'
import { copyOf, iso, locatorOf, mateOf, noteOf, outcomeOf, report, sessionRows, textOf, timeOf, toolOf, typeOf } from './data.js'

/** @import {Child} from './dom.js' */

/** A conversation as it is read: prompts, replies, thinking, calls with their results; what a program added is folded, and so are a fork's copies. */

const BLOCKS_AT_ONCE = 100
const RESULT_SHOWN = 1200

/** Who wrote a text that stands as a prompt. */
const ORIGINS = /** @type {Record<string, string>} */ ({
  'task-notification': 'Notification of a background task',
  'scheduled-task': 'Prompt of a scheduled task',
  channel: 'Prompt from a chat channel',
  'claude-subconscious': 'Sent by Claude Subconscious',
  'dream-import': 'Imported from another tool',
})

/** @param {number} session */
export function conversation(session) {
  const groups = grouped(sessionRows[session])
  const list = h('ol', { class: 'conversation' })
  const button = h('button', { type: 'button', class: 'more', click: () => add() })
  let at = 0
  const add = () => {
    for (const group of groups.slice(at, at + BLOCKS_AT_ONCE))
      list.append(h('li', {}, group.length > 1 || copyOf(group[0]) ? copies(group) : turn(group[0])))
    at += BLOCKS_AT_ONCE
    const left = groups.length - at
    button.hidden = left <= 0
    button.textContent = `Show ${count(Math.min(BLOCKS_AT_ONCE, left))} more of ${count(left)}`
  }
  add()
  return h(
    'div',
    { class: 'opened-conversation' },
    h('p', { class: 'meta' }, 'From ', ...report.sessions[session].files.map((/** @type {string} */ file) => code(file))),
    list,
    button,
  )
}

/**
 * Runs of copied rows together; results that stand with their call left out.
 *
 * @param {number[]} list
 */
function grouped(list) {
  /** @type {number[][]} */
  const groups = []
  for (const row of list) {
    if (typeOf(row) === 'tool_result' && mateOf(row) !== -1) continue
    const last = groups[groups.length - 1]
    if (copyOf(row) && last && copyOf(last[0])) last.push(row)
    else groups.push([row])
  }
  return groups
}

/** @param {number[]} group */
function copies(group) {
  const file = copyOf(group[0])
  const list = h('ol', { class: 'conversation' })
  const fold = h(
    'details',
    { class: 'fold' },
    h('summary', {}, `${plural(group.length, 'row')} copied from another conversation by a fork, the first from `, code(file)),
    list,
  )
  fold.addEventListener('toggle', () => {
    if (fold.open && list.childElementCount === 0) list.append(...group.map((row) => h('li', {}, turn(row))))
  })
  return fold
}

/** Set by the page: the reader comes before the list that it points into. */
let showRow = (/** @type {number} */ _row) => {}

/** @param {(row: number) => void} show */
export function showRowWith(show) {
  showRow = show
}

/** @param {number} row */
function place(row) {
  return shortLocator(locatorOf(row), () => showRow(row))
}

/** @param {number} row */
function turn(row) {
  return (TURNS[typeOf(row)] ?? TURNS.system)(row)
}

const TURNS = /** @type {Record<string, (row: number) => HTMLElement>} */ ({
  user: (row) => article(row, ORIGINS[noteOf(row)] ?? 'Prompt', longText(textOf(row))),
  assistant: (row) => article(row, 'Reply', longText(textOf(row))),
  thinking: (row) => article(row, 'Thinking', longText(textOf(row), RESULT_SHOWN)),
  tool_use: (row) => article(row, `Call: ${oneLine(toolOf(row), 80) || 'unnamed tool'}`, longText(textOf(row)), result(row)),
  tool_result: (row) => article(row, `Result without its call: ${oneLine(toolOf(row), 80)}`, longText(textOf(row), RESULT_SHOWN)),
  system: (row) =>
    noteOf(row) === 'injected-context'
      ? folded(row, `Context that the program added, ${plural(textOf(row).length, 'character')}`)
      : noteOf(row) === 'compaction'
        ? folded(row, 'Compaction: the program summed up what came before')
        : article(row, noteOf(row) || 'Notice', longText(textOf(row), RESULT_SHOWN)),
})

/** @param {number} call */
function result(call) {
  const mate = mateOf(call)
  const outcome = h('span', { class: `outcome ${outcomeOf(call).replace(' ', '-')}` }, outcomeOf(call))
  if (mate === -1) return h('div', { class: 'result' }, h('p', { class: 'meta' }, 'No result is recorded.'))
  return h(
    'div',
    { class: 'result' },
    h('p', { class: 'meta' }, 'Result: ', outcome, ' ', when(iso(timeOf(mate))), ' ', place(mate)),
    longText(textOf(mate), RESULT_SHOWN),
  )
}

/**
 * @param {number} row
 * @param {string} title
 * @param {Child[]} content
 */
function article(row, title, ...content) {
  return h(
    'article',
    { class: `turn ${typeOf(row)}` },
    h('p', { class: 'meta' }, h('strong', {}, title), ' ', when(iso(timeOf(row))), ' ', place(row)),
    ...content,
  )
}

/**
 * @param {number} row
 * @param {string} title
 */
function folded(row, title) {
  const fold = h('details', { class: 'fold' }, h('summary', {}, `${title} `, when(iso(timeOf(row))), ' ', place(row)))
  fold.addEventListener('toggle', () => {
    if (fold.open && fold.childElementCount === 1) fold.append(longText(textOf(row)))
  })
  return fold
}
