import type { Finding, Report } from './schema.js'
import { bytes, GROUPS, span, whoseRows } from './words.js'

const MOST_SESSIONS = 6
const MOST_STATEMENTS = 8

/** One screen, the most important first. Lines may hold anything that the evidence does: whoever prints them makes it visible. */
export function textReport(report: Report): string[] {
  const { head } = report
  return [
    `Triage report${head.case ? `, case ${head.case}` : ''}${head.redacted ? ', names redacted' : ''}`,
    ...head.evidence.map(
      ({ user, host, agent, files, bytes: size, rows }) =>
        `  ${whoseRows(user, host)}, ${agent}: ${rows} rows from ${files} files (${bytes(size)})`,
    ),
    ...head.packages.map(({ package: at, manifest_sha256 }) => `  package ${at}, manifest SHA-256 ${manifest_sha256}`),
    `  ${span(head)}`,
    '',
    ...(report.findings.length === 0
      ? ['No rule found anything.', '']
      : GROUPS.flatMap(({ rank, title }) => group(report.findings, rank, title))),
    ...sessionLines(report),
    ...(head.not_read.length === 0
      ? []
      : [
          '',
          'What this does not rest on',
          ...head.not_read.slice(0, MOST_STATEMENTS).map(({ statement, items }) => `  ${statement} ${items[0] ?? ''}`),
        ]),
    '',
    'A finding is a classification of what the record says. --format html shows the rows behind each.',
  ]
}

function group(findings: readonly Finding[], rank: number, title: string): string[] {
  const own = findings.filter((finding) => finding.rank === rank)
  if (own.length === 0) return []
  if (rank === 3) return [title, ...own.map(({ title, says }) => `  ${title}: ${says}`), '']
  return [title, ...own.flatMap(findingLines), '']
}

function findingLines({ title, says, rows }: Finding): string[] {
  const [row] = rows.items
  return [
    `  ${title}: ${says}`,
    ...(row
      ? [`    ${row.time || 'without a time'} ${row.outcome ? `[${row.outcome}] ` : ''}${short(row.quote)}`, `    ${row.locator}`]
      : []),
  ]
}

function sessionLines({ sessions }: Report): string[] {
  const busiest = [...sessions].sort((a, b) => b.rows - a.rows).slice(0, MOST_SESSIONS)
  if (busiest.length === 0) return []
  return [
    `Sessions: ${sessions.length}${sessions.length > MOST_SESSIONS ? `, the ${MOST_SESSIONS} longest` : ''}`,
    ...busiest.map(
      (one) =>
        `  ${one.first || 'without a time'} ${one.id}, ${one.turns} turns, ${one.tool_calls} calls${one.errors > 0 ? `, ${one.errors} errors` : ''}: ${short(one.opening)}`,
    ),
  ]
}

function short(text: string): string {
  return text.length > 100 ? `${text.slice(0, 99).toWellFormed()}…` : text
}
