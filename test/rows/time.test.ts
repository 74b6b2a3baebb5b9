import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { parseLossless } from '../../src/parsers/json.js'
import { recordedTime } from '../../src/rows/index.js'

describe('a recorded time', () => {
  test.each([
    ['2026-10-02T02:00:00.000Z', '2026-10-02T02:00:00.000Z'],
    ['2026-10-02T02:00:00Z', '2026-10-02T02:00:00.000Z'],
    ['2026-10-02T02:00Z', '2026-10-02T02:00:00.000Z'],
    ['2026-10-02T02:00:00.1Z', '2026-10-02T02:00:00.100Z'],
    ['20261002T020000Z', '2026-10-02T02:00:00.000Z'],
    ['2026-10-02t02:00:00z', '2026-10-02T02:00:00.000Z'],
    ['2026-10-02', '2026-10-02T00:00:00.000Z'],
  ])('%s is taken as it is', (given, iso) => {
    expect(recordedTime(given)).toEqual({ iso })
  })

  test.each([
    ['2026-10-05T11:00:05+02:00', '2026-10-05T09:00:05.000Z'],
    ['2026-10-05T11:00:05+0200', '2026-10-05T09:00:05.000Z'],
    ['2026-10-05T11:00:05+02', '2026-10-05T09:00:05.000Z'],
    ['2026-10-05T00:30:00+05:30', '2026-10-04T19:00:00.000Z'],
    ['2026-12-31T23:30:00-01:00', '2027-01-01T00:30:00.000Z'],
  ])('%s, at an offset other than Z, is converted', (given, iso) => {
    expect(recordedTime(given)).toEqual({ iso })
  })

  test('without an offset it is UTC, wherever the analyst sits', () => {
    expect(recordedTime('2026-07-02T02:00:00')).toEqual({ iso: '2026-07-02T02:00:00.000Z' })
  })

  test.each([
    ['2026-10-02T02:00:00.9999999Z', '2026-10-02T02:00:00.999Z'],
    ['2026-10-02T02:00:59.999999999+00:00', '2026-10-02T02:00:59.999Z'],
    ['2026-12-31T23:59:59.9996Z', '2026-12-31T23:59:59.999Z'],
    ['2026-10-02T02:00:00,1239Z', '2026-10-02T02:00:00.123Z'],
    [1796061332062.999, '2026-11-30T17:55:32.062Z'],
    [0.9, '1970-01-01T00:00:00.000Z'],
  ])('%s: a finer fraction is cut, not rounded', (given, iso) => {
    expect(recordedTime(given).iso).toBe(iso)
  })

  test('every millisecond survives an offset', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 253_402_300_799_999 }), fc.integer({ min: -719, max: 839 }), (ms, offset) => {
        const local = new Date(ms + offset * 60_000)
        if (local.getUTCFullYear() > 9999 || local.getUTCFullYear() < 1970) return
        const two = (n: number) => String(n).padStart(2, '0')
        const sign = offset < 0 ? '-' : '+'
        const text = local.toISOString().slice(0, -1) + sign + two(Math.trunc(Math.abs(offset) / 60)) + ':' + two(Math.abs(offset) % 60)
        expect(recordedTime(text)).toEqual({ iso: new Date(ms).toISOString() })
      }),
      { numRuns: 500 },
    )
  })

  test.each([
    [0, '1970-01-01T00:00:00.000Z'],
    [1_790_906_400, '1970-01-21T17:28:26.400Z'],
    [1796061332062, '2026-11-30T17:55:32.062Z'],
    [253_402_300_799_999, '9999-12-31T23:59:59.999Z'],
  ])('the number %d is milliseconds, never scaled', (given, iso) => {
    expect(recordedTime(given)).toEqual({ iso })
  })

  test('a number with digits of its own is its milliseconds', () => {
    expect(recordedTime(parseLossless('1796061332062.0'))).toEqual({ iso: '2026-11-30T17:55:32.062Z' })
    expect(recordedTime(parseLossless('1.796061332062e12'))).toEqual({ iso: '2026-11-30T17:55:32.062Z' })
  })

  test.each([undefined, null, ''])('%p is absent, and nothing bad', (given) => {
    expect(recordedTime(given)).toEqual({ iso: '' })
  })

  test.each([
    [-1],
    [-0.5],
    [253_402_300_800_000],
    [1e300],
    ['1969-12-31T23:59:59.999Z'],
    ['1970-01-01T00:00:00+01:00'],
    ['+010000-01-01T00:00:00.000Z'],
    ['10000-01-01T00:00:00.000Z'],
    ['-000001-01-01T00:00:00Z'],
    ['9999-12-31T23:59:59-01:00'],
  ])('%p lies outside 1970-9999 and counts as absent, on record', (given) => {
    expect(recordedTime(given)).toEqual({ iso: '', bad: given })
  })

  test.each([
    ['yesterday'],
    ['not a time'],
    ['2026-13-01T00:00:00Z'],
    ['2026-02-30T00:00:00Z'],
    ['2026-10-02T25:00:00Z'],
    ['2026-10-02T02:61:00Z'],
    ['Fri, 02 Oct 2026 02:00:00 GMT'],
    ['10/02/2026'],
    ['1796061332062'],
    ['12:00'],
    ['02:00:00Z'],
    ['T02:00'],
    ['\u0000'],
    [' '],
    [true],
  ])('%p cannot be read: it is empty, never "now", and on record', (given) => {
    expect(recordedTime(given)).toEqual({ iso: '', bad: given })
  })

  test('a value that is no text or number is put on record as it stands', () => {
    expect(recordedTime({ at: [1] })).toEqual({ iso: '', bad: '{"at":[1]}' })
    expect(recordedTime([])).toEqual({ iso: '', bad: '[]' })
  })

  test('whatever is recorded, a time is in the row form or empty', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.double(), fc.date().map(String), fc.jsonValue()), (given) => {
        const { iso, bad } = recordedTime(given)
        expect(iso).toMatch(/^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)?$/)
        if (iso !== '') expect(bad).toBeUndefined()
      }),
      { numRuns: 1000 },
    )
  })
})
