import fs from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { jsonl } from '../../src/output/index.js'
import { Row } from '../../src/rows/index.js'
import { FIXTURES, parse } from '../helpers/fixtures.js'
import { scratch } from '../helpers/places.js'

const root = scratch('mutation')

/** Lines and documents of recorded homes, one of each store. */
const SAMPLES = [
  ['0.32.18-local/home/alice', '.letta/sessions.jsonl'],
  ['0.32.18-local/home/alice', '.letta/settings.json'],
  ['0.32.18-local/home/alice', '.letta/crons.json'],
  ['0.32.18-local/home/alice', '.letta/remote-settings.json'],
  ['0.32.18-local/home/alice', '.letta/channels/slack/routing.json'],
] as const
const FIRST_OF = [
  ['0.32.18-local/home/alice', '.letta/runs', '.jsonl'],
  ['0.32.18-local/home/alice', '.letta/listener-state', '.json'],
  ['0.32.18-local/home/alice', '.letta/transcripts', 'transcript.jsonl'],
  ['0.32.18-rewrite/home/gina', '.letta/lc-local-backend/conversations', 'messages.jsonl'],
  ['0.25.9-local/home/dave', '.letta/lc-local-backend/conversations', 'messages.jsonl'],
] as const

const samples = [
  ...SAMPLES.map(([home, file]) => [file, fs.readFileSync(path.join(FIXTURES, 'letta', home, file))] as const),
  ...FIRST_OF.map(([home, below, ending]) => {
    const directory = path.join(FIXTURES, 'letta', home, below)
    const names = fs
      .readdirSync(directory, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith(ending))
      .sort()
    const [longest] = names
      .map((name) => [name, fs.readFileSync(path.join(directory, name)).subarray(0, 20_000)] as const)
      .sort(([, a], [, b]) => b.length - a.length)
    return [`${below}/${longest![0]}`, longest![1]] as const
  }),
]

const piece = fc.oneof(
  fc.constantFrom(
    '{',
    '}',
    '[',
    ']',
    '"',
    ',',
    ':',
    '\\',
    '\n',
    '\0',
    'null',
    '1.0',
    '{}',
    '[]',
    '""',
    '\\ud83d',
    '"__proto__":1,',
    '1e999',
    '-',
  ),
  fc.uint8Array({ maxLength: 3 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
)
const change = fc.record({ at: fc.double({ min: 0, max: 1, noNaN: true }), cut: fc.nat(30), put: piece })

function mutated(bytes: Buffer, changes: readonly { at: number; cut: number; put: string }[]): Buffer {
  let text = bytes.toString('latin1')
  for (const { at, cut, put } of changes) {
    const from = Math.floor(at * text.length)
    text = text.slice(0, from) + put + text.slice(from + cut)
  }
  return Buffer.from(text, 'latin1')
}

describe.each(samples)('%s with bytes cut out and put in', (file, bytes) => {
  test('ends no run, and gives rows of the schema that can be written', async () => {
    let n = 0
    const directory = fs.mkdtempSync(path.join(root, 'case-'))
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 4 }), async (changes) => {
        const home = path.join(directory, String(n++), 'home/alice')
        fs.mkdirSync(path.dirname(path.join(home, file)), { recursive: true })
        fs.writeFileSync(path.join(home, file), mutated(bytes, changes))
        const { rows, runs } = await parse({ homes: [home] })
        for (const row of rows) {
          expect(Row.safeParse(row).success).toBe(true)
          expect(JSON.parse(jsonl.encode(row))).toMatchObject({ source_file: row.source_file, text: row.text })
        }
        const counted = [...runs[0]!.run.tallies.values()].reduce((sum, tally) => sum + tally.rows, 0)
        expect(counted).toBe(rows.length)
      }),
      { numRuns: 60 },
    )
  })
})
