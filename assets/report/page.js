import { code, count, h, longText, oneLine, plural, shortLocator, shown, table, when } from './dom.js'
import { TYPE_NAMES, report } from './data.js'
import { activityPictures, outcomesText, sessionName, times, toolPicture } from './charts.js'
import { conversation, showRowWith } from './reader.js'
import { rowList } from './rows.js'

/** @import {Child} from './dom.js' */
/** @import {RowRef} from './data.js' */

/** The page: sections in the order in which a responder asks. */

const { head } = report
const list = rowList(openSession)
showRowWith(list.showRow)
const MOST_SHOWN = 5
const SEVERAL_USERS = new Set(report.sessions.map((/** @type {any} */ one) => `${one.host} ${one.user}`)).size > 1

/**
 * @param {RowRef} ref
 * @param {boolean} [short] only the file's name on the screen, the whole in print
 */
function rowLink(ref, short = false) {
  const show = () => list.showRow(ref.row - 1)
  return short
    ? shortLocator(ref.locator, show)
    : h('button', { type: 'button', class: 'locator', title: 'Show this row', click: show }, shown(ref.locator))
}

/**
 * @param {string} id
 * @param {string} title
 * @param {Child[]} content
 */
function section(id, title, ...content) {
  return h('section', { id, 'aria-labelledby': `${id}-title` }, h('h2', { id: `${id}-title` }, title), ...content)
}

function masthead() {
  const facts = /** @type {[string, Child][]} */ ([
    ['Case', head.case && code(head.case)],
    ['Examiner', head.examiner && code(head.examiner)],
    ...head.evidence.map((/** @type {any} */ one) => [
      `Evidence, ${one.agent}`,
      h(
        'span',
        {},
        code(one.user || '-'),
        one.host && h('span', {}, ' on ', code(one.host)),
        `: ${plural(one.rows, 'row')} from ${plural(one.files, 'file')}, ${size(one.bytes)}, in `,
        code(one.directory),
      ),
    ]),
    ...head.packages.map((/** @type {any} */ one) => [
      'Package',
      h('span', {}, code(one.package), ', SHA-256 of its manifest ', code(one.manifest_sha256)),
    ]),
    ['Time', head.first ? h('span', {}, when(head.first), ' to ', when(head.last), ' UTC') : 'No row has a time.'],
    [
      'Rows',
      [
        plural(head.rows, 'row'),
        head.rows_without_time > 0 && `${count(head.rows_without_time)} without a time`,
        head.copied_rows > 0 && `${count(head.copied_rows)} copied by forks and counted once`,
      ]
        .filter(Boolean)
        .join(', '),
    ],
    [
      'Made',
      h(
        'span',
        {},
        when(head.made),
        ` UTC by ${head.tool.name} ${head.tool.version}`,
        ...head.plugins.map((/** @type {any} */ one) => `, ${one.agent}: ${one.plugin} ${one.version}, catalog ${one.catalog}`),
      ),
    ],
  ])
  return h(
    'header',
    { class: 'masthead' },
    h('p', { class: 'kicker' }, 'Triage report'),
    h('h1', {}, `What ${head.plugins.map((/** @type {any} */ one) => one.title).join(', ') || 'the agents'} left on this disk`),
    head.redacted &&
      h(
        'p',
        { class: 'notice' },
        'Users, hosts and home paths are replaced by pseudonyms. What that does not guarantee is said under ',
        h('a', { href: '#basis' }, 'Basis'),
        '.',
      ),
    h(
      'dl',
      { class: 'facts' },
      ...facts.filter(([, value]) => value).map(([name, value]) => h('div', {}, h('dt', {}, name), h('dd', {}, value))),
    ),
    inShort(),
  )
}

/** What to look at and what is missing, before anything else. */
function inShort() {
  return h(
    'div',
    { class: 'short' },
    h(
      'section',
      { 'aria-label': 'Findings in short' },
      h('h2', {}, plural(report.findings.length, 'finding')),
      h(
        'ul',
        {},
        ...report.findings.map((/** @type {any} */ one) =>
          h(
            'li',
            { class: `rank-${one.rank}` },
            h('a', { href: `#finding-${one.id}` }, one.title),
            h('span', { class: 'none' }, ` ${count(one.count)}`),
          ),
        ),
      ),
    ),
    h(
      'section',
      { 'aria-label': 'What this does not rest on, in short' },
      h('h2', {}, 'What this does not rest on'),
      h(
        'ul',
        {},
        ...head.not_read.map((/** @type {any} */ one) => h('li', {}, one.statement)),
        head.not_read.length === 0 && h('li', {}, 'Nothing known was left out.'),
      ),
      head.not_read.length > 0 && h('p', { class: 'controls' }, h('a', { href: '#basis' }, 'Which they are')),
    ),
  )
}

/** @param {number} bytes */
function size(bytes) {
  if (bytes < 1000) return `${bytes} bytes`
  const power = Math.min(4, Math.floor(Math.log10(bytes) / 3))
  return `${(bytes / 1000 ** power).toFixed(1)} ${['kB', 'MB', 'GB', 'TB'][power - 1]}`
}

function findings() {
  const content = report.groups.flatMap((/** @type {any} */ { rank, title }) => {
    const own = report.findings
      .map((/** @type {any} */ one, /** @type {number} */ i) => ({ one, i }))
      .filter((/** @type {any} */ { one }) => one.rank === rank)
    return own.length === 0
      ? []
      : [h('h3', { class: `rank rank-${rank}` }, title), ...own.map((/** @type {any} */ { one, i }) => finding(one, i))]
  })
  return section(
    'findings',
    'Findings',
    h(
      'p',
      { class: 'lead' },
      'A finding is a classification of what the record says, and a reason to look at the rows it names. It is no judgement of anyone.',
    ),
    ...(content.length > 0 ? content : [h('p', { class: 'none' }, 'No rule found anything.')]),
  )
}

/**
 * @param {any} one
 * @param {number} i
 */
function finding(one, i) {
  const quotes = h('ol', { class: 'quotes' }, ...one.rows.items.slice(0, MOST_SHOWN).map(quote))
  return h(
    'article',
    { class: `finding rank-${one.rank}`, id: `finding-${one.id}` },
    h('h4', {}, one.title),
    h('p', { class: 'says' }, shown(one.says)),
    h('p', { class: 'why' }, one.reason, ' ', h('em', {}, one.caveat)),
    quotes,
    one.count > MOST_SHOWN && h('p', { class: 'none print-only' }, `and ${plural(one.count - MOST_SHOWN, 'more row')}`),
    h(
      'p',
      { class: 'controls' },
      h(
        'button',
        { type: 'button', click: () => list.showFinding(i) },
        one.count === 1 ? 'Show the row' : `List all ${plural(one.count, 'row')}`,
      ),
      h('span', { class: 'id' }, one.id),
    ),
  )
}

/** @param {RowRef} ref */
function quote(ref) {
  return h(
    'li',
    {},
    h(
      'p',
      { class: 'meta' },
      when(ref.time),
      ' ',
      h('span', {}, TYPE_NAMES[ref.turn_type] ?? ref.turn_type),
      ref.outcome && h('span', { class: `outcome ${ref.outcome.replace(' ', '-')}` }, ref.outcome),
      ' ',
      rowLink(ref),
    ),
    h('p', { class: 'quote', dir: 'auto' }, oneLine(ref.quote, 320)),
  )
}

/** @type {Map<number, () => void>} */
const sessionOpeners = new Map()

function sessions() {
  const titles = ['Conversation', 'Project and model', 'First (UTC)', 'Last (UTC)', '#Turns', '#Calls', '#Errors', '#Stopped', 'Exit']
  const body = h('tbody')
  const more = h('button', { type: 'button', class: 'more', click: () => add(200) })
  const add = (/** @type {number} */ lines) => {
    const from = body.querySelectorAll('tr.session').length
    report.sessions
      .slice(from, from + lines)
      .forEach((/** @type {any} */ one, /** @type {number} */ i) => body.append(sessionLine(one, from + i, titles.length)))
    const left = report.sessions.length - from - lines
    more.hidden = left <= 0
    more.textContent = `Show ${count(Math.min(200, left))} more of ${count(left)}`
  }
  moreSessions = () => add(1000)
  add(100)
  return section(
    'sessions',
    'Sessions',
    h(
      'p',
      { class: 'lead' },
      'A session opens into its conversation as it is read, each turn with the place in the evidence that ',
      h('code', {}, 'explain --row'),
      ' takes.',
    ),
    report.sessions.length === 0
      ? h('p', { class: 'none' }, 'No row belongs to a conversation.')
      : h(
          'div',
          { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Sessions' },
          h(
            'table',
            { class: 'sessions' },
            h('caption', {}, plural(report.sessions.length, 'conversation')),
            h(
              'thead',
              {},
              h(
                'tr',
                {},
                ...titles.map((title) =>
                  h('th', { scope: 'col', class: title.startsWith('#') ? 'number' : undefined }, title.replace('#', '')),
                ),
              ),
            ),
            body,
          ),
        ),
    more,
    h('h3', {}, 'Program runs'),
    table(
      'Runs of the program that recorded their end',
      ['Start (UTC)', 'End (UTC)', 'Account', 'Agent', 'Exit', '#Messages', '#Calls', 'Source'],
      report.program_runs,
      (/** @type {any} */ run) => [
        when(run.start),
        when(run.end),
        code(run.user),
        code(run.agent_id),
        code(run.exit),
        run.messages,
        run.tool_calls,
        rowLink(run.row),
      ],
      { none: 'No run recorded its end.' },
    ),
  )
}

let moreSessions = () => {}

/**
 * @param {any} one
 * @param {number} i
 * @param {number} columns
 */
function sessionLine(one, i, columns) {
  const cell = h('td', { colspan: columns })
  const opened = h('tr', { class: 'opened', hidden: true }, cell)
  const toggle = (/** @type {boolean} */ open) => {
    if (open && cell.childElementCount === 0) cell.append(conversation(i))
    opened.hidden = !open
    button.setAttribute('aria-expanded', String(open))
  }
  const button = h(
    'button',
    { type: 'button', class: 'open', 'aria-expanded': 'false', click: () => toggle(opened.hidden) },
    shown(sessionName(one)),
  )
  sessionOpeners.set(i, () => {
    toggle(true)
    button.scrollIntoView({ block: 'center' })
    button.focus({ preventScroll: true })
  })
  const cells = [
    h('div', {}, button, h('div', { class: 'opening', dir: 'auto' }, oneLine(one.opening, 120))),
    h(
      'div',
      { class: 'place' },
      SEVERAL_USERS && h('div', {}, code(one.user)),
      ...one.projects.slice(0, 3).map((/** @type {string} */ project) => h('div', {}, code(project))),
      h('div', { class: 'none' }, code(one.models.join(', '))),
    ),
    when(one.first),
    when(one.last),
    h('div', {}, count(one.turns), one.machine_turns > 0 && h('div', { class: 'none' }, `${count(one.machine_turns)} by programs`)),
    count(one.tool_calls),
    count(one.errors),
    count(one.stopped),
    code(one.exit),
  ]
  const fragment = document.createDocumentFragment()
  fragment.append(
    h('tr', { class: 'session' }, ...cells.map((child, n) => h('td', { class: n >= 4 && n <= 7 ? 'number' : undefined }, child))),
    opened,
  )
  return fragment
}

/** @param {number} session */
function openSession(session) {
  while (!sessionOpeners.has(session)) moreSessions()
  sessionOpeners.get(session)?.()
}

/** @param {{count: number, first: string, last: string, row?: RowRef}} seen */
function seen(seen) {
  return [count(seen.count), when(seen.first), when(seen.last), seen.row ? rowLink(seen.row, true) : '']
}

function actions() {
  return section(
    'actions',
    'What was done',
    h('h3', {}, 'Calls by tool'),
    toolPicture(),
    table('Calls by tool', ['Tool', '#Calls', 'Outcomes'], report.tools, (/** @type {any} */ one) => [
      code(one.name),
      count(one.calls),
      outcomesText(one.outcomes),
    ]),
    h('h3', {}, 'Commands'),
    table(
      'Commands given to a shell, each once',
      ['Command', 'Outcomes', '#Count', 'First (UTC)', 'Last (UTC)', 'First at'],
      report.commands.items,
      (/** @type {any} */ one) => [longText(one.text, 400), outcomesText(one.outcomes), ...seen(one)],
      { more: report.commands.more, none: 'No command is recorded.' },
    ),
    h('h3', {}, 'Files and directories'),
    table(
      'Files that calls of file tools name',
      ['File', 'Tools', '#Count', 'First (UTC)', 'Last (UTC)', 'First at'],
      report.paths.items,
      (/** @type {any} */ one) => [
        code(one.path),
        one.tools.map((/** @type {string} */ tool) => oneLine(tool, 40)).join(', '),
        ...seen(one),
      ],
      { more: report.paths.more, none: 'No call of a file tool names a file.' },
    ),
    table(
      'Their directories',
      ['Directory', '#Count', 'First (UTC)', 'Last (UTC)', 'First at'],
      report.directories.items,
      (/** @type {any} */ one) => [code(one.path), ...seen(one)],
      { more: report.directories.more, none: '' },
    ),
    h('h3', {}, 'Hosts and addresses'),
    h('p', { class: 'lead' }, 'Named in the arguments of calls, which is less than contacted.'),
    table(
      'Hosts named in calls',
      ['Host', 'Addresses', '#Count', 'First (UTC)', 'Last (UTC)', 'First at'],
      report.hosts.items,
      (/** @type {any} */ one) => [
        code(one.host),
        h('ul', { class: 'plain' }, ...one.urls.map((/** @type {string} */ url) => h('li', {}, code(url)))),
        ...seen(one),
      ],
      { more: report.hosts.more, none: 'No call names a host.' },
    ),
  )
}

function standing() {
  return section(
    'standing',
    'What was allowed and set up',
    h('h3', {}, 'Permissions'),
    table(
      'Permission settings',
      ['Scope', 'Key', 'Value', 'File changed (UTC)', 'Source'],
      report.permissions,
      (/** @type {any} */ one) => [code(one.scope), code(one.key), code(one.value), when(one.time), rowLink(one.row)],
      { none: 'No permission setting was read.' },
    ),
    table(
      'Modes that the program told the model',
      ['Mode', 'Conversation', '#Count', 'First (UTC)', 'Last (UTC)', 'First at'],
      report.modes,
      (/** @type {any} */ one) => [code(one.mode), code(one.session), ...seen(one)],
      { none: 'No context block names a mode.' },
    ),
    h('h3', {}, 'Scheduled tasks'),
    table(
      'Scheduled tasks',
      ['Task', 'Status', 'When', 'Prompt', '#Runs', 'Last run (UTC)', 'Source'],
      report.tasks,
      (/** @type {any} */ one) => [
        h('span', {}, code(one.id), ' ', oneLine(one.name, 60)),
        code(one.status),
        code(one.when),
        longText(one.prompt, 200),
        count(one.runs),
        when(one.last_run),
        one.row && rowLink(one.row),
      ],
      { none: 'No scheduled task was read.' },
    ),
    h('h3', {}, 'Channels'),
    table(
      'Chats that a conversation is relayed to',
      ['Channel', 'Chat', 'Account', 'Conversation', 'Enabled', 'Source'],
      report.channels,
      (/** @type {any} */ one) => [
        code(one.channel),
        code(one.chat),
        code(one.account),
        code(one.session),
        code(one.enabled),
        rowLink(one.row),
      ],
      { none: 'No route to a chat was read.' },
    ),
    h('h3', {}, 'Agents'),
    table(
      'Agents that rows or paths name',
      ['Agent', 'Account', '#Conversations', '#Rows', 'First (UTC)', 'Last (UTC)'],
      report.agents,
      (/** @type {any} */ one) => [
        code(one.agent_id),
        code(one.user),
        count(one.sessions),
        count(one.rows),
        when(one.first),
        when(one.last),
      ],
      { none: 'No row names an agent.' },
    ),
    h('h3', {}, 'Credentials present'),
    table(
      'Files that can hold credentials: paths and key names only',
      ['File', 'What it is', 'Keys'],
      report.credentials.items,
      (/** @type {any} */ one) => [code(one.path), one.title, one.keys.join(', ')],
      { more: report.credentials.more, none: 'No file that the catalog knows to hold credentials.' },
    ),
  )
}

function basis() {
  return section(
    'basis',
    'Basis: what was read, and what was not',
    h(
      'div',
      { class: 'not-read' },
      ...head.not_read.map((/** @type {any} */ one) =>
        h(
          'details',
          {},
          h('summary', {}, one.statement),
          h(
            'ul',
            {},
            ...one.items.map((/** @type {string} */ item) => h('li', {}, code(item))),
            one.more > 0 && h('li', {}, `and ${count(one.more)} more`),
          ),
        ),
      ),
    ),
    table(
      'What was read',
      ['Account', 'Store', 'What it proves', '#Files', '#Rows', '#Copies dropped', '#Unreadable'],
      head.read,
      (/** @type {any} */ one) => [
        code(one.user),
        h('span', {}, one.title, ' ', h('code', {}, one.store)),
        one.proves,
        count(one.files),
        count(one.rows),
        count(one.dropped),
        count(one.unreadable),
      ],
      { most: 100 },
    ),
    table(
      'Lines and files with something unreadable',
      ['What', 'Source'],
      report.unreadable.items,
      (/** @type {any} */ ref) => [code(ref.quote), rowLink(ref)],
      { more: report.unreadable.more, none: 'Every line was read.' },
    ),
    h('h3', {}, 'Caveats'),
    h('ul', { class: 'caveats' }, ...head.caveats.map((/** @type {string} */ caveat) => h('li', {}, caveat))),
    h('h3', {}, 'How this was made'),
    h('p', {}, code(`${head.tool.name} ${head.arguments.join(' ')}`)),
  )
}

const SECTIONS = [
  ['findings', 'Findings'],
  ['activity', 'Activity'],
  ['sessions', 'Sessions'],
  ['rows', 'Rows'],
  ['actions', 'Done'],
  ['standing', 'Set up'],
  ['basis', 'Basis'],
]

const root = /** @type {HTMLElement} */ (document.getElementById('report'))
root.append(
  h('a', { class: 'skip', href: '#findings' }, 'Skip to the findings'),
  masthead(),
  h('nav', { 'aria-label': 'Sections' }, ...SECTIONS.map(([id, title]) => h('a', { href: `#${id}` }, title))),
  h(
    'main',
    {},
    findings(),
    section(
      'activity',
      'Activity',
      times.length === 0 ? h('p', { class: 'none' }, 'No row has a time.') : activityPictures(list.showRange),
    ),
    sessions(),
    section(
      'rows',
      'Rows',
      h('p', { class: 'lead print-only' }, 'The rows themselves are not printed; agent-forensics parse writes them.'),
      list.box,
    ),
    actions(),
    standing(),
    basis(),
  ),
)
if (head.case) document.title = `Triage report: ${oneLine(head.case, 80)}`
list.start()
root.setAttribute('aria-busy', 'false')
