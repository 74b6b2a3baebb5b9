import { code, count, h, longText, oneLine, plural, when } from './dom.js'
import {
  callIdOf,
  TYPES,
  TYPE_NAMES,
  copyOf,
  findingRows,
  iso,
  locatorOf,
  mateOf,
  modelOf,
  noteOf,
  outcomeOf,
  projectOf,
  report,
  rows,
  sessionIdOf,
  sessionOf,
  strings,
  textOf,
  timeOf,
  toolOf,
  typeOf,
  userOf,
} from './data.js'
import { MINUTE, sessionName, stamp } from './charts.js'

/** @import {Child} from './dom.js' */

/** Every row: filter, search, one line each; only what is visible is in the page. */

const NARROW = window.matchMedia('(max-width: 700px)')
const BEYOND = 8

/** @param {(session: number) => void} openSession */
export function rowList(openSession) {
  const state = {
    words: '',
    types: new Set(TYPES),
    session: -1,
    tool: -1,
    finding: -1,
    copies: true,
    /** @type {[number, number] | null} */
    range: null,
  }
  let found = /** @type {number[]} */ ([])
  let active = -1

  const lines = h('div', { class: 'lines', role: 'presentation' })
  const view = h('div', {
    class: 'list',
    role: 'listbox',
    tabindex: 0,
    'aria-label': 'Rows. Arrow keys move, Enter opens',
    scroll: () => draw(),
    keydown: key,
  })
  view.append(lines)
  const status = h('p', { class: 'status', role: 'status' })
  const detail = h('section', { class: 'detail', 'aria-label': 'The row that is open', hidden: true })

  const search = h('input', {
    type: 'search',
    id: 'search',
    autocomplete: 'off',
    spellcheck: 'false',
    input: later(150, () => ((state.words = search.value), filter())),
  })
  search.addEventListener('keydown', (event) => {
    if (event.key === 'ArrowDown' || event.key === 'Enter') {
      event.preventDefault()
      state.words = search.value
      filter()
      view.focus()
    }
  })
  const types = TYPES.map((type) => {
    const box = h('input', {
      type: 'checkbox',
      checked: true,
      change: () => (box.checked ? state.types.add(type) : state.types.delete(type), filter()),
    })
    return h('label', {}, box, h('span', { class: `swatch ${type}` }), TYPE_NAMES[type])
  })
  const session = choice(
    'All sessions',
    report.sessions.map((/** @type {any} */ one) => `${oneLine(sessionName(one), 60)} · ${one.first.slice(0, 16).replace('T', ' ')}`),
    (value) => ((state.session = value), filter()),
  )
  const tools = [...new Set(rows.map((row) => row[7]))].filter((tool) => strings[tool] !== '')
  const tool = choice(
    'All tools',
    tools.map((number) => oneLine(strings[number], 60)),
    (value) => ((state.tool = value === -1 ? -1 : tools[value]), filter()),
  )
  const finding = choice(
    'All rows, found or not',
    report.findings.map((/** @type {any} */ one) => one.title),
    (value) => ((state.finding = value), filter()),
  )
  const copies = h('input', { type: 'checkbox', checked: true, change: () => ((state.copies = copies.checked), filter()) })
  const range = h('button', { type: 'button', hidden: true, click: () => ((state.range = null), filter()) })

  function filter() {
    const words = state.words.trim()
    const pattern = words === '' ? null : new RegExp(words.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), 'iu')
    const named = pattern ? new Set(strings.flatMap((text, i) => (text !== '' && pattern.test(text) ? [i] : []))) : null
    const chosen = state.finding === -1 ? null : new Set(findingRows[state.finding])
    const types = TYPES.map((type) => state.types.has(type))
    found = []
    for (let i = 0; i < rows.length; i++) {
      const row = rows[i]
      if (!types[row[1]]) continue
      if (state.session !== -1 && row[2] !== state.session) continue
      if (state.tool !== -1 && row[7] !== state.tool) continue
      if (!state.copies && row[13] !== 0) continue
      if (chosen && !chosen.has(i)) continue
      if (state.range && (row[0] === null || row[0] < state.range[0] || row[0] > state.range[1])) continue
      if (
        pattern &&
        !pattern.test(row[15]) &&
        !(named?.size && [3, 4, 5, 6, 7, 8, 14].some((column) => named.has(/** @type {number} */ (row[column]))))
      )
        continue
      found.push(i)
    }
    active = found.length > 0 ? 0 : -1
    view.scrollTop = 0
    status.textContent =
      found.length === rows.length ? `All ${plural(rows.length, 'row')}` : `${count(found.length)} of ${plural(rows.length, 'row')}`
    range.hidden = state.range === null
    if (state.range) range.textContent = `${stamp(state.range[0], MINUTE)} to ${stamp(state.range[1], MINUTE)} ✕`
    range.setAttribute('aria-label', 'Take the limit in time away')
    draw()
  }

  function draw() {
    const tall = NARROW.matches ? 52 : 30
    lines.style.height = `${found.length * tall}px`
    const from = Math.max(0, Math.floor(view.scrollTop / tall) - BEYOND)
    const to = Math.min(found.length, Math.ceil((view.scrollTop + view.clientHeight) / tall) + BEYOND)
    lines.replaceChildren(...found.slice(from, to).map((row, i) => line(row, from + i, tall)))
    const current = active >= from && active < to ? `row-${found[active] + 1}` : ''
    if (current) view.setAttribute('aria-activedescendant', current)
    else view.removeAttribute('aria-activedescendant')
  }

  /**
   * @param {number} row
   * @param {number} position
   * @param {number} tall
   */
  function line(row, position, tall) {
    const type = typeOf(row)
    const element = h(
      'div',
      {
        id: `row-${row + 1}`,
        role: 'option',
        class: `line${copyOf(row) ? ' copy' : ''}`,
        'aria-selected': position === active ? 'true' : 'false',
        'aria-setsize': found.length,
        'aria-posinset': position + 1,
        click: () => {
          active = position
          draw()
          open(row)
        },
      },
      h('span', { class: 'time' }, iso(timeOf(row)).slice(0, 19).replace('T', ' ') || 'no time'),
      h('span', { class: `type ${type}` }, TYPE_NAMES[type]),
      h('span', { class: 'tool' }, oneLine(toolOf(row) || noteOf(row), 40)),
      h('span', { class: 'said', dir: 'auto' }, oneLine(textOf(row), 300)),
    )
    element.style.top = `${position * tall}px`
    return element
  }

  /** @param {KeyboardEvent} event */
  function key(event) {
    const page = Math.max(1, Math.floor(view.clientHeight / (NARROW.matches ? 52 : 30)) - 1)
    const move = /** @type {Record<string, number>} */ ({
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: page,
      PageUp: -page,
      Home: -found.length,
      End: found.length,
    })[event.key]
    if (move !== undefined && found.length > 0) {
      event.preventDefault()
      active = Math.max(0, Math.min(found.length - 1, active + move))
      reveal()
    } else if ((event.key === 'Enter' || event.key === ' ') && active !== -1) {
      event.preventDefault()
      open(found[active])
      detail.focus()
    } else if (event.key === '/') {
      event.preventDefault()
      search.focus()
    }
  }

  function reveal() {
    const tall = NARROW.matches ? 52 : 30
    const top = active * tall
    if (top < view.scrollTop) view.scrollTop = top
    else if (top + tall > view.scrollTop + view.clientHeight) view.scrollTop = top + tall - view.clientHeight
    draw()
  }

  /** @param {number} row */
  function open(row) {
    const mate = mateOf(row)
    const fields = /** @type {[string, Child][]} */ ([
      ['Time', when(iso(timeOf(row)))],
      ['Account', code(userOf(row))],
      ['Conversation', code(sessionIdOf(row))],
      ['Project', code(projectOf(row))],
      ['Model', code(modelOf(row))],
      ['Tool', code(toolOf(row))],
      ['Call id', code(callIdOf(row))],
      ['Outcome', outcomeOf(row)],
      ['Kind', noteOf(row)],
      ['Copied from', copyOf(row) && code(copyOf(row))],
      ['Source', code(locatorOf(row))],
    ])
    detail.replaceChildren(
      h('h3', {}, `Row ${count(row + 1)}: ${TYPE_NAMES[typeOf(row)]}`),
      h(
        'dl',
        {},
        ...fields
          .filter(([, value]) => value && (typeof value === 'string' || /** @type {Node} */ (value).textContent !== ''))
          .map(([name, value]) => h('div', {}, h('dt', {}, name), h('dd', {}, value))),
      ),
      longText(textOf(row), 20_000),
      h(
        'p',
        { class: 'controls' },
        sessionOf(row) !== -1 && h('button', { type: 'button', click: () => openSession(sessionOf(row)) }, 'Open the conversation'),
        mate !== -1 &&
          h(
            'button',
            { type: 'button', click: () => (open(mate), detail.focus()) },
            typeOf(row) === 'tool_use' ? 'Its result' : 'Its call',
          ),
        h('button', { type: 'button', click: close }, 'Close'),
      ),
    )
    detail.hidden = false
    detail.tabIndex = -1
  }

  function close() {
    detail.hidden = true
    view.focus()
  }
  detail.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') close()
  })

  NARROW.addEventListener('change', () => draw())
  const box = h(
    'div',
    { class: 'rows' },
    h(
      'div',
      { class: 'filters', role: 'search' },
      h('label', { class: 'wide', for: 'search' }, 'Search in all texts, ids, paths and tools'),
      search,
      h('fieldset', { class: 'types' }, h('legend', {}, 'Show'), ...types, h('label', {}, copies, 'copies by forks')),
      h('div', { class: 'choices' }, session, tool, finding, range),
    ),
    status,
    view,
    detail,
  )

  return {
    box,
    start: filter,
    /** @param {number} i */
    showFinding(i) {
      reset()
      state.finding = i
      finding.value = String(i)
      filter()
      goTo()
    },
    /**
     * @param {number} from
     * @param {number} to
     */
    showRange(from, to) {
      reset()
      state.range = [from, to]
      filter()
      goTo()
    },
    /** @param {number} row */
    showRow(row) {
      reset()
      filter()
      active = row
      goTo()
      reveal()
      open(row)
    },
  }

  function reset() {
    Object.assign(state, { words: '', types: new Set(TYPES), session: -1, tool: -1, finding: -1, copies: true, range: null })
    search.value = ''
    for (const box of [...types.map((label) => label.querySelector('input')), copies]) if (box) box.checked = true
    for (const select of [session, tool, finding]) select.value = '-1'
  }

  function goTo() {
    document.getElementById('rows')?.scrollIntoView()
    view.focus({ preventScroll: true })
  }
}

/**
 * @param {string} all
 * @param {string[]} names
 * @param {(value: number) => void} choose
 */
function choice(all, names, choose) {
  const select = h(
    'select',
    { 'aria-label': all, change: () => choose(Number(select.value)) },
    h('option', { value: -1 }, all),
    ...names.slice(0, 5000).map((name, i) => h('option', { value: i }, name)),
  )
  return select
}

/**
 * @param {number} ms
 * @param {() => void} act
 */
function later(ms, act) {
  let timer = 0
  return () => {
    clearTimeout(timer)
    timer = window.setTimeout(act, ms)
  }
}
