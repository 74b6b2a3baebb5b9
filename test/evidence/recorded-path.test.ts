import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { below, recordedBelow, recordedHomes, recordedPath, slashed } from '../../src/evidence/index.js'

describe('a recorded path', () => {
  test.each([
    ['/home/alice/widget', 'posix', '', ['home', 'alice', 'widget']],
    ['/home//alice/./widget/', 'posix', '', ['home', 'alice', 'widget']],
    ['/home/alice/../bob', 'posix', '', ['home', 'bob']],
    ['/../../etc', 'posix', '', ['etc']],
    ['/', 'posix', '', []],
    ['/home/alice/..\\bob', 'posix', '', ['home', 'alice', '..\\bob']],
    ['C:\\Users\\alice\\widget', 'windows', 'C:', ['Users', 'alice', 'widget']],
    ['c:/Users/alice', 'windows', 'C:', ['Users', 'alice']],
    ['C:\\Users\\alice\\..\\..\\..\\Windows', 'windows', 'C:', ['Windows']],
    ['D:\\', 'windows', 'D:', []],
  ])('%s is taken apart', (text, style, drive, segments) => {
    expect(recordedPath(text)).toEqual({ style, drive, segments })
  })

  test.each([
    ['relative', 'widget'],
    ['relative upwards', '../../etc'],
    ['empty', ''],
    ['the home sign', '~/widget'],
    ['a UNC share', '\\\\host\\share'],
    ['a UNC share with slashes', '//host/share'],
    ['a UNC share in mixed form', '\\/host\\share'],
    ['a long path', '\\\\?\\C:\\Users'],
    ['a device', '\\\\.\\PhysicalDrive0'],
    ['a drive without a root', 'C:widget'],
    ['only a drive', 'C:'],
    ['a Windows path without a drive', '\\Users\\alice'],
    ['a NUL', '/home/alice\0/x'],
    ['a URL', 'file:///etc/passwd'],
  ])('%s (%j) is never opened', (_, text) => {
    expect(recordedPath(text)).toBeUndefined()
  })

  test('never leads upwards, whatever it holds', () => {
    const text = fc
      .array(fc.constantFrom('/', '\\', '..', '.', 'a', 'C:', ' ', '...', '\0'), { maxLength: 8 })
      .map((parts) => parts.join(''))
    fc.assert(
      fc.property(text, (given) => {
        for (const segment of recordedPath(given)?.segments ?? []) {
          expect(['', '.', '..']).not.toContain(segment)
          expect(segment).not.toContain('\0')
        }
      }),
      { numRuns: 1000 },
    )
  })
})

describe('below a home', () => {
  const at = (text: string) => recordedPath(text)!

  test.each([
    ['/home/alice/a/b', '/home/alice', ['a', 'b']],
    ['/home/alice', '/home/alice', []],
    ['C:\\Users\\alice\\a', 'C:\\Users\\alice', ['a']],
    ['c:\\USERS\\Alice\\A', 'C:\\Users\\alice', ['A']],
  ])('%s lies below %s', (path, base, rest) => {
    expect(below(at(path), at(base))).toEqual(rest)
  })

  test.each([
    ['/home/alicette', '/home/alice'],
    ['/home/bob', '/home/alice'],
    ['/HOME/alice/a', '/home/alice'],
    ['/home/alice/../bob', '/home/alice'],
    ['D:\\Users\\alice\\a', 'C:\\Users\\alice'],
    ['C:\\home\\alice', '/home/alice'],
    ['/home', '/home/alice'],
  ])('%s does not lie below %s', (path, base) => {
    expect(below(at(path), at(base))).toBeUndefined()
  })
})

describe('where a copied home stood', () => {
  const shown = (directory: string) => recordedHomes(directory).map(({ style, segments }) => `${style}:${segments.join('/')}`)

  test.each([
    ['/cases/7/home/alice', ['posix:home/alice']],
    ['/cases/7/root', ['posix:root']],
    ['/cases/7/Users/alice', ['posix:Users/alice', 'windows:Users/alice']],
    ['/cases/7/C/Documents and Settings/alice', ['windows:Documents and Settings/alice']],
    ['/cases/7/alice', []],
    ['/', []],
  ])('%s', (directory, homes) => {
    expect(shown(directory)).toEqual(homes)
  })

  test('a copy of Users matches whatever the drive was', () => {
    const [, windows] = recordedHomes('/cases/7/Users/alice')
    expect(below(recordedPath('E:\\Users\\alice\\p')!, windows!)).toEqual(['p'])
  })
})

describe('a recorded path in a row', () => {
  test.each([
    ['C:\\Users\\alice\\widget', 'C:/Users/alice/widget'],
    ['C:/Users/alice/widget/', 'C:/Users/alice/widget'],
    ['/home/alice/odd\\name', '/home/alice/odd\\name'],
    ['/home/alice/', '/home/alice'],
    ['/', '/'],
  ])('%s begins source_file as %s', (recorded, shown) => {
    expect(slashed(recorded)).toBe(shown)
  })

  test.each([
    ['C:\\Users\\alice\\widget', 'C:\\Users\\alice\\widget\\sub\\dir'],
    ['C:/Users/alice', 'C:/Users/alice/sub/dir'],
    ['/home/alice/', '/home/alice/sub/dir'],
    ['/', '/sub/dir'],
    ['C:\\', 'C:\\sub\\dir'],
  ])('a folder below %s is %s', (recorded, folder) => {
    expect(recordedBelow(recorded, ['sub', 'dir'])).toBe(folder)
  })
})
