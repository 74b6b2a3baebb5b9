import fs from 'node:fs'
import path from 'node:path'
import type { Row } from '../../src/rows/index.js'

/** A value inside a recorded line, reached without a shape: `at(record, 'message', 'role')`. */
export function at(value: unknown, ...keys: (string | number)[]): unknown {
  return keys.reduce<unknown>((inner, key) => (inner as Record<string | number, unknown> | null | undefined)?.[key], value)
}

/** One line of a JSONL file as a plain reader sees it. */
export interface PlainLine {
  /** Relative to the home, as rows name it. */
  readonly file: string
  readonly line: number
  readonly record: unknown
}

/** Every line of the JSONL files below a folder of a home, split and parsed by nothing of ours. */
export function plainLines(home: string, below: string): PlainLine[] {
  return fs
    .readdirSync(path.join(home, below), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => `${below}/${name.split(path.sep).join('/')}`)
    .sort()
    .flatMap((file) =>
      fs
        .readFileSync(path.join(home, file), 'utf8')
        .split('\n')
        .flatMap((text, i) => (text === '' ? [] : [{ file, line: i + 1, record: JSON.parse(text) as unknown }])),
    )
}

/** Turn types of the rows of each line, in order: `file:line` to `user assistant`. */
export function turnsByLine(rows: readonly Row[]): Map<string, string[]> {
  const turns = new Map<string, string[]>()
  for (const row of rows) {
    const key = `${row.source_file}:${row.source_line}`
    turns.set(key, [...(turns.get(key) ?? []), row.turn_type])
  }
  return turns
}
