import { count, h, oneLine, plural, svg, table } from './dom.js'
import { TYPES, TYPE_NAMES, iso, report, rows, sessionRows, timeOf, typeOf } from './data.js'

/** Pictures of the rows over time. Each has a table behind it with the same numbers. */

export const MINUTE = 60_000
const UNITS = [
  { ms: MINUTE, name: 'minute' },
  { ms: 5 * MINUTE, name: '5 minutes' },
  { ms: 15 * MINUTE, name: '15 minutes' },
  { ms: 60 * MINUTE, name: 'hour' },
  { ms: 6 * 60 * MINUTE, name: '6 hours' },
  { ms: 24 * 60 * MINUTE, name: 'day' },
  { ms: 7 * 24 * 60 * MINUTE, name: 'week' },
  { ms: 28 * 24 * 60 * MINUTE, name: '4 weeks' },
]
const MOST_BARS = 72
const MOST_STRIPS = 30
const TALL = 150

/** @typedef {{start: number, end: number, counts: number[], total: number}} Bucket */

export const times = /** @type {number[]} */ (rows.map((row) => row[0]).filter((time) => time !== null))
const FIRST = times[0] ?? 0
const LAST = times.at(-1) ?? 0

/**
 * @param {number} from
 * @param {number} to
 */
function unitFor(from, to) {
  return UNITS.find(({ ms }) => (to - from) / ms <= MOST_BARS) ?? UNITS[UNITS.length - 1]
}

/**
 * @param {number} from
 * @param {number} to
 * @returns {{unit: {ms: number, name: string}, buckets: Bucket[]}}
 */
function bucketsOf(from, to) {
  const unit = unitFor(from, to)
  const start = Math.floor(from / unit.ms) * unit.ms
  const buckets = Array.from({ length: Math.min(2000, Math.floor((to - start) / unit.ms) + 1) }, (_, i) => ({
    start: start + i * unit.ms,
    end: start + (i + 1) * unit.ms,
    counts: TYPES.map(() => 0),
    total: 0,
  }))
  for (let i = 0; i < rows.length; i++) {
    const time = timeOf(i)
    if (time === null || time < from || time > to) continue
    const bucket = buckets[Math.floor((time - start) / unit.ms)]
    if (!bucket) continue
    bucket.counts[rows[i][1]]++
    bucket.total++
  }
  return { unit, buckets }
}

/**
 * @param {number} ms
 * @param {number} unit
 */
export function stamp(ms, unit) {
  const text = iso(ms)
  return unit >= 24 * 60 * MINUTE ? text.slice(0, 10) : `${text.slice(0, 10)} ${text.slice(11, 16)}`
}

/** @param {(from: number, to: number) => void} showRows */
export function activityPictures(showRows) {
  const box = h('div', { class: 'pictures' })
  /** @type {[number, number][]} */
  const zooms = [[FIRST, LAST]]
  const draw = (/** @type {boolean} */ focus = false) => {
    const [from, to] = zooms[zooms.length - 1]
    const { unit, buckets } = bucketsOf(from, to)
    const zoom = (/** @type {Bucket} */ bucket) => {
      zooms.push([Math.max(FIRST, bucket.start), Math.min(LAST, bucket.end - 1)])
      draw(true)
    }
    const out = h('button', { type: 'button', disabled: zooms.length === 1, click: () => (zooms.pop(), draw(true)) }, 'Zoom out')
    const list = h('button', { type: 'button', click: () => showRows(from, to) }, 'List these rows')
    const total = buckets.reduce((sum, bucket) => sum + bucket.total, 0)
    box.replaceChildren(
      h(
        'div',
        { class: 'bar' },
        h(
          'p',
          { 'aria-live': 'polite' },
          `${plural(total, 'row')} from ${stamp(from, MINUTE)} to ${stamp(to, MINUTE)} UTC, a bar for each ${unit.name}`,
        ),
        h('span', { class: 'controls' }, out, list),
      ),
      legend(),
      bars(buckets, unit, zoom),
      h('details', {}, h('summary', {}, 'The same as a table'), activityTable(buckets, unit, zoom)),
      h('h3', {}, 'Sessions over the same time'),
      strips(from, to),
    )
    if (focus) (out.hasAttribute('disabled') ? list : out).focus()
  }
  draw()
  let width = window.innerWidth
  window.addEventListener('resize', () => {
    if (window.innerWidth === width) return
    width = window.innerWidth
    draw()
  })
  return box
}

function legend() {
  return h('ul', { class: 'legend' }, ...TYPES.map((type) => h('li', {}, h('span', { class: `swatch ${type}` }), TYPE_NAMES[type])))
}

function pictureWidth() {
  return Math.max(280, Math.min(1080, document.documentElement.clientWidth - 48))
}

/**
 * @param {Bucket[]} buckets
 * @param {{ms: number, name: string}} unit
 * @param {(bucket: Bucket) => void} zoom
 */
function bars(buckets, unit, zoom) {
  const width = pictureWidth()
  const left = 40
  const most = Math.max(1, ...buckets.map(({ total }) => total))
  const step = (width - left) / buckets.length
  const scale = (/** @type {number} */ value) => (value / most) * (TALL - 12)
  const picture = svg('svg', {
    class: 'bars',
    viewBox: `0 0 ${width} ${TALL + 26}`,
    role: 'group',
    'aria-label': 'Rows over time by kind of turn; arrow keys move between bars, Enter zooms into one',
  })
  picture.append(
    svg('line', { class: 'axis', x1: left, x2: width, y1: TALL, y2: TALL }),
    svg('line', { class: 'grid', x1: left, x2: width, y1: 12, y2: 12 }),
    svg('text', { class: 'tick', x: left - 6, y: 16, 'text-anchor': 'end' }, count(most)),
    svg('text', { class: 'tick', x: left - 6, y: TALL, 'text-anchor': 'end' }, 0),
  )
  /** @type {SVGElement[]} */
  const groups = []
  buckets.forEach((bucket, i) => {
    const x = left + i * step
    const name = `${stamp(bucket.start, unit.ms)}: ${plural(bucket.total, 'row')}`
    const group = /** @type {SVGElement} */ (
      svg('g', { class: 'column', role: 'button', tabindex: -1, 'aria-label': name, click: () => enter(bucket) }, svg('title', {}, name))
    )
    group.append(svg('rect', { class: 'hit', x, y: 0, width: step, height: TALL }))
    let y = TALL
    bucket.counts.forEach((value, type) => {
      if (value === 0) return
      const height = Math.max(1, scale(value))
      y -= height
      group.append(svg('rect', { class: TYPES[type], x: x + 0.5, y, width: Math.max(0.8, Math.min(step - 1, 40)), height }))
    })
    groups.push(group)
    picture.append(group)
  })
  const enter = (/** @type {Bucket} */ bucket) => {
    if (bucket.total > 0 && (unit.ms > MINUTE || buckets.length > 1)) zoom(bucket)
  }
  const ends = buckets.length > 1 ? [0, buckets.length - 1] : [0]
  for (const i of ends)
    picture.append(
      svg(
        'text',
        { class: 'tick', x: i === 0 ? left : width, y: TALL + 18, 'text-anchor': i === 0 ? 'start' : 'end' },
        stamp(buckets[i].start, unit.ms),
      ),
    )
  let at = Math.max(
    0,
    buckets.findIndex(({ total }) => total > 0),
  )
  groups[at]?.setAttribute('tabindex', '0')
  picture.addEventListener('keydown', (event) => {
    const { key } = /** @type {KeyboardEvent} */ (event)
    const next = /** @type {Record<string, number>} */ ({ ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: groups.length - 1 })[key]
    if (key === 'Enter' || key === ' ') enter(buckets[at])
    else if (next === undefined) return
    event.preventDefault()
    if (next === undefined || !groups[next]) return
    groups[at].setAttribute('tabindex', '-1')
    at = next
    groups[at].setAttribute('tabindex', '0')
    groups[at].focus()
  })
  return picture
}

/**
 * @param {Bucket[]} buckets
 * @param {{ms: number}} unit
 * @param {(bucket: Bucket) => void} zoom
 */
function activityTable(buckets, unit, zoom) {
  return table(
    'Rows over time by kind of turn',
    ['From (UTC)', ...TYPES.map((type) => `#${TYPE_NAMES[type]}`), '#all', ''],
    buckets.filter(({ total }) => total > 0),
    (bucket) => [
      stamp(bucket.start, unit.ms),
      ...bucket.counts.map(count),
      count(bucket.total),
      unit.ms > MINUTE && h('button', { type: 'button', class: 'small', click: () => zoom(bucket) }, 'Zoom in'),
    ],
    { most: 100 },
  )
}

/**
 * A line for each of the longest sessions, a mark wherever it has rows.
 *
 * @param {number} from
 * @param {number} to
 */
function strips(from, to) {
  const width = pictureWidth()
  const left = Math.min(180, width * 0.35)
  const longest = /** @type {{i: number, inside: number[]}[]} */ (
    sessionRows.map((list, i) => ({ i, inside: list.filter((row) => (timeOf(row) ?? -1) >= from && (timeOf(row) ?? -1) <= to) }))
  )
    .filter(({ inside }) => inside.length > 0)
    .sort((a, b) => b.inside.length - a.inside.length)
    .slice(0, MOST_STRIPS)
    .sort((a, b) => a.i - b.i)
  if (longest.length === 0) return h('p', { class: 'none' }, 'No session has rows in this time.')
  const line = 20
  const picture = svg('svg', {
    class: 'strips',
    viewBox: `0 0 ${width} ${longest.length * line + 4}`,
    role: 'img',
    'aria-label': 'When each session has rows; the sessions table has the numbers',
  })
  const letters = Math.floor((left - 10) / 6.6)
  longest.forEach(({ i, inside }, n) => {
    const y = n * line
    const session = report.sessions[i]
    picture.append(
      svg('text', { class: 'tick', x: 0, y: y + 14 }, oneLine(sessionName(session), letters)),
      svg('line', { class: 'grid', x1: left, x2: width, y1: y + line - 1, y2: y + line - 1 }),
    )
    const drawn = new Set()
    for (const row of inside) {
      const x = left + Math.round((((timeOf(row) ?? 0) - from) / Math.max(1, to - from)) * (width - left - 3))
      const key = `${x} ${rows[row][1]}`
      if (drawn.has(key)) continue
      drawn.add(key)
      picture.append(svg('rect', { class: typeOf(row), x, y: y + 3, width: 2.5, height: line - 7 }))
    }
  })
  return picture
}

/** @param {any} session */
export function sessionName(session) {
  return session.id === 'default' && session.agent_id ? `default of …${session.agent_id.slice(-8)}` : session.id
}

export function toolPicture() {
  const tools = report.tools.slice(0, 15)
  if (tools.length === 0) return h('p', { class: 'none' }, 'No tool was called.')
  const width = pictureWidth()
  const left = Math.min(160, width * 0.35)
  const line = 24
  const most = Math.max(...tools.map((/** @type {any} */ { calls }) => calls))
  const picture = svg('svg', {
    class: 'tools',
    viewBox: `0 0 ${width} ${tools.length * line + 4}`,
    role: 'img',
    'aria-label': 'Calls by tool; the table below has the numbers',
  })
  tools.forEach((/** @type {any} */ { name, calls }, /** @type {number} */ i) => {
    const y = i * line
    const wide = Math.max(2, (calls / most) * (width - left - 60))
    picture.append(
      svg('text', { class: 'tick', x: left - 8, y: y + 16, 'text-anchor': 'end' }, oneLine(name, Math.floor((left - 12) / 6.8))),
      svg('rect', { class: 'tool_use', x: left, y: y + 4, width: wide, height: line - 9, rx: 1.5 }),
      svg('text', { class: 'tick', x: left + wide + 6, y: y + 16 }, count(calls)),
    )
  })
  return picture
}

/** @param {Record<string, number>} outcomes */
export function outcomesText(outcomes) {
  return Object.entries(outcomes)
    .map(([outcome, number]) => `${count(number)} ${outcome}`)
    .join(', ')
}
