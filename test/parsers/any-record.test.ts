import fs from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { claudeCode, letta, pi } from '../../src/catalog/index.js'
import { ClaudeCodeParser } from '../../src/parsers/claude-code/index.js'
import { LettaParser } from '../../src/parsers/letta/index.js'
import { PiParser } from '../../src/parsers/pi/index.js'
import { jsonLines, makeHome, parse } from '../helpers/fixtures.js'

/** Any JSON value under keys that the parsers look at: shapes that no program wrote. */
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(
      null,
      true,
      0,
      -1,
      1.5,
      '',
      'x',
      'text',
      'tool_result',
      'tool_use',
      'user',
      'assistant',
      '2026-01-02T03:04:05Z',
      '<command-name>/x',
    ),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(
      fc.constantFrom(
        ...'type role id parentId uuid timestamp message content text input arguments name model permissionDecision decision isMeta sections toolsAdded nestedCalls calls summary leafUuid snapshot error subtype compactMetadata conversationId agentId sessionId startedAt'.split(
          ' ',
        ),
      ),
      tie('value'),
      { maxKeys: 6 },
    ),
  ),
}))

const TYPES = [
  'session',
  'message',
  'compaction',
  'branch_summary',
  'label',
  'custom_message',
  'user',
  'assistant',
  'system',
  'summary',
  'custom-title',
  'other',
]
const line = fc.tuple(
  fc.constantFrom(...TYPES),
  fc.dictionary(
    fc.constantFrom(
      'message',
      'content',
      'timestamp',
      'id',
      'parentId',
      'uuid',
      'permissionDecision',
      'toolUseResult',
      'targetId',
      'summary',
      'leafUuid',
      'error',
      'cwd',
      'sessionId',
      'customTitle',
    ),
    value,
  ),
)
const lines = fc.array(
  line.map(([type, fields]) => ({ ...fields, type })),
  { minLength: 1, maxLength: 8 },
)

/** Hundreds of homes are made: each goes when it was read. */
function remove(home: string): void {
  fs.rmSync(path.join(home, '../..'), { recursive: true })
}

describe('records of any shape', () => {
  test.each([
    ['pi', new PiParser(pi), '.pi/agent/sessions/x.jsonl', 'sessions'],
    ['claude-code', new ClaudeCodeParser(claudeCode), '.claude/projects/x/s.jsonl', 'projects'],
  ] as const)('%s: each is read, none ends the run, every row is of the schema', async (_, parser, file, store) => {
    await fc.assert(
      fc.asyncProperty(lines, async (records) => {
        const home = makeHome({ [file]: jsonLines(...records) })
        const { runs } = await parse({ homes: [home] }, {}, parser)
        remove(home)
        expect(runs[0]!.run.tallies.get(store)!.records).toBe(records.length)
      }),
      { numRuns: 60 },
    )
  })

  test('Claude Subconscious: every session of a map is a row, or named', async () => {
    await fc.assert(
      fc.asyncProperty(fc.dictionary(fc.string({ minLength: 1, maxLength: 8 }), value), value, async (map, state) => {
        const files = {
          '.letta/claude/conversations.json': JSON.stringify(map),
          '.letta/claude/session-s.json': JSON.stringify(state) ?? 'null',
        }
        const home = makeHome(files)
        const { rows } = await parse({ homes: [home] }, {}, new LettaParser(letta))
        remove(home)
        const linked = rows.filter(({ details }) => details.map === true).length
        const named = rows.filter(({ text }) => text.endsWith('is neither an object nor a string')).length
        expect(linked + named).toBe(Object.keys(map).length)
      }),
      { numRuns: 60 },
    )
  })
})
