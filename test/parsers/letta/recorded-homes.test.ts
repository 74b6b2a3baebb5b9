import { describe, expect, test } from '@jest/globals'
import type { Row } from '../../../src/rows/index.js'
import { cases, expectedRows, parse } from '../../helpers/fixtures.js'

const KEY_COLUMNS = [
  'timestamp_utc',
  'host',
  'user',
  'agent',
  'session_id',
  'project_path',
  'git_branch',
  'turn_type',
  'model',
  'tool_name',
  'tool_use_id',
  'text',
  'source_file',
  'source_line',
] as const

/** The details that the second implementation gives: the flags of rows.md, not the values of texts. */
const FLAGS = [
  'store',
  'time_source',
  'mtime_from',
  'kind',
  'source_line_id',
  'source_message_id',
  'result_ok',
  'submitted_at',
  'project_from',
  'origin',
  'is_error',
  'time_synthetic',
  'copied_from',
  'replaced',
]

const columns = (row: Row) => Object.fromEntries(KEY_COLUMNS.map((column) => [column, row[column]]))
const flags = (row: Row) => Object.fromEntries(FLAGS.flatMap((flag) => (flag in row.details ? [[flag, row.details[flag]]] : [])))

describe.each(cases('letta').map((given) => [given.name, given] as const))('the recorded home %s', (_, given) => {
  test('gives the rows of the second implementation, in its order', async () => {
    const { rows } = await parse({ homes: [given.home] })
    expect(rows.map(columns)).toEqual(expectedRows(given).map(columns))
  })

  test('says of each row where its time and project come from', async () => {
    const { rows } = await parse({ homes: [given.home] })
    expect(rows.map(flags)).toEqual(expectedRows(given).map(flags))
  })
})
