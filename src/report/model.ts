import { kindOf, type Entry, type Evidence } from './entry.js'
import { headOf } from './head.js'
import type { ReportInput } from './input.js'
import { takeIn } from './intake.js'
import { listed, refer } from './quote.js'
import { Redactor } from './redact.js'
import { RULES } from './rules.js'
import type { Finding, Report } from './schema.js'
import { Secrets } from './secrets.js'
import { agentsOf, programRuns, sessionsOf } from './sessions.js'
import {
  activityTable,
  channelTable,
  commandTable,
  credentialTable,
  hostTable,
  pathTables,
  permissionTables,
  taskTable,
  toolTable,
} from './tables.js'

/** Rows that a finding lists; HTML and `parse` have them all. */
const MOST_ROWS = 200

/** A report and the rows that it rests on. */
export interface Triage {
  readonly report: Report
  readonly evidence: Evidence
  /** The session key of each of the report's sessions. */
  readonly sessionKeys: readonly string[]
  /** All rows of each of the report's findings. */
  readonly findingRows: readonly (readonly Entry[])[]
}

/** Computes the report; every view shows this and nothing else. */
export async function triage(input: ReportInput): Promise<Triage> {
  const secrets = await Secrets.load()
  const redact = input.redactNames ? new Redactor(input.rows, input.run.homes).redact : (text: string) => text
  const clean = (text: string) => redact(secrets.mask(text))
  const evidence = takeIn(input.rows, secrets, redact)
  const found = findingsOf(evidence, (input.filteredOut ?? 0) > 0)
  const { sessions, keys } = sessionsOf(evidence)
  const report: Report = {
    report: 'agent-forensics report',
    head: headOf(input, evidence, clean),
    findings: found.map(({ finding }) => finding),
    sessions,
    program_runs: programRuns(evidence),
    activity: activityTable(evidence),
    tools: toolTable(evidence),
    commands: commandTable(evidence),
    ...pathTables(evidence),
    hosts: hostTable(evidence),
    ...permissionTables(evidence),
    credentials: credentialTable({
      ...input,
      credentials: input.credentials.map((one) => ({ ...one, user: clean(one.user), path: clean(one.path) })),
    }),
    tasks: taskTable(evidence),
    channels: channelTable(evidence),
    agents: agentsOf(evidence),
    unreadable: listed(
      evidence.entries.filter((entry) => kindOf(entry) === 'parser').map((entry) => refer(entry, evidence)),
      MOST_ROWS,
    ),
  }
  return { report, evidence, sessionKeys: keys, findingRows: found.map(({ rows }) => rows) }
}

function findingsOf(evidence: Evidence, filtered: boolean): { finding: Finding; rows: readonly Entry[] }[] {
  return RULES.filter(({ absence }) => !(absence && filtered))
    .map((rule) => ({ rule, rows: rule.find(evidence) }))
    .filter(({ rows }) => rows.length > 0)
    .sort((a, b) => a.rule.rank - b.rule.rank)
    .map(({ rule, rows }) => {
      const { id, rank, title, reason, caveat } = rule
      const refs = listed(
        rows.slice(0, MOST_ROWS).map((entry) => refer(entry, evidence, rule.quote?.(entry, evidence))),
        MOST_ROWS,
      )
      return {
        finding: {
          id,
          rank,
          title,
          says: rule.say(rows, evidence),
          reason,
          caveat,
          count: rows.length,
          rows: { items: refs.items, more: rows.length - refs.items.length },
        },
        rows,
      }
    })
}
