import { describe, expect, test } from '@jest/globals'
import { FlagValueError, rowFilterFrom } from '../../src/verbs/row-flags.js'

const now = new Date('2026-11-30T12:00:00.000Z')

describe('the row flags', () => {
  test('take a time as ISO 8601 or as a distance from now', () => {
    expect(rowFilterFrom({ since: '2026-10-02', until: '2026-10-02T10:00:00+02:00' }, now)).toMatchObject({
      since: '2026-10-02T00:00:00.000Z',
      until: '2026-10-02T08:00:00.000Z',
    })
    expect(rowFilterFrom({ since: '-3d', until: '-90m' }, now)).toMatchObject({
      since: '2026-11-27T12:00:00.000Z',
      until: '2026-11-30T10:30:00.000Z',
    })
  })

  test('take a pattern between slashes as an expression', () => {
    expect(rowFilterFrom({ grep: ['a.b', '/a.b/i'] }).patterns).toEqual(['a.b', /a.b/i])
  })

  test.each([{ since: 'yesterday' }, { grep: ['/(/'] }, { 'grep-file': ['/no/such/file'] }])('say what is wrong with %j', (flags) => {
    expect(() => rowFilterFrom(flags, now)).toThrow(FlagValueError)
  })
})
