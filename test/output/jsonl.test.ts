import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { jsonl } from '../../src/output/index.js'
import { COLUMNS } from '../../src/rows/index.js'
import { aRow, row } from '../helpers/rows.js'

describe('jsonl', () => {
  test('one object a line, keys in column order, empty values there', () => {
    const line = jsonl.encode(row({ text: 'x', source_line: null }))
    expect(line).toBe(
      '{"timestamp_utc":"2026-01-01T00:00:00.000Z","host":"","user":"alice","agent":"letta","session_id":"","project_path":"","git_branch":"",' +
        '"turn_type":"user","model":"","tool_name":"","tool_use_id":"","text":"x","source_file":".letta/sessions.jsonl","source_line":null,' +
        '"details":{"store":"transcripts","time_source":"record"}}\n',
    )
    expect(jsonl.head).toBe('')
  })

  test('a lone surrogate stays, as an escape', () => {
    expect(jsonl.encode(row({ text: 'x\ud83dy' }))).toContain('"text":"x\\ud83dy"')
    expect(jsonl.encode(row({ text: '\ude00' }))).toContain('"text":"\\ude00"')
  })

  test('whatever the values, each row is one line and reads back the same', () => {
    fc.assert(
      fc.property(aRow, (given) => {
        const line = Buffer.from(jsonl.encode(given), 'utf8').toString('utf8')
        expect(line.indexOf('\n')).toBe(line.length - 1)
        expect(JSON.parse(line)).toEqual(given)
        expect(Object.keys(JSON.parse(line) as object)).toEqual(COLUMNS)
      }),
    )
  })
})
