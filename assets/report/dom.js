/**
 * Elements from plain values. Text from the evidence becomes text nodes and nothing else: no markup is ever parsed, no address is ever a link.
 *
 * @typedef {Node | string | number | null | undefined | false} Child
 * @typedef {Record<string, string | number | boolean | ((event: any) => void) | undefined>} Props
 */

/**
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Props} [props] attributes; functions are listeners
 * @param {Child[]} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function h(tag, props = {}, ...children) {
  const element = document.createElement(tag)
  setProps(element, props)
  element.append(...nodes(children))
  return element
}

/**
 * @param {string} tag
 * @param {Props} [props]
 * @param {Child[]} children
 */
export function svg(tag, props = {}, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag)
  setProps(element, props)
  element.append(...nodes(children))
  return element
}

/**
 * @param {Element} element
 * @param {Props} props
 */
function setProps(element, props) {
  for (const [name, value] of Object.entries(props)) {
    if (typeof value === 'function') element.addEventListener(name, value)
    else if (value === true) element.setAttribute(name, '')
    else if (value !== undefined && value !== false) element.setAttribute(name, String(value))
  }
}

/** @param {Child[]} children */
function nodes(children) {
  return children
    .filter((child) => child !== null && child !== undefined && child !== false)
    .map((child) => (child instanceof Node ? child : String(child)))
}

/** What a browser would obey instead of showing: controls, bidirectional overrides and isolates, separators, invisible characters, half characters. */
const OBEYED = /(?![\t\n]|\r\n)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u115f\u1160\u3164]/u
const OBEYED_ALL = new RegExp(OBEYED.source, 'gu')

/** Texts are shown up to here, in UTF-16 units, until someone asks for the rest. */
const LONG_TEXT = 4000

/**
 * A text of the evidence, with everything that would be obeyed written out as a marked code.
 *
 * @param {string} text
 * @returns {Node}
 */
export function shown(text) {
  if (!OBEYED.test(text)) return document.createTextNode(text)
  const fragment = document.createDocumentFragment()
  let at = 0
  for (const match of text.matchAll(OBEYED_ALL)) {
    fragment.append(
      text.slice(at, match.index),
      h('span', { class: 'mark', title: 'a character that is obeyed, not shown' }, codeOf(match[0])),
    )
    at = match.index + match[0].length
  }
  fragment.append(text.slice(at))
  return fragment
}

/** @param {string} character */
function codeOf(character) {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
}

/**
 * One line's worth of a text: line breaks as a sign, marks as plain characters, cut.
 *
 * @param {string} text
 * @param {number} most
 */
export function oneLine(text, most) {
  const cut = text.length > most ? `${text.slice(0, most).replace(/[\ud800-\udbff]$/, '')}…` : text
  return cut
    .replace(/\r?\n/g, ' ⏎ ')
    .replace(/\t/g, ' ')
    .replace(OBEYED_ALL, (character) => `⟨${codeOf(character)}⟩`)
}

/**
 * A text that keeps its lines; a long one is cut and a button shows the rest.
 *
 * @param {string} text
 * @param {number} [most]
 */
export function longText(text, most = LONG_TEXT) {
  const box = h('div', { class: 'text', dir: 'auto' })
  if (text.length <= most * 1.25) {
    box.append(shown(text))
    return box
  }
  const whole = h(
    'button',
    { type: 'button', class: 'more', click: () => box.replaceChildren(shown(text)) },
    `Show all ${count(text.length)} characters`,
  )
  box.append(shown(text.slice(0, most).replace(/[\ud800-\udbff]$/, '')), '… ', whole)
  return box
}

/**
 * A short text in a cell or a sentence.
 *
 * @param {string} text
 */
export function code(text) {
  return h('code', { dir: 'auto' }, shown(text))
}

/**
 * A place in the evidence by its file's last name on the screen, whole in print and for whoever points at it.
 *
 * @param {string} locator
 * @param {() => void} show
 */
export function shortLocator(locator, show) {
  const cut = locator.lastIndexOf('/', locator.length - 2) + 1
  if (cut === 0 || locator.length < 36)
    return h('button', { type: 'button', class: 'locator', title: 'Show this row', click: show }, shown(locator))
  return h(
    'button',
    { type: 'button', class: 'locator', title: oneLine(locator, 400), click: show },
    h('span', { class: 'on-screen' }, '…/', shown(locator.slice(cut))),
    h('span', { class: 'print-only' }, shown(locator)),
  )
}

/** @param {number} number */
export function count(number) {
  return number.toLocaleString('en')
}

/**
 * @param {number} number
 * @param {string} one
 * @param {string} [many]
 */
export function plural(number, one, many = `${one}s`) {
  return `${count(number)} ${number === 1 ? one : many}`
}

/** @param {string} time ISO; the reader wants the second, and the day first */
export function when(time) {
  return time === '' ? h('span', { class: 'none' }, 'no time') : h('time', { datetime: time }, `${time.slice(0, 10)} ${time.slice(11, 19)}`)
}

/**
 * A table whose later lines come on request.
 *
 * @template T
 * @param {string} caption
 * @param {string[]} head column titles; a title that starts with # stands over numbers
 * @param {readonly T[]} items
 * @param {(item: T, index: number) => Child[]} cells
 * @param {{most?: number, more?: number, none?: string}} [options] `more`: lines that the report itself left out
 */
export function table(caption, head, items, cells, { most = 25, more = 0, none = 'None.' } = {}) {
  if (items.length === 0) return h('p', { class: 'none' }, none)
  const numbers = head.map((title) => title.startsWith('#'))
  const body = h('tbody')
  const button = h('button', { type: 'button', class: 'more', click: () => add(500) })
  const add = (/** @type {number} */ lines) => {
    const from = body.rows.length
    items.slice(from, from + lines).forEach((item, i) => body.append(line(cells(item, from + i))))
    const left = items.length - body.rows.length
    button.hidden = left === 0
    button.textContent = `Show ${count(Math.min(500, left))} more of ${count(left)}`
  }
  const line = (/** @type {Child[]} */ children) =>
    h('tr', {}, ...children.map((child, i) => h('td', { class: numbers[i] ? 'number' : undefined }, child)))
  const heads = head.map((title, i) => h('th', { scope: 'col', class: numbers[i] ? 'number' : undefined }, title.replace('#', '')))
  add(most)
  const grid = h('table', {}, h('caption', {}, caption), h('thead', {}, h('tr', {}, ...heads)), body)
  return h(
    'div',
    { class: 'table' },
    h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': caption }, grid),
    button,
    more > 0 && h('p', { class: 'none' }, `${plural(more, 'more line')} ${more === 1 ? 'is' : 'are'} not part of this report.`),
  )
}
