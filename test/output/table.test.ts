import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import stringWidth from 'string-width'
import { visible } from '../../src/output/index.js'
import { table } from '../../src/output/table.js'
import type { TurnType } from '../../src/rows/index.js'
import { row } from '../helpers/rows.js'

const plain = table({ width: 120, color: false })
/** Where the text begins: time, type, session and tool with two blanks behind each. */
const TEXT_AT = 24 + 2 + 11 + 2 + 14 + 2 + 12 + 2
const CONTROLS = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/

describe('the table', () => {
  test('names its columns', () => {
    expect(plain.head.trim().split(/ {2,}/)).toEqual(['TIME (UTC)', 'TYPE', 'SESSION', 'TOOL', 'TEXT'])
  })

  test('shows time, type, session, tool and text of a row on one line', () => {
    const line = plain.encode(row({ turn_type: 'tool_use', session_id: 'conv-1', tool_name: 'Bash', text: 'ls -la' }))
    expect(line.trim().split(/ {2,}/)).toEqual(['2026-01-01T00:00:00.000Z', 'tool_use', 'conv-1', 'Bash', 'ls -la'])
    expect(line.indexOf('ls -la')).toBe(TEXT_AT)
  })

  test('a row without a time shows -', () => {
    expect(plain.encode(row({ timestamp_utc: '', text: 'x' }))).toMatch(/^- +user/)
  })

  test.each([
    ['escape sequences', '\x1b[2J\x1b]0;title\x07', '\\x1b[2J\\x1b]0;title\\x07'],
    ['line breaks and tabs', 'a\r\n\tb', 'a\\r\\n\\tb'],
    ['C1 controls', '\x9b31m', '\\x9b31m'],
    ['a bidirectional override', 'a\u202eb', 'a\\u202eb'],
    ['a line separator', 'a\u2028b', 'a\\u2028b'],
    ['NUL and delete', '\0\x7f', '\\x00\\x7f'],
  ])('%s are written out, never obeyed', (_, text, shown) => {
    expect(plain.encode(row({ text })).slice(TEXT_AT).trimEnd()).toBe(shown)
  })

  test('the other columns are as safe as the text', () => {
    const line = plain.encode(row({ session_id: '\x1b[31m', tool_name: '\x1b[1m', text: 'x' }))
    expect(line).not.toMatch(CONTROLS)
  })

  test.each([
    ['Chinese', '会话'],
    ['an emoji', '👩‍👩‍👧'],
    ['a combining mark', 'e\u0301'],
    ['Arabic', 'جلسة'],
  ])('the text stands in its column behind a session of %s', (_, session_id) => {
    const line = plain.encode(row({ session_id, text: 'TEXT' }))
    expect(stringWidth(line.slice(0, line.indexOf('TEXT')))).toBe(TEXT_AT)
  })

  test('of a long session id the end is shown, which tells ids apart', () => {
    expect(plain.encode(row({ session_id: 'conv-3c9a7e51-60d8-4b2f-a1f4-5e8d27c6b083' }))).toContain('…')
    expect(plain.encode(row({ session_id: 'conv-3c9a7e51-60d8-4b2f-a1f4-5e8d27c6b083' }))).toContain('5e8d27c6b083'.slice(-10))
  })

  test.each([80, 100, 120, 200])('no line is wider than the %d columns of the terminal, and a cut text says so', (width) => {
    const narrow = table({ width, color: false })
    for (const text of ['x'.repeat(1000), '宽'.repeat(1000), '👍🏽'.repeat(500), 'a\u0301'.repeat(1000)]) {
      const line = narrow.encode(row({ session_id: 's', tool_name: 't', text }))
      expect(stringWidth(line.trimEnd())).toBeLessThanOrEqual(Math.max(width, TEXT_AT + 20))
      expect(line.trimEnd().endsWith('…')).toBe(true)
    }
  })

  test('a text that fits is not cut', () => {
    const text = 'y'.repeat(120 - TEXT_AT)
    expect(plain.encode(row({ text })).trimEnd().endsWith(text)).toBe(true)
  })

  test('colour goes by turn type, and is absent when not wanted', () => {
    const colored = table({ width: 120, color: true })
    const types: TurnType[] = ['user', 'assistant', 'thinking', 'tool_use', 'tool_result', 'system']
    const codes = types.map((turn_type) => /\x1b\[\d+m/.exec(colored.encode(row({ turn_type })))?.[0])
    expect(new Set(codes).size).toBe(types.length)
    expect(codes).not.toContain(undefined)
    for (const turn_type of types) expect(plain.encode(row({ turn_type }))).not.toContain('\x1b')
  })

  test('whatever a row holds, its line is one line without anything that a terminal obeys', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }),
        fc.string({ unit: 'binary' }),
        fc.string({ unit: 'binary' }),
        (text, session_id, tool_name) => {
          const line = plain.encode(row({ text, session_id, tool_name }))
          expect(line.indexOf('\n')).toBe(line.length - 1)
          expect(line).not.toMatch(CONTROLS)
          expect(line.isWellFormed()).toBe(true)
        },
      ),
    )
  })
})

describe('visible', () => {
  test('leaves letters of every script as they are', () => {
    for (const text of ['äöü ß', '日本語', 'עברית', '😀 👩‍👩‍👧'.replaceAll('\u200d', ''), 'a b  c']) expect(visible(text)).toBe(text)
  })

  test('a lone surrogate shows as U+FFFD', () => {
    expect(visible('a\ud83db')).toBe('a\ufffdb')
  })
})
