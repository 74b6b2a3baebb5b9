import fs from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { compareRows, Row } from '../../src/rows/index.js'
import { csv, jsonl } from '../../src/output/index.js'
import { cases, FIXTURES, parse, type FixtureCase, type Parsed } from '../helpers/fixtures.js'
import { scratch, snapshot } from '../helpers/places.js'
import { registeredParsers } from '../helpers/registered.js'

const parsers = await registeredParsers()
const copies = scratch('contract')

/** Every case of an agent, those of damaged files too. */
function allCases(agent: string): FixtureCase[] {
  if (!fs.existsSync(path.join(FIXTURES, agent))) return []
  const bugs = fs.existsSync(path.join(FIXTURES, agent, 'bugs')) ? cases(agent, 'bugs') : []
  return [...cases(agent), ...bugs]
}

const evidenceOf = ({ home }: FixtureCase) => {
  const widget = path.join(home, 'widget')
  return { homes: [home], projectDirs: fs.existsSync(widget) ? [widget] : [] }
}

const total = ({ runs }: Parsed, count: 'rows' | 'dropped' | 'records' | 'headers' | 'replaced' | 'bad') =>
  runs.flatMap(({ run }) => [...run.tallies.values()]).reduce((sum, tally) => sum + tally[count], 0)

describe.each(parsers.map((parser) => [parser.entry.agent, parser] as const))('the registered parser %s', (agent, parser) => {
  test('has fixtures', () => {
    expect(allCases(agent).length).toBeGreaterThan(0)
  })

  describe.each(allCases(agent).map((given) => [given.name, given] as const))('on %s', (_, given) => {
    test('gives rows of the schema, of its agent and its account', async () => {
      const { rows } = await parse(evidenceOf(given), {}, parser)
      for (const row of rows) {
        expect(Row.safeParse(row).error?.issues ?? []).toEqual([])
        expect([row.agent, row.user, row.host]).toEqual([agent, path.basename(given.home), ''])
        if (row.timestamp_utc === '') expect(row.details.time_source).toBe('none')
        if (row.details.time_source === 'file-mtime') expect(row.details.mtime_from).toBe('filesystem')
        if (row.turn_type === 'system') expect(row.details.kind).toBeDefined()
      }
    })

    test('gives them in one order, each file in the order of its lines', async () => {
      const { rows } = await parse(evidenceOf(given), {}, parser)
      expect([...rows].sort(compareRows)).toEqual(rows)
    })

    test('twice gives the same bytes', async () => {
      const bytes = async (encode: (row: Row) => string) => (await parse(evidenceOf(given), {}, parser)).rows.map(encode).join('')
      expect(await bytes(jsonl.encode)).toBe(await bytes(jsonl.encode))
      expect(await bytes(csv({ details: true }).encode)).toBe(await bytes(csv({ details: true }).encode))
    })

    test('changes nothing, not even a time of access', async () => {
      // A copy: other tests read the fixture itself at the same time.
      const directory = path.join(copies, given.name)
      fs.cpSync(given.directory, directory, { recursive: true, preserveTimestamps: true })
      const copy = { ...given, directory, home: path.join(directory, path.relative(given.directory, given.home)) }
      const before = snapshot(directory)
      await parse(evidenceOf(copy), {}, parser)
      await parse(evidenceOf(copy), { allSources: true, originalsOnly: true }, parser)
      expect(snapshot(directory)).toEqual(before)
    })

    test('counts the rows that it gives, and those that it drops', async () => {
      const kept = await parse(evidenceOf(given), {}, parser)
      const all = await parse(evidenceOf(given), { allSources: true }, parser)
      expect(total(kept, 'rows')).toBe(kept.rows.length)
      expect(total(all, 'rows')).toBe(all.rows.length)
      expect(total(kept, 'dropped')).toBe(all.rows.length - kept.rows.length)
      const parserRows = kept.rows.filter((row) => row.details.kind === 'parser')
      expect(total(kept, 'bad')).toBe(parserRows.length)
    })

    test('leaves out only copies by --originals-only: the rows marked as such', async () => {
      const kept = await parse(evidenceOf(given), {}, parser)
      const originals = await parse(evidenceOf(given), { originalsOnly: true }, parser)
      const text = (rows: readonly Row[]) => rows.map((row) => JSON.stringify(row))
      expect(text(originals.rows)).toEqual(text(kept.rows.filter((row) => row.details.copied_from === undefined)))
    })

    test('names what it read, with its size and its time', async () => {
      const { runs } = await parse(evidenceOf(given), {}, parser)
      for (const file of runs.flatMap(({ run }) => [...run.files]).filter((file) => file.project === '')) {
        const stat = fs.statSync(path.join(given.home, file.path), { bigint: true })
        expect(file.wasRead).toMatchObject({ path: file.path, size: Number(stat.size) })
        expect(file.mtime).toBe(new Date(Number(stat.mtimeNs / 1_000_000n)).toISOString())
      }
    })
  })
})

/** What the letta parser must have read, told from the layout alone (letta-stores 1). */
const LETTA_LINES = [
  /^\.letta\/transcripts\/[^/]+\/[^/]+\/transcript\.jsonl$/,
  /^\.letta\/lc-local-backend\/conversations\/[^/]+\/messages\.jsonl(\.pre-pi-backup-[^/]+)?$/,
  /^\.letta\/sessions\.jsonl$/,
  /^\.letta\/runs\/[^/]+\.jsonl$/,
]
const LETTA_DOCUMENTS = [
  /^\.letta\/settings(\.local)?\.json$/,
  /^\.config\/letta\/settings\.json$/,
  /^\.letta\/(remote-settings|cwd-cache|crons)\.json$/,
  /^\.letta\/lc-local-backend\/conversations\/[^/]+\/conversation\.json$/,
  /^\.letta\/channels\/[^/]+\/routing\.(json|yaml)$/,
  /^\.letta\/listener-state\/[^/]+\/[^/]+\.json$/,
]

/** Claude Subconscious joins several files into a row: its own tests count those (letta-stores 7). */
const SUBCONSCIOUS = [/^\.letta\/claude\/(conversations|session-[^/]+)\.json$/]

type Json = Record<string, unknown>
const anObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)
const list = (value: unknown) => (Array.isArray(value) ? value : [])

/** How many rows a whole-file record gives, by a plain count of its entries. */
const ENTRIES: readonly (readonly [RegExp, (json: Json) => number])[] = [
  [
    /settings(\.local)?\.json$/,
    (json) => rules(json) + Object.keys((json.sessionsByServer ?? {}) as Json).filter((key) => !key.startsWith('local:')).length,
  ],
  [/crons\.json$/, (json) => list(json.tasks).length],
  [/routing\.(json|yaml)$/, (json) => list(json.routes).length],
  [/listener-state/, (json) => 1 + list(json.results).length],
  [/conversation\.json$|cwd-cache\.json$/, () => 0],
]
const rules = (json: Json) =>
  Object.values((json.permissions ?? {}) as Json).reduce((sum: number, value) => sum + (Array.isArray(value) ? value.length : 1), 0)

describe.each(allCases('letta').map((given) => [given.name, given] as const))('every record of %s is accounted for', (_, given) => {
  const files = fs
    .readdirSync(given.home, { recursive: true, encoding: 'utf8' })
    .filter((name) => fs.statSync(path.join(given.home, name)).isFile())
  const matching = (patterns: readonly RegExp[]) => files.filter((name) => patterns.some((pattern) => pattern.test(name))).sort()
  const letta = parsers.find((parser) => parser.entry.agent === 'letta')!

  test('every file that the layout names was read, and no other of the home', async () => {
    const { runs } = await parse(evidenceOf(given), {}, letta)
    const read = runs
      .flatMap(({ run }) => [...run.files])
      .filter((file) => file.project === '')
      .map((file) => file.path)
    expect(read.filter((name) => !name.includes('/.letta/')).sort()).toEqual(
      matching([...LETTA_LINES, ...LETTA_DOCUMENTS, ...SUBCONSCIOUS]),
    )
  })

  test('each line is a row, a header, a replaced snapshot, an empty part or a parser row', async () => {
    const { rows } = await parse(evidenceOf(given), { allSources: true }, letta)
    for (const name of matching(LETTA_LINES)) {
      const lines = fs.readFileSync(path.join(given.home, name), 'utf8').split('\n')
      const shown = new Set(rows.filter((row) => row.source_file === name).map((row) => row.source_line))
      const lastOf = new Map<unknown, number>()
      if (/messages\.jsonl/.test(name)) lines.forEach((line, i) => lastOf.set(messageOf(line)?.id, i + 1))
      const silent = lines.map((line, i) => (shown.has(i + 1) ? 'shown' : whySilent(line, i + 1, lastOf)))
      const expected = lines.map((line, i) => (whySilent(line, i + 1, lastOf) === 'unexplained' ? 'shown' : whySilent(line, i + 1, lastOf)))
      expect([name, silent]).toEqual([name, expected])
    }
  })

  test('each entry of a whole-file record is a row', async () => {
    const { rows } = await parse(evidenceOf(given), { allSources: true }, letta)
    for (const name of matching(LETTA_DOCUMENTS).filter((name) => !name.endsWith('remote-settings.json'))) {
      const ofFile = rows.filter((row) => row.source_file === name)
      const json = parsedObject(fs.readFileSync(path.join(given.home, name), 'utf8'))
      if (json) expect([name, ofFile.length]).toEqual([name, ENTRIES.find(([pattern]) => pattern.test(name))![1](json)])
      else expect([name, ofFile.map((row) => row.details.kind)]).toEqual([name, ['parser']])
    }
  })

  test('headers and replaced snapshots are counted as a plain count has them', async () => {
    const { runs } = await parse(evidenceOf(given), {}, letta)
    const tally = runs[0]!.run.tallies.get('messages')
    let headers = 0
    let replaced = 0
    for (const name of matching([/messages\.jsonl$/])) {
      const lines = fs.readFileSync(path.join(given.home, name), 'utf8').split('\n')
      headers += lines.filter((line) => line.startsWith('{"type":"session"')).length
      const ids = lines.map((line) => messageOf(line)?.id).filter((id) => id !== undefined)
      replaced += ids.length - new Set(ids).size
    }
    expect([tally?.headers ?? 0, tally?.replaced ?? 0]).toEqual([headers, replaced])
  })
})

function parsedObject(text: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return anObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

function messageOf(line: string): Json | undefined {
  const entry = parsedObject(line)
  if (entry?.type === 'message') return anObject(entry.message) ? entry.message : undefined
  return entry && entry.type === undefined ? entry : undefined
}

function whySilent(line: string, number: number, lastOf: ReadonlyMap<unknown, number>): string {
  if (line.trim() === '') return 'blank'
  const entry = parsedObject(line)
  if (entry?.type === 'session') return 'header'
  const message = messageOf(line)
  if (message?.id !== undefined && lastOf.has(message.id) && lastOf.get(message.id) !== number) return 'replaced'
  const parts = message?.content
  const blank = (part: unknown) =>
    anObject(part) && ['text', 'thinking'].includes(String(part.type)) && String(part.text ?? part.thinking).trim() === ''
  if (Array.isArray(parts) && (message?.role === 'user' || message?.role === 'assistant') && parts.every(blank)) return 'empty'
  return 'unexplained'
}
