import { spawnSync } from 'node:child_process'
import { describe, expect, test } from '@jest/globals'
import { jsonl } from '../../src/output/index.js'
import { cli } from '../helpers/cli.js'
import { fixture, parse } from '../helpers/fixtures.js'
import { skipLoudly } from '../helpers/places.js'
import { row } from '../helpers/rows.js'

const found = spawnSync('jq', ['--version']).status === 0
if (!found) skipLoudly('jq is not there (Debian: apt-get install jq): whether it reads our JSONL was not looked at')

/** jq 1.6 stops reading at such an escape, which rows.md wants kept; CSV has U+FFFD in its place. */
const takesLoneSurrogates = found && spawnSync('jq', ['.'], { input: '"\\ud83d"' }).status === 0
if (found && !takesLoneSurrogates)
  skipLoudly('this jq refuses escapes of lone surrogates: whether a later one reads ours was not looked at')

const jq = (input: string, ...args: string[]) => {
  const { status, stdout, stderr } = spawnSync('jq', args, { input, encoding: 'utf8', maxBuffer: 1 << 28 })
  expect([status, stderr]).toEqual([0, ''])
  return stdout.split('\n').filter((line) => line !== '')
}

;(found ? describe : describe.skip)('jq', () => {
  const { home } = fixture('letta/0.32.18-local')
  const { stdout } = cli(['letta', 'parse', '--home', home, '--format', 'jsonl'])

  test('reads every row that the command prints, and every text', async () => {
    const { rows } = await parse({ homes: [home] })
    expect(jq(stdout, '-c', '[.timestamp_utc, .text, .source_line, .details.store]').map((line) => JSON.parse(line) as unknown)).toEqual(
      rows.map((row) => [row.timestamp_utc, row.text, row.source_line, row.details.store]),
    )
  })

  test('finds the columns in one order in every row', () => {
    expect(new Set(jq(stdout, '-c', 'keys_unsorted')).size).toBe(1)
  })

  ;(takesLoneSurrogates ? test : test.skip)('reads a lone surrogate as U+FFFD, and every row behind it', () => {
    const text = (value: string) => jsonl.encode(row({ text: value }))
    expect(jq(text('x\ud83dy') + text('\ude00') + text('after'), '-r', '.text')).toEqual(['x\ufffdy', '\ufffd', 'after'])
  })
})
