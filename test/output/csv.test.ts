import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { csv } from '../../src/output/index.js'
import { COLUMNS, type Row } from '../../src/rows/index.js'
import { aRow, row } from '../helpers/rows.js'

const bytes = (given: Row, options = {}) => Buffer.from(csv(options).encode(given), 'utf8')
const HEAD =
  'timestamp_utc,host,user,agent,session_id,project_path,git_branch,turn_type,model,tool_name,tool_use_id,text,source_file,source_line'

/** A reader after RFC 4180, section 2, and nothing else: it fails on what the RFC does not allow. */
function readCsv(text: string): string[][] {
  const records: string[][] = []
  let at = 0
  while (at < text.length) {
    const record: string[] = []
    for (;;) {
      let value = ''
      if (text[at] === '"') {
        for (at++; ; at++) {
          if (at >= text.length) throw new Error('a quoted value does not end')
          if (text[at] !== '"') value += text[at]
          else if (text[at + 1] === '"') value += text[at++]
          else break
        }
        at++
      } else while (at < text.length && text[at] !== ',' && text[at] !== '\r') value += text[at++]
      if (/["\n]/.test(value) && text[at - 1] !== '"') throw new Error('a bare quote or line break')
      record.push(value)
      if (text[at] !== ',') break
      at++
    }
    if (text.slice(at, at + 2) !== '\r\n') throw new Error(`no CRLF at ${at}`)
    at += 2
    records.push(record)
  }
  return records
}

describe('csv', () => {
  test('begins with the column names; details only when asked for', () => {
    expect(csv().head).toBe(`${HEAD}\r\n`)
    expect(csv({ details: true }).head).toBe(`${HEAD},details\r\n`)
  })

  test('a plain row, byte for byte', () => {
    const given = row({ session_id: 's', turn_type: 'tool_use', text: 'a b', tool_name: 'Bash', source_line: null })
    expect(csv().encode(given)).toBe('2026-01-01T00:00:00.000Z,,alice,letta,s,,,tool_use,,Bash,,a b,.letta/sessions.jsonl,\r\n')
  })

  test.each([
    ['a comma', 'a,b', '"a,b"'],
    ['quotes', 'say "hi"', '"say ""hi"""'],
    ['only a quote', '"', '""""'],
    ['a line feed', 'a\nb', '"a\nb"'],
    ['a carriage return', 'a\rb', '"a\rb"'],
    ['spaces at the ends', ' a ', ' a '],
    ['what a spreadsheet would run', '=1+1', '=1+1'],
    ['NUL and escape', '\0\x1b[31m', '\0\x1b[31m'],
    ['U+2028', 'a\u2028b', 'a\u2028b'],
  ])('%s', (_, text, cell) => {
    expect(csv().encode(row({ text }))).toContain(`,,,,${cell},.letta/sessions.jsonl,1\r\n`)
  })

  test('a lone surrogate is U+FFFD, the bytes EF BF BD; pairs stay', () => {
    const cell = bytes(row({ text: 'x\ud83dy\u{1f600}' }))
    expect(cell.includes(Buffer.from([0x78, 0xef, 0xbf, 0xbd, 0x79, 0xf0, 0x9f, 0x98, 0x80]))).toBe(true)
  })

  test('details are one JSON cell', () => {
    const [record] = readCsv(csv({ details: true }).encode(row({ details: { store: 's', time_source: 'none', note: 'a "b"\n,' } })))
    expect(JSON.parse(record!.at(-1)!)).toEqual({ store: 's', time_source: 'none', note: 'a "b"\n,' })
  })

  test('whatever the values, a reader after RFC 4180 gets them back', () => {
    fc.assert(
      fc.property(fc.array(aRow, { maxLength: 5 }), (rows) => {
        const encoder = csv()
        const [head, ...records] = readCsv(encoder.head + rows.map((one) => encoder.encode(one)).join(''))
        expect(head!.join(',')).toBe(HEAD)
        expect(records).toEqual(
          rows.map((one) => COLUMNS.filter((column) => column !== 'details').map((column) => String(one[column] ?? ''))),
        )
      }),
    )
  })
})
