import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { phrase, phrases, printed, type Phrase } from '../../src/rows/index.js'

const ALL = Object.values(phrases) as unknown as Phrase[]

describe.each(ALL.map((one) => [one.id, one] as const))('the text %s', (_, one) => {
  test('reads back what it says, where no value holds its words', () => {
    const plain = fc.stringMatching(/^[A-Z0-9\u00e9]{0,12}$/)
    fc.assert(
      fc.property(fc.array(plain, { minLength: one.names.length, maxLength: one.names.length }), (given) => {
        const values = Object.fromEntries(one.names.map((name, i) => [name, given[i]]))
        const shown = Object.fromEntries(one.names.map((name, i) => [name, printed(given[i])]))
        expect(one.read(one.say(values))).toEqual([shown])
      }),
      { numRuns: 50 },
    )
  })

  test('each reading of any text it can say, said again, is that text', () => {
    const words = fc.constantFrom(...one.template.split(/<[a-z_]+>/), 'x', '-', ' ', '=', '\n', '<', '>')
    const value = fc.array(words, { maxLength: 4 }).map((parts) => parts.join(''))
    fc.assert(
      fc.property(fc.array(value, { minLength: one.names.length, maxLength: one.names.length }), (given) => {
        const text = one.say(Object.fromEntries(one.names.map((name, i) => [name, given[i]])))
        const readings = one.read(text)
        expect(readings.length).toBeGreaterThan(0)
        for (const reading of readings)
          expect(one.names.reduce((rest, name) => rest.replace(`<${name}>`, () => reading[name]!), one.template)).toBe(text)
      }),
      { numRuns: 50 },
    )
  })

  test('a text without its words is not read as it', () => {
    expect(one.read('')).toEqual([])
    expect(one.read('something else')).toEqual([])
    expect(one.read(` ${one.template}`)).toEqual([])
  })
})

describe('reading a text', () => {
  const pair = phrase('pair', 'from <a> to <b>')

  test('a value that holds the words of the text makes it ambiguous, and each reading is given', () => {
    expect(pair.read('from x to y to z')).toEqual([
      { a: 'x', b: 'y to z' },
      { a: 'x to y', b: 'z' },
    ])
  })

  test('what stands behind the last value must end the text', () => {
    const ended = phrase('ended', '<a> (file)')
    expect(ended.read('x (file) y')).toEqual([])
    expect(ended.read('x (file) (file)')).toEqual([{ a: 'x (file)' }])
  })

  test('a text of nothing but the words, made to be tried for ever, is answered at once', () => {
    const words = phrases.scheduledTask.template
      .split(/<[a-z_]+>/)
      .slice(1, 8)
      .join('')
    const started = Date.now()
    expect(phrases.scheduledTask.read(`scheduled task: ${words.repeat(500)}`)).toEqual([])
    expect(Date.now() - started).toBeLessThan(2000)
  })

  test('a text with more readings than anyone wants ends', () => {
    const started = Date.now()
    expect(pair.read(`from ${' to '.repeat(10_000)}`).length).toBeGreaterThan(1)
    expect(Date.now() - started).toBeLessThan(2000)
  })

  test('a value is put in as it is, whatever a replacement would make of it', () => {
    expect(pair.say({ a: '$& $1', b: '<a>' })).toBe('from $& $1 to <a>')
  })
})
