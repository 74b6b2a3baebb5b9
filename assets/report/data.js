/**
 * The rows of the report, by position, and what they mean.
 *
 * @typedef {{row: number, locator: string, time: string, turn_type: string, session: string, outcome?: string, quote: string}} RowRef
 * @typedef {[time: number | null, type: number, session: number, sessionId: number, user: number, project: number, model: number, tool: number,
 *   file: number, line: number, mate: number, outcome: number, note: number, copy: number, call: number, text: string]} RawRow
 */

/** @param {string} name */
function blocks(name) {
  return [...document.querySelectorAll(`script[data-block="${name}"]`)].map((block) => {
    const data = JSON.parse(block.textContent ?? 'null')
    block.remove()
    return data
  })
}

/** The model that every view of the report shows (schemas/report.schema.json). @type {any} */
export const report = blocks('report-data')[0]
/** @type {string[]} */
export const strings = blocks('strings')[0]
/** @type {RawRow[]} */
export const rows = blocks('rows').flat()
/** @type {number[][]} */
export const findingRows = blocks('findings')[0]

export const TYPES = /** @type {string[]} */ (report.turn_types_order)
export const TYPE_NAMES = /** @type {Record<string, string>} */ ({
  user: 'prompt',
  assistant: 'reply',
  thinking: 'thinking',
  tool_use: 'call',
  tool_result: 'result',
  system: 'system',
})

export const timeOf = (/** @type {number} */ i) => rows[i][0]
export const typeOf = (/** @type {number} */ i) => TYPES[rows[i][1]]
export const sessionOf = (/** @type {number} */ i) => rows[i][2]
export const sessionIdOf = (/** @type {number} */ i) => strings[rows[i][3]]
export const userOf = (/** @type {number} */ i) => strings[rows[i][4]]
export const projectOf = (/** @type {number} */ i) => strings[rows[i][5]]
export const modelOf = (/** @type {number} */ i) => strings[rows[i][6]]
export const toolOf = (/** @type {number} */ i) => strings[rows[i][7]]
export const locatorOf = (/** @type {number} */ i) => strings[rows[i][8]] + (rows[i][9] > 0 ? `:${rows[i][9]}` : '')
export const mateOf = (/** @type {number} */ i) => rows[i][10]
export const outcomeOf = (/** @type {number} */ i) => (rows[i][11] === -1 ? '' : /** @type {string} */ (report.outcomes[rows[i][11]]))
export const noteOf = (/** @type {number} */ i) => strings[rows[i][12]]
export const copyOf = (/** @type {number} */ i) => strings[rows[i][13]]
export const callIdOf = (/** @type {number} */ i) => strings[rows[i][14]]
export const textOf = (/** @type {number} */ i) => rows[i][15]

/** @param {number | null} ms */
export function iso(ms) {
  return ms === null ? '' : new Date(ms).toISOString()
}

/** Rows of each session, in order. @type {number[][]} */
export const sessionRows = report.sessions.map(() => [])
rows.forEach((row, i) => {
  if (row[2] !== -1) sessionRows[row[2]].push(i)
})
