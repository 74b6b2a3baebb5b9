import fs from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { Evidence, EvidenceUsageError } from '../../src/evidence/index.js'
import { assertOutside } from '../../src/verbs/outside.js'
import { makeHome } from '../helpers/fixtures.js'
import { scratch } from '../helpers/places.js'

const out = scratch('outside')
const home = makeHome({ '.letta/settings.json': '{}', 'work/.letta/settings.json': '{}' })
const project = makeHome({ '.letta/settings.json': '{}' }, { at: 'srv/project' })
const moved = makeHome({ 'crons.json': '{}' }, { at: 'srv/moved' })

const refuses = (place: string, options: { live?: boolean } = {}) => {
  const flags = { home: [home], 'project-dir': [project], 'cron-dir': moved }
  try {
    assertOutside({ '--output': place }, new Evidence({ homes: [home], projectDirs: [project], ...options }), flags)
    return undefined
  } catch (error) {
    if (error instanceof EvidenceUsageError) return error.message
    throw error
  }
}

describe('a place to write to', () => {
  test('outside the evidence is taken', () => {
    expect(refuses(out)).toBeUndefined()
    expect(refuses(path.dirname(home))).toBeUndefined()
  })

  test.each([
    ['the copied home', home],
    ['its .letta', path.join(home, '.letta')],
    ['a folder of it', path.join(home, 'work')],
    ['a project given beside it', project],
    ['a moved store', moved],
    ['the copied home, spelled another way', path.join(out, '..', path.relative(path.dirname(out), home))],
  ])('in %s is refused', (_, place) => {
    expect(refuses(place)).toMatch(/--output lies in the evidence, which is never written to/)
  })

  test('reached through a link is refused', () => {
    fs.symlinkSync(path.join(home, '.letta'), path.join(out, 'link'))
    expect(refuses(path.join(out, 'link'))).toMatch(/lies in the evidence/)
  })

  test('on a live machine is refused only where agents keep their files', () => {
    expect(refuses(home, { live: true })).toBeUndefined()
    expect(refuses(path.join(home, 'work'), { live: true })).toBeUndefined()
    expect(refuses(path.join(home, '.letta'), { live: true })).toMatch(/lies in the evidence/)
    expect(refuses(path.join(project, '.letta'), { live: true })).toMatch(/lies in the evidence/)
  })

  test('that is not there, or is a file, is said', () => {
    expect(refuses(path.join(out, 'none'))).toMatch(/--output: there is no directory .*none/)
    expect(refuses(path.join(home, '.letta/settings.json'))).toMatch(/there is no directory/)
  })
})

describe('evidence that cannot be used', () => {
  const usage = (options: ConstructorParameters<typeof Evidence>[0]) => () => new Evidence(options)

  test.each([
    ['a home that is not there', { homes: ['/nonexistent/alice'] }, '--home /nonexistent/alice: no such directory'],
    ['a home that is a file', { homes: [path.join(home, '.letta/settings.json')] }, 'this is a file, not a directory'],
    ['a project that is not there', { homes: [home], projectDirs: ['/nonexistent'] }, '--project-dir /nonexistent: no such directory'],
    [
      '--home-was that is no path of a machine',
      { homes: [home], homesWere: ['alice'] },
      '--home-was alice: not an absolute path of a machine',
    ],
    ['more --home-was than --home', { homes: [home], homesWere: ['/a', '/b'] }, 'there are more --home-was than --home'],
  ])('%s is said in a sentence', (_, options, words) => {
    expect(usage(options)).toThrow(EvidenceUsageError)
    expect(usage(options)).toThrow(words)
  })
})
