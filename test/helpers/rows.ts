import fc from 'fast-check'
import type { Details, Row } from '../../src/rows/index.js'

/** A row with what a test is about; the rest is plain. */
export function row(given: Partial<Omit<Row, 'details'>> & { readonly details?: object }): Row {
  return {
    timestamp_utc: '2026-01-01T00:00:00.000Z',
    host: '',
    user: 'alice',
    agent: 'letta',
    session_id: '',
    project_path: '',
    git_branch: '',
    turn_type: 'user',
    model: '',
    tool_name: '',
    tool_use_id: '',
    text: '',
    source_file: '.letta/sessions.jsonl',
    source_line: 1,
    ...given,
    details: (given.details ?? { store: 'transcripts', time_source: 'record' }) as Details,
  }
}

/** Rows that often agree in some keys of the order, so that every key decides somewhere. */
export const aRow: fc.Arbitrary<Row> = fc
  .record({
    timestamp_utc: fc.oneof(
      fc.constant(''),
      fc.integer({ min: 0, max: 3 }).map((s) => new Date(s * 1000).toISOString()),
    ),
    host: fc.constantFrom('', 'h'),
    user: fc.constantFrom('alice', 'bob'),
    agent: fc.constantFrom('letta', 'pi'),
    source_file: fc.constantFrom('a', 'b', 'ä'),
    source_line: fc.oneof(fc.constant(null), fc.integer({ min: 1, max: 3 })),
    text: fc.string({ unit: 'binary' }),
  })
  .map(row)
