import fs from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { ROOT } from './helpers/fixtures.js'

/** Who may import whom (architecture.md, The one sentence). A room that is not in this table fails the test. */
const MAY_IMPORT: Record<string, readonly string[] | 'anything'> = {
  rows: [],
  catalog: ['rows'],
  evidence: ['catalog', 'rows'],
  parsers: ['rows', 'catalog', 'evidence'],
  output: ['rows'],
  report: ['rows', 'catalog'],
  commands: 'anything',
  cli: 'anything',
  verbs: 'anything',
  hooks: 'anything',
  // Is handed the commands, hooks and package.json by the bundle.
  standalone: [],
}
/** Verbs are the base classes of commands and what those do; nothing else imports either. */
const ONLY_FOR_COMMANDS = ['commands', 'verbs']

const sources = fs.readdirSync(path.join(ROOT, 'src'), { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))

function importsOf(name: string): string[] {
  const text = fs.readFileSync(path.join(ROOT, 'src', name), 'utf8')
  const found = [...text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map(([, target]) => target!)
  return found.map((target) => path.join(path.dirname(name), target).split(path.sep)[0]!)
}

describe('the rooms', () => {
  test.each(sources.filter((name) => name.includes(path.sep)))('src/%s imports only what its room may', (name) => {
    const room = name.split(path.sep)[0]!
    const allowed = MAY_IMPORT[room]
    expect(allowed).toBeDefined()
    if (allowed === 'anything') return
    const others = importsOf(name).filter((target) => target !== room && !target.includes('.'))
    expect(others.filter((target) => !allowed!.includes(target))).toEqual([])
  })

  test('nothing but commands and their hooks imports commands', () => {
    const importers = sources.filter((name) => importsOf(name).some((target) => ONLY_FOR_COMMANDS.includes(target)))
    const rooms = new Set(importers.map((name) => name.split(path.sep)[0]))
    expect([...rooms].filter((room) => !['cli', 'commands', 'verbs', 'schemas.ts'].includes(room!))).toEqual([])
  })
})
