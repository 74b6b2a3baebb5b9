import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { letta } from '../../../src/catalog/index.js'
import { Evidence, type EvidenceOptions } from '../../../src/evidence/index.js'
import { LettaParser } from '../../../src/parsers/letta/index.js'
import { compactJson, COLUMNS } from '../../../src/rows/index.js'
import { masksFor } from '../../../src/verbs/explain/masks.js'
import { ExplainedRow, explainRow, NotInEvidence, rowAddresses } from '../../../src/verbs/explain/row.js'
import { Trace } from '../../../src/verbs/explain/trace.js'
import { cases, expectedRows, jsonLines, makeHome, parse, type FixtureCase } from '../../helpers/fixtures.js'
import { validator } from '../../helpers/schemas.js'

const parsers = [{ parser: new LettaParser(letta), plugin: 'test' }]
const entries = [letta]
const traceOf = (options: EvidenceOptions) => Trace.read(() => new Evidence(options), parsers)
const valid = validator(ExplainedRow)

/** Copies that the second implementation dropped (shared evidence, expected/README.md). */
const DROPPED: Record<string, number> = {
  seed: 0,
  '0.25.9-local': 17,
  '0.25.9-migrated': 17 + 42,
  '0.30.28-local': 12,
  '0.32.18-after-agent-delete': 2,
  '0.32.18-api': 0,
  '0.32.18-local': 172 + 3,
  '0.32.18-rewrite': 4,
  '0.32.18-code': 60,
}
const name = (given: FixtureCase) => path.basename(given.name)

describe.each(cases('letta').map((given) => [name(given), given] as const))('in the recorded home %s', (id, given) => {
  test('each row is given back by its source, with a rule for every column', async () => {
    const trace = await traceOf({ homes: [given.home] })
    const explained = new Map<string, ExplainedRow>()
    for (const row of expectedRows(given)) {
      const address = `${row.source_file}${row.source_line === null ? '' : `:${row.source_line}`}`
      if (!explained.has(address)) explained.set(address, await explainRow(address, trace, { entries }))
      const kept = explained.get(address)!.rows.filter(({ status }) => status === 'kept')
      const same = kept.filter((one) => COLUMNS.every((column) => column === 'details' || one.row[column] === row[column]))
      expect(same.length).toBeGreaterThan(0)
    }
    for (const one of explained.values()) {
      expect(valid(one)).toEqual([])
      for (const { columns, meaning } of one.rows) {
        expect(columns.map(({ column }) => column)).toEqual([...COLUMNS])
        expect(meaning).not.toBeNull()
      }
    }
    const rows = [...explained.values()].flatMap(({ rows }) => rows.filter(({ status }) => status === 'kept'))
    expect(rows).toHaveLength(expectedRows(given).length)
  })

  test('the record is the bytes of the file at its offset, by their SHA-256', async () => {
    const trace = await traceOf({ homes: [given.home] })
    for (const { file, rows } of trace.files.filter(({ file }) => file.project === '')) {
      const bytes = fs.readFileSync(path.join(given.home, file.path))
      for (const line of new Set(rows.map(({ row }) => row.source_line))) {
        const { record } = await explainRow(`${file.path}${line === null ? '' : `:${line}`}`, trace, { entries })
        const part = bytes.subarray(record!.offset, record!.offset + record!.length)
        expect(record!.sha256).toBe(createHash('sha256').update(part).digest('hex'))
        if (line === null) expect(part).toHaveLength(bytes.length)
        else {
          expect(bytes.subarray(0, record!.offset).filter((byte) => byte === 10)).toHaveLength(line - 1)
          expect(part.includes(10)).toBe(false)
        }
      }
    }
  })

  test('each dropped copy names the row that it repeats', async () => {
    const trace = await traceOf({ homes: [given.home] })
    const dropped = trace.files.flatMap((file) => file.rows.filter((one) => one.dropped).map(({ row }) => ({ file, row })))
    expect(dropped).toHaveLength(DROPPED[id]!)
    const { rows: timeline } = await parse({ homes: [given.home] })
    const plain = (text: string) => text.replace(/\s+/g, ' ').trim()
    for (const { file, row } of dropped) {
      const repeated = trace.repeatedBy(file, row)
      expect(repeated).toBeDefined()
      expect(repeated!.turn_type).toBe(row.turn_type)
      const sameCall =
        row.turn_type.startsWith('tool') &&
        [row.tool_use_id, (row.details as { source_line_id?: string }).source_line_id].includes(repeated!.tool_use_id)
      expect(sameCall || plain(repeated!.text) === plain(row.text)).toBe(true)
      expect(timeline).toContainEqual(repeated)
    }
  })
})

describe('the address of a row', () => {
  test('is read with and without user and line, with either separator', () => {
    expect(rowAddresses('.letta/sessions.jsonl:3')[0]).toEqual({ file: '.letta/sessions.jsonl', line: 3 })
    expect(rowAddresses('alice:.letta/crons.json')).toContainEqual({ user: 'alice', file: '.letta/crons.json', line: null })
    expect(rowAddresses('C:\\work\\p\\.letta\\settings.json')[0]).toEqual({ file: 'C:/work/p/.letta/settings.json', line: null })
    expect(rowAddresses('.letta\\sessions.jsonl:3')[0]).toEqual({ file: '.letta/sessions.jsonl', line: 3 })
  })

  test('that names nothing says so, and one that two homes have asks whose', async () => {
    const session = jsonLines({ session_id: 's', timestamp: 1, exit_reason: 'logout' })
    const alice = makeHome({ '.letta/sessions.jsonl': session }, { at: 'home/alice' })
    const bob = makeHome({ '.letta/sessions.jsonl': session }, { at: 'home/bob' })
    const trace = await traceOf({ homes: [alice, bob] })
    await expect(explainRow('.letta/nothing.jsonl:1', trace, { entries })).rejects.toThrow(NotInEvidence)
    await expect(explainRow('.letta/sessions.jsonl:9', trace, { entries })).rejects.toThrow('several homes')
    await expect(explainRow('bob:.letta/sessions.jsonl:9', trace, { entries })).rejects.toThrow('has no line 9')
    expect((await explainRow('bob:.letta/sessions.jsonl:1', trace, { entries })).source.user).toBe('bob')
  })
})

describe('what could not be read', () => {
  test('is shown as the bytes around the fault, escaped', async () => {
    const line = Buffer.concat([Buffer.from('{"session_id":"a","x":"'), Buffer.from([0xff, 0x1b]), Buffer.from('"')])
    const home = makeHome({ '.letta/sessions.jsonl': Buffer.concat([line, Buffer.from('\n')]) })
    const one = await explainRow('.letta/sessions.jsonl:1', await traceOf({ homes: [home] }), { entries })
    expect(one.record?.fault).toBe('{"session_id":"a","x":"\\xff\\x1b"')
    expect(one.rows.map(({ row }) => row.details.kind)).toEqual(['parser'])
    expect(one.rows[0]?.meaning?.id).toBe('parser')
    expect(valid(one)).toEqual([])
  })

  test('a fault far into a long line is shown where it is', async () => {
    const home = makeHome({ '.letta/sessions.jsonl': `{"session_id":"${'a'.repeat(5000)}" FAULT}\n` })
    const one = await explainRow('.letta/sessions.jsonl:1', await traceOf({ homes: [home] }), { entries })
    expect(one.record?.fault).toContain('FAULT')
    expect(one.record?.fault).toMatch(/^\.\.\.a/)
  })

  test('a file that cannot be opened is named, with its row', async () => {
    const home = makeHome({ 'elsewhere.json': '{}' })
    fs.mkdirSync(path.join(home, '.letta'))
    fs.symlinkSync(path.join(home, 'elsewhere.json'), path.join(home, '.letta/crons.json'))
    const one = await explainRow('.letta/crons.json', await traceOf({ homes: [home] }), { entries })
    expect(one.record).toBeNull()
    expect(one.unreadable).toMatch(/link|regular/)
    expect(one.rows).toHaveLength(1)
  })
})

test('a file that stands under two names says whose rows are its own', async () => {
  const routes = JSON.stringify({ routes: [{ chatId: '1', agentId: 'a', conversationId: 'c', createdAt: '2026-11-30T10:00:00.000Z' }] })
  const home = makeHome({ '.letta/channels/slack/routing.json': routes, '.letta/channels/slack/routing.yaml': routes })
  const one = await explainRow('.letta/channels/slack/routing.yaml', await traceOf({ homes: [home] }), { entries })
  expect(one.rows).toEqual([])
  expect(one.notes.join()).toContain('same bytes stand in .letta/channels/slack/routing.json')
})

describe('secrets', () => {
  const settings = {
    env: { LETTA_API_KEY: 'plain-words-but-a-secret', PATH: '/x' },
    refreshToken: 12345678901234567890n,
    hooks: { Stop: [{ hooks: [{ type: 'command', command: 'curl -H "Authorization: Bearer 9f8e7d6c5b4a39281706f5e4d3c2b1a0"' }] }] },
    permissions: { allow: ['Bash(curl -H "x-api-key: sk-let-QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo=")'] },
  }
  const home = () =>
    makeHome({
      '.letta/settings.json': JSON.stringify(settings, (_, value: unknown) => (typeof value === 'bigint' ? Number(value) : value)),
    })

  test('values under credential keys and secrets in texts are masked', async () => {
    const one = await explainRow('.letta/settings.json', await traceOf({ homes: [home()] }), { entries, masks: await masksFor(entries) })
    const shown = JSON.stringify(one)
    for (const secret of ['plain-words-but-a-secret', '12345678901234567', '9f8e7d6c5b4a3928', 'QUJDREVGR0hJSktM'])
      expect(shown).not.toContain(secret)
    expect(shown).toContain('curl -H')
    expect(one.record?.form).toBe('json')
    expect(one.record?.masked).toBe(5)
    expect(one.record?.text).toContain('"LETTA_API_KEY": "[masked: 26 characters]"')
    expect(valid(one)).toEqual([])
  })

  test('are shown when asked for', async () => {
    const one = await explainRow('.letta/settings.json', await traceOf({ homes: [home()] }), { entries })
    expect(one.record?.text).toContain('plain-words-but-a-secret')
    expect(one.record?.masked).toBe(0)
  })
})

test('a record keeps its digits and the order of its keys', async () => {
  const home = makeHome({ '.letta/sessions.jsonl': '{"2":1.0,"1":12345678901234567890,"session_id":"s","timestamp":1}\n' })
  const one = await explainRow('.letta/sessions.jsonl:1', await traceOf({ homes: [home] }), { entries })
  expect(one.record?.text).toBe('{\n  "2": 1.0,\n  "1": 12345678901234567890,\n  "session_id": "s",\n  "timestamp": 1\n}')
  expect(compactJson(one.fields_not_known)).toContain('"2"')
})
