import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { portableName, StoredNames } from '../../../src/evidence/collect/names.js'

const bytes = (text: string) => Buffer.from(text).toString('latin1')

test.each([
  ['settings.json', 'settings.json'],
  ['.letta', '.letta'],
  ['naïve.md', 'naïve.md'],
  ['CON', '_CON'],
  ['nul.txt', '_nul.txt'],
  ['COM1', '_COM1'],
  ['console', 'console'],
  ['dot.', 'dot%2E'],
  ['space ', 'space%20'],
  ['a:b', 'a%3Ab'],
  ['a\nb', 'a%0Ab'],
  ['a\u202eb', 'a%E2%80%AEb'],
])('%j is stored as %s', (name, stored) => {
  expect(portableName(bytes(name))).toBe(stored)
})

test('bytes that are not UTF-8 are written out', () => {
  expect(portableName('a\xff\xfe')).toBe('a%FF%FE')
})

test('no two paths are stored under one name, whatever the case of the file system', () => {
  const name = fc.oneof(
    fc.constantFrom('a', 'A', 'a%3A', 'a:', 'con', '_con', 'a~2', 'é', 'e\u0301', 'x'.repeat(250), 'X'.repeat(250)),
    fc.string({ minLength: 1, maxLength: 8, unit: 'binary' }).map((text) => text.replaceAll('/', '|')),
  )
  const paths = fc.uniqueArray(
    fc.array(name, { minLength: 1, maxLength: 6 }).map((names) => bytes(names.join('/'))),
    { maxLength: 30 },
  )
  fc.assert(
    fc.property(paths, (originals) => {
      const names = new StoredNames()
      const stored = originals.map((at) => names.path('evidence/u/home', at))
      const folded = stored.map((at) => at.normalize('NFC').toLowerCase())
      expect(new Set(folded).size).toBe(originals.length)
      for (const at of stored) {
        expect(at.startsWith('evidence/u/home/')).toBe(true)
        expect(at.split('/').every((part) => part !== '' && part !== '.' && part !== '..' && Buffer.byteLength(part) <= 210)).toBe(true)
        expect(at.length).toBeLessThanOrEqual(240)
      }
      const again = new StoredNames()
      expect(originals.map((at) => again.path('evidence/u/home', at))).toEqual(stored)
    }),
  )
})
