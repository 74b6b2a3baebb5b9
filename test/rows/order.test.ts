import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { COLUMNS, compareRows, Row } from '../../src/rows/index.js'
import { aRow, row } from '../helpers/rows.js'

describe('the order of rows', () => {
  test('goes by time, then host, user, agent, file and line; what has no time comes last, no line first', () => {
    const expected = [
      row({ timestamp_utc: '2026-01-01T00:00:00.000Z', host: 'z' }),
      row({ timestamp_utc: '2026-01-02T00:00:00.000Z', host: 'a', user: 'z' }),
      row({ timestamp_utc: '2026-01-02T00:00:00.000Z', host: 'b', user: 'a', agent: 'z' }),
      row({ timestamp_utc: '2026-01-02T00:00:00.000Z', host: 'b', user: 'b', agent: 'a', source_file: 'z' }),
      row({ timestamp_utc: '2026-01-02T00:00:00.000Z', host: 'b', user: 'b', agent: 'b', source_file: 'a', source_line: 9 }),
      row({ timestamp_utc: '2026-01-02T00:00:00.000Z', host: 'b', user: 'b', agent: 'b', source_file: 'b', source_line: null }),
      row({ timestamp_utc: '2026-01-02T00:00:00.000Z', host: 'b', user: 'b', agent: 'b', source_file: 'b', source_line: 2 }),
      row({ timestamp_utc: '2026-01-02T00:00:00.000Z', host: 'b', user: 'b', agent: 'b', source_file: 'b', source_line: 10 }),
      row({ timestamp_utc: '', host: '' }),
    ]
    fc.assert(
      fc.property(fc.shuffledSubarray(expected, { minLength: expected.length }), (shuffled) => {
        expect([...shuffled].sort(compareRows)).toEqual(expected)
      }),
      { numRuns: 50 },
    )
  })

  test('strings go by code unit, not by locale', () => {
    const names = ['Z', '_', 'a', 'ä', '\u{1f600}', '\uff5e']
    const sorted = names.map((user) => row({ user })).sort(compareRows)
    expect(sorted.map(({ user }) => user)).toEqual(names)
  })

  test('is an order: antisymmetric and transitive', () => {
    fc.assert(
      fc.property(aRow, aRow, aRow, (a, b, c) => {
        expect(Math.sign(compareRows(a, b))).toBe(-Math.sign(compareRows(b, a)) + 0)
        if (compareRows(a, b) <= 0 && compareRows(b, c) <= 0) expect(compareRows(a, c)).toBeLessThanOrEqual(0)
      }),
    )
  })
})

describe('the schema of rows', () => {
  test('has the columns of the reference, in its order', () => {
    expect(COLUMNS.join(' ')).toBe(
      'timestamp_utc host user agent session_id project_path git_branch turn_type model tool_name tool_use_id text source_file source_line details',
    )
  })

  test.each([
    ['a time in another form', { timestamp_utc: '2026-01-01T00:00:00Z' }],
    ['an unknown turn type', { turn_type: 'note' }],
    ['line 0', { source_line: 0 }],
    ['a column of its own', { extra: 'x' }],
    ['no details', { details: undefined }],
    ['a kind that is not known and not of a plugin', { details: { store: 's', time_source: 'none', kind: 'other' } }],
    ['a time source that is not known', { details: { store: 's', time_source: 'guess' } }],
  ])('refuses %s', (_, change) => {
    expect(Row.safeParse({ ...row({}), ...change }).success).toBe(false)
  })

  test("takes a kind of a plugin's own", () => {
    expect(Row.safeParse(row({ details: { store: 's', time_source: 'none', kind: 'example:handover' } })).success).toBe(true)
  })
})
