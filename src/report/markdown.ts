import { visible } from '../rows/index.js'
import { bytes, GROUPS, span, whoseRows } from './words.js'
import type { Finding, Report, RowRef } from './schema.js'

const MOST_ROWS = 5
const MOST_LINES = 25

/** The report for a ticket. Whatever the evidence says stands in code spans: no link, image, tag or heading of it is one. */
export function markdownReport(report: Report): string {
  const { head } = report
  return [
    `# Triage report${head.case ? `: ${code(head.case)}` : ''}`,
    ...headLines(report),
    '## Findings',
    'A finding is a classification of what the record says, and a reason to look at the rows it names.',
    ...(report.findings.length === 0
      ? ['No rule found anything.']
      : GROUPS.flatMap(({ rank, title }) => group(report.findings, rank, title))),
    '## Sessions',
    ...table(
      ['Session', 'User', 'Agent', 'Project', 'Model', 'First', 'Last', 'Turns', 'Calls', 'Errors', 'Stopped', 'Exit'],
      report.sessions.map((one) => [
        cell(one.id),
        cell(one.user),
        one.agent,
        cell(one.projects.join(', ')),
        cell(one.models.join(', ')),
        one.first,
        one.last,
        one.turns,
        one.tool_calls,
        one.errors,
        one.stopped,
        cell(one.exit),
      ]),
    ),
    '## Tools',
    ...table(
      ['Tool', 'Calls', 'Outcomes'],
      report.tools.map(({ name, calls, outcomes }) => [
        cell(name),
        calls,
        Object.entries(outcomes)
          .map(([what, n]) => `${what} ${n}`)
          .join(', '),
      ]),
    ),
    '## Commands',
    ...list(
      report.commands.items.map(
        ({ text, count, first, row }) =>
          `${code(text)} (${count}, first ${first || 'without a time'}${row ? `, ${code(row.locator)}` : ''})`,
      ),
      report.commands.more,
    ),
    '## Hosts named in calls',
    ...list(
      report.hosts.items.map(({ host, count }) => `${code(host)} (${count})`),
      report.hosts.more,
    ),
    '## Permissions',
    ...list(report.permissions.map(({ scope, key, value }) => `${code(scope)}: ${code(`${key}=${value}`)}`)),
    '## Scheduled tasks',
    ...list(
      report.tasks.map(
        ({ id, name, status, when, prompt }) => `${code(id)} ${code(name)}, ${code(status)}, ${code(when)}: ${code(prompt)}`,
      ),
    ),
    '## Channels',
    ...list(report.channels.map(({ channel, chat, session }) => `${code(channel)} chat ${code(chat)}, conversation ${code(session)}`)),
    '## What was read, and what was not',
    ...head.read.map(
      ({ title, store, files, rows, dropped }) =>
        `- ${title} (${store}): ${files} files, ${rows} rows${dropped > 0 ? `, ${dropped} dropped as copies` : ''}`,
    ),
    '',
    ...head.not_read.map(
      ({ statement, items, more }) =>
        `- ${statement} ${items.slice(0, MOST_ROWS).map(code).join(', ')}${rest(items.length + more - MOST_ROWS)}`,
    ),
    '',
    ...head.caveats.map((caveat) => `- ${caveat}`),
  ]
    .join('\n\n')
    .replace(/\n\n(?=[-|] )/g, '\n')
    .concat('\n')
}

function headLines({ head }: Report): string[] {
  return [
    ...head.evidence.map(
      ({ user, host, agent, directory, files, bytes: size, rows }) =>
        `- ${code(whoseRows(user, host))}, ${agent}: ${rows} rows from ${files} files (${bytes(size)}) in ${code(directory)}`,
    ),
    ...head.packages.map(({ package: at, manifest_sha256 }) => `- Package ${code(at)}, SHA-256 of its manifest ${code(manifest_sha256)}`),
    `- ${span(head)}`,
    `- ${head.rows} rows${head.rows_without_time > 0 ? `, ${head.rows_without_time} without a time` : ''}, made ${head.made} by ${head.tool.name} ${head.tool.version}`,
    ...(head.examiner ? [`- Examiner: ${code(head.examiner)}`] : []),
    ...(head.redacted ? ['- Names are replaced by pseudonyms.'] : []),
  ]
}

function group(findings: readonly Finding[], rank: number, title: string): string[] {
  const own = findings.filter((finding) => finding.rank === rank)
  return own.length === 0 ? [] : [`### ${title}`, ...own.flatMap(finding)]
}

function finding({ id, title, says, reason, caveat, count, rows }: Finding): string[] {
  return [
    `**${title}** (${id}): ${code(says)}`,
    `${reason} *${caveat}*`,
    ...rows.items.slice(0, MOST_ROWS).map((ref) => `- ${rowLine(ref)}`),
    ...(count > MOST_ROWS ? [`- and ${count - MOST_ROWS} more`] : []),
  ]
}

function rowLine({ time, outcome, quote, locator }: RowRef): string {
  return `${time || 'without a time'}${outcome ? `, ${outcome}` : ''}: ${code(quote)} at ${code(locator)}`
}

function table(head: readonly string[], lines: readonly (readonly (string | number)[])[]): string[] {
  if (lines.length === 0) return ['None.']
  const shown = lines.slice(0, MOST_LINES).map((cells) => `| ${cells.join(' | ')} |`)
  return [
    [`| ${head.join(' | ')} |`, `| ${head.map(() => '---').join(' | ')} |`, ...shown].join('\n'),
    ...(lines.length > MOST_LINES ? [`And ${lines.length - MOST_LINES} more.`] : []),
  ]
}

function list(items: readonly string[], more = 0): string[] {
  if (items.length === 0) return ['None.']
  const left = items.length + more - MOST_LINES
  return [...items.slice(0, MOST_LINES).map((item) => `- ${item}`), ...(left > 0 ? [`- and ${left} more`] : [])]
}

function rest(count: number): string {
  return count > 0 ? `, and ${count} more` : ''
}

/** A code span in a table, where a pipe would end the cell. */
function cell(text: string): string {
  return code(text).replaceAll('|', '\\|')
}

/** A code span whose fence is longer than any run of backticks inside. */
export function code(text: string): string {
  if (text === '') return ''
  const shown = visible(text)
  const longest = Math.max(0, ...[...shown.matchAll(/`+/g)].map(([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  const pad = longest > 0 || shown.trim() === '' ? ' ' : ''
  return `${fence}${pad}${shown}${pad}${fence}`
}
