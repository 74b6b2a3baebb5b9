import { letta } from '../../src/catalog/index.js'
import { Evidence } from '../../src/evidence/index.js'
import { htmlReport, triage, type ReportInput, type Triage } from '../../src/report/index.js'
import type { Row } from '../../src/rows/index.js'
import { presenceOf } from '../../src/verbs/presence.js'
import { runRecord } from '../../src/verbs/run-record.js'
import { parse } from './fixtures.js'

type Options = Partial<Pick<ReportInput, 'case' | 'examiner' | 'redactNames' | 'filteredOut'>>

/** The report of a home, as the verb makes it. */
export async function triageHome(home: string, options: Options = {}, host = ''): Promise<Triage> {
  const { rows, runs } = await parse({ homes: [home], host })
  const at = new Date('2026-12-01T00:00:00.000Z')
  const timeline = { runs, rows: rows.length, first: '', last: '', withoutTime: 0, filteredOut: 0 }
  const registered = [{ entry: letta, parser: 'test', by: { name: 'test', version: '0' } }] as unknown as Parameters<
    typeof runRecord
  >[0]['registered']
  const run = runRecord({
    version: '0',
    arguments: ['letta', 'report'],
    started: at,
    ended: at,
    registered,
    notes: [],
    timeline,
    output: null,
  })
  return triage({ rows, catalog: [letta], run, ...presenceOf(new Evidence({ homes: [home], host }), [letta]), ...options })
}

/** The report of rows alone. */
export async function triageRows(rows: readonly Row[], options: Options = {}): Promise<Triage> {
  const run = {
    tool: { name: 'test', version: '0' },
    arguments: [],
    started: '2026-12-01T00:00:00.000Z',
    parsers: [],
    plugin_notes: [],
    homes: [],
  }
  return triage({ rows, catalog: [letta], run, stores: [], credentials: [], ...options })
}

export function htmlOf(given: Triage): string {
  return [...htmlReport(given)].join('')
}

/** A row with what a test does not care about filled in. */
export function row(given: Partial<Omit<Row, 'details'>> & { readonly details?: Record<string, unknown> }): Row {
  return {
    timestamp_utc: '2026-10-01T12:00:00.000Z',
    host: '',
    user: 'alice',
    agent: 'letta',
    session_id: 's-1',
    project_path: '/home/alice/repo',
    git_branch: '',
    turn_type: 'user',
    model: '',
    tool_name: '',
    tool_use_id: '',
    text: '',
    source_file: '.letta/lc-local-backend/conversations/Y29udmVyc2F0aW9uOnMtMQ/messages.jsonl',
    source_line: 2,
    ...given,
    details: { store: 'messages', time_source: 'record', ...given.details } as Row['details'],
  }
}

let calls = 0

/** A call and its result, as the local store holds them. */
export function call(
  tool_name: string,
  text: string,
  result = 'done',
  details: Record<string, unknown> = { is_error: false },
  given: Partial<Row> = {},
): Row[] {
  const tool_use_id = `call_${++calls}`
  const at = { tool_name, tool_use_id, ...given, details: undefined }
  return [row({ ...at, turn_type: 'tool_use', text }), row({ ...at, turn_type: 'tool_result', text: result, details })]
}

/** A system row of a kind, with the values of its text. */
export function system(kind: string, values: Record<string, unknown>, given: Partial<Row> = {}): Row {
  return row({ turn_type: 'system', text: kind, ...given, details: { ...values, kind, ...given.details } })
}
