import fs from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { DuckDBConnection } from '@duckdb/node-api'
import { csv, jsonl } from '../../src/output/index.js'
import { COLUMNS, type Row } from '../../src/rows/index.js'
import { fixture, parse } from '../helpers/fixtures.js'
import { scratch, skipLoudly } from '../helpers/places.js'
import { row } from '../helpers/rows.js'

/** Its binding is an optional package for each platform. */
const duckdb = await import('@duckdb/node-api').catch(() => undefined)
if (!duckdb) skipLoudly('@duckdb/node-api has no binding here: whether DuckDB reads our files was not looked at')

const directory = scratch('duckdb')
const ODD = [
  '',
  ' a ',
  '"',
  '""',
  "'",
  ',',
  '\n',
  '\r\n',
  'a\rb',
  'a\tb',
  '\\',
  '\\n',
  'NULL',
  'null',
  '1e5',
  '007',
  '=1+1',
  'é',
  '😀',
  'a\u2028b',
  '\u202e',
  '{"a":1}',
  '\x1b[2J',
]
const columns = COLUMNS.filter((column) => column !== 'details')

;(duckdb ? describe : describe.skip)('DuckDB', () => {
  let db: DuckDBConnection
  let rows: Row[]

  beforeAll(async () => {
    db = await (await duckdb!.DuckDBInstance.create(':memory:')).connect()
    const recorded = await Promise.all(
      ['seed', '0.32.18-local', '0.25.9-migrated'].map((name) => parse({ homes: [fixture(`letta/${name}`).home] })),
    )
    rows = [...recorded.flatMap((one) => one.rows), ...ODD.map((text, i) => row({ text, session_id: text, source_line: i % 2 ? i : null }))]
    const details = csv({ details: true })
    fs.writeFileSync(path.join(directory, 'rows.csv'), csv().head + rows.map(csv().encode).join(''))
    fs.writeFileSync(path.join(directory, 'details.csv'), details.head + rows.map(details.encode).join(''))
    fs.writeFileSync(path.join(directory, 'rows.jsonl'), rows.map(jsonl.encode).join(''))
  })
  afterAll(() => db.closeSync())

  const query = async (sql: string) => (await db.runAndReadAll(sql.replaceAll('@', `${directory}/`))).getRowObjectsJson()
  const asText = (one: Row) => Object.fromEntries(columns.map((column) => [column, String(one[column] ?? '')]))

  test('reads every row and every text of the CSV, guessing its form', async () => {
    const read = await query("select * from read_csv('@rows.csv', all_varchar = true, nullstr = 'no such value')")
    expect(read).toHaveLength(rows.length)
    expect(read.map((one) => Object.fromEntries(columns.map((column) => [column, one[column] ?? ''])))).toEqual(rows.map(asText))
  })

  test('reads the CSV in strict mode, told only that it is RFC 4180', async () => {
    const read = await query(
      `select count(*)::int as n, count(distinct text)::int as texts from read_csv('@rows.csv', delim = ',', quote = '"', escape = '"', header = true, strict_mode = true, all_varchar = true, nullstr = 'no such value')`,
    )
    expect(read).toEqual([{ n: rows.length, texts: new Set(rows.map((one) => one.text)).size }])
  })

  test('reads the details column as JSON', async () => {
    const read = await query(
      "select details->>'store' as store, count(*)::int as n from read_csv('@details.csv', all_varchar = true) group by store order by store",
    )
    const counts = new Map<string, number>()
    for (const one of rows) counts.set(one.details.store, (counts.get(one.details.store) ?? 0) + 1)
    expect(read).toEqual([...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([store, n]) => ({ store, n })))
  })

  test('reads every row and every text of the JSONL', async () => {
    const read = await query(
      "select text, session_id, source_line, details->>'store' as store from read_json('@rows.jsonl', format = 'newline_delimited', columns = {text: 'VARCHAR', session_id: 'VARCHAR', source_line: 'INTEGER', details: 'JSON'})",
    )
    expect(read.map(({ text, session_id, source_line, store }) => [text, session_id, source_line, store])).toEqual(
      rows.map(({ text, session_id, source_line, details }) => [text, session_id, source_line, details.store]),
    )
  })

  test('reads rows with lone surrogates, of CSV as U+FFFD, and every row behind them', async () => {
    const { rows: lone } = await parse({ homes: [fixture('letta/bugs/02-lone-surrogate').home] })
    fs.writeFileSync(path.join(directory, 'lone.csv'), csv().head + lone.map(csv().encode).join(''))
    const read = await query("select text from read_csv('@lone.csv', all_varchar = true, nullstr = 'no such value')")
    expect(read.map(({ text }) => text)).toEqual(lone.map(({ text }) => text.toWellFormed()))
  })

  test('takes the times for times', async () => {
    const [read] = await query(
      "select count(*)::int as n, max(timestamp_utc::timestamptz)::varchar is not null as ok from read_json('@rows.jsonl', format = 'newline_delimited', columns = {timestamp_utc: 'VARCHAR'}) where timestamp_utc <> ''",
    )
    expect(read).toEqual({ n: rows.filter((one) => one.timestamp_utc !== '').length, ok: true })
  })
})
