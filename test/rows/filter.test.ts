import { describe, expect, test } from '@jest/globals'
import { rowTest, type Row, type RowFilter } from '../../src/rows/index.js'

const row = (given: Partial<Row>): Row => ({
  timestamp_utc: '2026-10-01T12:00:00.000Z',
  host: '',
  user: 'alice',
  agent: 'letta',
  session_id: 'local-conv-1',
  project_path: '/home/alice/repo',
  git_branch: '',
  turn_type: 'tool_use',
  model: '',
  tool_name: 'Bash',
  tool_use_id: 'call_1',
  text: 'rm -rf data',
  source_file: 'f',
  source_line: 1,
  details: { store: 'messages', time_source: 'record' },
  ...given,
})

const keeps = (filter: RowFilter, given: Partial<Row> = {}) => (rowTest(filter) ?? (() => true))(row(given))

describe('row filters', () => {
  test('without a question there is no test', () => expect(rowTest({ sessions: [], patterns: [] })).toBeUndefined())

  test('a row without a time stays, whatever the time range', () => {
    expect(keeps({ since: '2026-10-02T00:00:00.000Z' })).toBe(false)
    expect(keeps({ until: '2026-09-30T00:00:00.000Z' })).toBe(false)
    expect(keeps({ since: '2026-10-02T00:00:00.000Z', until: '2026-09-30T00:00:00.000Z' }, { timestamp_utc: '' })).toBe(true)
  })

  test('a project is its folder and what lies below, not a folder whose name begins alike', () => {
    expect(keeps({ projects: ['/home/alice/repo/'] })).toBe(true)
    expect(keeps({ projects: ['/home/alice/repo'] }, { project_path: '/home/alice/repo/web' })).toBe(true)
    expect(keeps({ projects: ['/home/alice/repo'] }, { project_path: '/home/alice/repository' })).toBe(false)
    expect(keeps({ projects: ['C:\\work'] }, { project_path: 'C:\\work\\web' })).toBe(true)
  })

  test('a plain pattern is no expression, an expression is', () => {
    expect(keeps({ patterns: ['rm -rf .*'] })).toBe(false)
    expect(keeps({ patterns: [/rm -rf .*/] })).toBe(true)
  })

  test('one of each list is enough, but every list must be met', () => {
    expect(keeps({ tools: ['Read', 'Bash'], turnTypes: ['tool_use'] })).toBe(true)
    expect(keeps({ tools: ['Read', 'Bash'], turnTypes: ['user'] })).toBe(false)
    expect(keeps({ sessions: ['other'] })).toBe(false)
  })
})
