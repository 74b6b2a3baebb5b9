import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { RowSorter, SorterFullError, type SorterOptions } from '../../src/output/index.js'
import { compareRows, type Row } from '../../src/rows/index.js'
import { aRow, row } from '../helpers/rows.js'

const spillTo = fs.mkdtempSync(path.join(os.tmpdir(), 'agent-forensics-sorter-'))
afterAll(() => fs.rmSync(spillTo, { recursive: true, force: true }))

/** Encoded with its place of arrival, so that equal rows can be told apart. */
const arrivals = new WeakMap<Row, number>()
const encode = (one: Row) => `${JSON.stringify([arrivals.get(one), one.text])}\n`

type Step = { readonly add: Row[] } | { readonly withdraw: Row }

function sortedBy(steps: readonly Step[], options: Omit<SorterOptions, 'encode'>): string {
  const sorter = new RowSorter({ encode, ...options })
  try {
    for (const step of steps) {
      if ('add' in step) sorter.add(step.add)
      else sorter.withdraw(step.withdraw)
    }
    return Buffer.concat([...sorter.sorted()]).toString('utf8')
  } finally {
    sorter.close()
  }
}

/** The same by Array.sort, which is stable. */
function plainly(steps: readonly Step[]): string {
  let rows: Row[] = []
  const key = ({ host, user, agent, source_file }: Row) => JSON.stringify([host, user, agent, source_file])
  for (const step of steps) {
    if ('add' in step) rows.push(...step.add)
    else rows = rows.filter((one) => key(one) !== key(step.withdraw))
  }
  return rows
    .sort(compareRows)
    .map((one) => encode(one).toWellFormed())
    .join('')
}

function numbered(steps: readonly Step[]): readonly Step[] {
  let next = 0
  for (const step of steps) if ('add' in step) for (const one of step.add) arrivals.set(one, next++)
  return steps
}

const someSteps = fc
  .array(
    fc.oneof(
      { weight: 5, arbitrary: fc.array(aRow, { maxLength: 8 }).map((add) => ({ add })) },
      { weight: 1, arbitrary: aRow.map((withdraw) => ({ withdraw })) },
    ),
    { maxLength: 30 },
  )
  .map(numbered)

describe('the sorter', () => {
  test.each([
    ['in memory', {}],
    ['spilling after every batch', { spillTo, memory: 1 }],
    ['spilling after a few rows', { spillTo, memory: 300 }],
    ['with room to spill and no need to', { spillTo, memory: 1 << 20 }],
  ])('gives what a stable sort gives, %s', (_, options) => {
    fc.assert(
      fc.property(someSteps, (steps) => {
        expect(sortedBy(steps, options)).toBe(plainly(steps))
      }),
      { numRuns: 150 },
    )
  })

  test('rows that come in order make one run, whose rows come back in order', () => {
    const at = (i: number) => row({ timestamp_utc: new Date(i * 1000).toISOString(), text: `row ${i}`.padEnd(200) })
    const steps = numbered(Array.from({ length: 500 }, (_, i) => ({ add: [at(i), at(i)] })))
    expect(sortedBy(steps, { spillTo, memory: 1000 })).toBe(plainly(steps))
  })

  test('rows that come backwards make many runs, merged the same', () => {
    const at = (i: number) => row({ timestamp_utc: new Date((1000 - i) * 1000).toISOString(), text: `row ${i}` })
    const steps = numbered(Array.from({ length: 600 }, (_, i) => ({ add: [at(i)] })))
    expect(sortedBy(steps, { spillTo, memory: 1 })).toBe(plainly(steps))
  })

  test('a row larger than any buffer comes back whole', () => {
    const big = (letter: string, at: number) => row({ text: letter.repeat(3_000_000), timestamp_utc: new Date(at).toISOString() })
    const steps = numbered([{ add: [big('b', 2)] }, { add: [big('é', 1)] }, { add: [row({ text: 'small', timestamp_utc: '' })] }])
    expect(sortedBy(steps, { spillTo, memory: 1 })).toBe(plainly(steps))
  })

  test('times before 1970 never come, but 1970 itself and the year 9999 do', () => {
    const steps = numbered([
      {
        add: [
          row({ timestamp_utc: '9999-12-31T23:59:59.999Z' }),
          row({ timestamp_utc: '' }),
          row({ timestamp_utc: '1970-01-01T00:00:00.000Z' }),
        ],
      },
    ])
    expect(sortedBy(steps, { spillTo, memory: 1 })).toBe(plainly(steps))
  })

  test('two runs give the same bytes', () => {
    fc.assert(
      fc.property(someSteps, (steps) => {
        expect(sortedBy(steps, { spillTo, memory: 200 })).toBe(sortedBy(steps, { spillTo, memory: 200 }))
      }),
      { numRuns: 30 },
    )
  })

  test('nothing is left in the spill directory, during or after', () => {
    const sorter = new RowSorter({ encode, spillTo, memory: 1 })
    sorter.add([row({ text: 'a' })])
    sorter.add([row({ text: 'b' })])
    if (process.platform !== 'win32') expect(fs.readdirSync(spillTo)).toEqual([])
    expect([...sorter.sorted()].length).toBeGreaterThan(0)
    sorter.close()
    expect(fs.readdirSync(spillTo)).toEqual([])
  })

  test('with nowhere to spill it says so instead of taking all memory', () => {
    const sorter = new RowSorter({ encode, memory: 1000 })
    expect(() => sorter.add([row({ text: 'x'.repeat(2000) })])).toThrow(SorterFullError)
  })

  test('no rows give no bytes', () => {
    expect(sortedBy([], { spillTo, memory: 1 })).toBe('')
    expect(sortedBy([{ add: [] }], {})).toBe('')
  })
})
