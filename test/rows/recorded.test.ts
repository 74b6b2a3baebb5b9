import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { parseLossless } from '../../src/parsers/json.js'
import { compactJson, isAbsent, printed } from '../../src/rows/index.js'

describe('the - rule', () => {
  test.each([undefined, null, ''])('%p prints as -', (value) => {
    expect(printed(value)).toBe('-')
    expect(isAbsent(value)).toBe(true)
  })

  test.each([
    [0, '0'],
    [false, 'false'],
    [' ', ' '],
    ['-', '-'],
    [[], '[]'],
    [{}, '{}'],
  ])('%p is a value and prints as %s', (value, text) => {
    expect(printed(value)).toBe(text)
    expect(isAbsent(value)).toBe(false)
  })

  test('null inside a structure is JSON, not -', () => {
    expect(printed({ a: null, b: [null, ''] })).toBe('{"a":null,"b":[null,""]}')
  })
})

describe('a value prints as recorded', () => {
  test.each([
    '12345678901234567890',
    '9007199254740993',
    '1.0',
    '1.50',
    '0.10',
    '1e3',
    '1E400',
    '-0',
    '-0.0',
    '1.7976931348623157e308',
    '0.0000001',
    '0.30000000000000004',
    '100000000000000000000000',
    '[1.0,2]',
    '{"10":1,"9":2,"a":3}',
    '{"b":1,"a":{"2":0,"1":0}}',
    '{"__proto__":{"x":1},"constructor":2}',
    '{"__proto__":1.0}',
    '[[],{},[{"a":[]}]]',
    '"\\u2028"',
  ])('%s', (source) => {
    const value = parseLossless(source)
    expect(printed(value)).toBe(typeof value === 'string' ? value : source)
  })

  test('strings stay raw: line breaks, quotes and control characters included', () => {
    expect(printed(parseLossless('"a\\n\\"b\\"\\u0007"'))).toBe('a\n"b"\u0007')
  })

  test('integer-like keys keep their order when their digits are written as escapes', () => {
    expect(printed(parseLossless('{"\\u0032":1,"b":1,"1":2}'))).toBe('{"2":1,"b":1,"1":2}')
  })

  test('white space between tokens goes, inside strings it stays', () => {
    expect(printed(parseLossless('{ "a" : [ 1 , " x  y " ] }'))).toBe('{"a":[1," x  y "]}')
  })

  test('any JSON without surplus white space prints as it was written', () => {
    const digits = fc.oneof(
      fc.stringMatching(/^-?(0|[1-9]\d{0,24})(\.\d{1,20})?([eE][+-]?\d{1,3})?$/),
      fc.integer().map(String),
      fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
    )
    const text = fc.string({ unit: 'binary' }).map((value) => JSON.stringify(value))
    const key = fc.oneof(
      text,
      fc.nat(30).map((n) => `"${n}"`),
      fc.constant('"__proto__"'),
    )
    const { value: json } = fc.letrec((tie) => ({
      value: fc.oneof({ maxDepth: 4 }, digits, text, fc.constantFrom('null', 'true', 'false'), tie('list'), tie('object')),
      list: fc.array(tie('value') as fc.Arbitrary<string>, { maxLength: 4 }).map((items) => `[${items.join(',')}]`),
      object: fc
        .uniqueArray(fc.tuple(key, tie('value') as fc.Arbitrary<string>), {
          maxLength: 4,
          selector: ([name]) => JSON.parse(name) as string,
        })
        .map((members) => `{${members.map(([name, value]) => `${name}:${value}`).join(',')}}`),
    }))
    fc.assert(
      fc.property(json as fc.Arbitrary<string>, (source) => {
        expect(compactJson(parseLossless(source))).toBe(source)
      }),
      { numRuns: 1000 },
    )
  })

  test('nested deeper than any record it is not read, before anything that walks it could fail', () => {
    const nested = (levels: number) => '[{"a":'.repeat(levels / 2) + '1' + '}]'.repeat(levels / 2)
    expect(compactJson(parseLossless(nested(1000)))).toBe(nested(1000))
    expect(() => parseLossless(nested(1002))).toThrow('is nested deeper than 1000 levels')
    expect(() => parseLossless(nested(100_000))).toThrow('is nested deeper than 1000 levels')
  })

  test('brackets inside strings, and lists side by side, are no nesting', () => {
    for (const source of [JSON.stringify('["{'.repeat(5000)), `[${'[1],'.repeat(5000)}1]`, JSON.stringify({ a: '\\"[['.repeat(2000) })])
      expect(compactJson(parseLossless(source))).toBe(source)
  })

  test('what JSON.parse refuses is refused', () => {
    for (const source of ['{"a":1.0,}', '[1.0 /* c */]', '{"a":01}', "{'1':1}", '1.0 1.0', '[1.0', ''])
      expect(() => parseLossless(source)).toThrow()
  })
})
