import fs from 'node:fs'
import path from 'node:path'
import picomatch from 'picomatch'
import type { CatalogEntry } from '../../src/catalog/index.js'
import { filesBelow } from './packages.js'

/** Shorter values stand in other places by chance. */
const SHORTEST = 8

/** The secrets of a home, by the catalog's keys: read from its files without any of the code that masks them. */
export function secretsOf(home: string, entry: CatalogEntry): string[] {
  const secrets = new Set<string>()
  for (const file of filesBelow(home)) {
    const belowProject = /(?:^|\/)(\.letta\/settings(?:\.local)?\.json)$/.exec(file)?.[1] ?? file
    for (const rule of entry.credentials.filter((rule) => rule.class === 'withhold' || rule.class === 'redact')) {
      const at = rule.scope === 'project' ? belowProject : file
      if (picomatch([...rule.globs, '\0'], { dot: true })(at)) valuesIn(fs.readFileSync(path.join(home, file), 'utf8'), rule, secrets)
    }
  }
  return [...secrets].filter((secret) => secret.length >= SHORTEST)
}

function valuesIn(text: string, rule: CatalogEntry['credentials'][number], secrets: Set<string>): void {
  for (const [, password] of text.matchAll(/password=([^\s;"']+)/g)) secrets.add(password!)
  if (rule.format !== 'json') return
  const tests = rule.keys.map((key) => picomatch(key.replaceAll('.', '/').replace(/\/\*\*$/, '/**'), { dot: true }))
  walk(JSON.parse(text), '', (at, value) => {
    if (typeof value === 'string' && tests.some((test) => test(at))) secrets.add(value)
  })
}

function walk(value: unknown, at: string, visit: (at: string, value: unknown) => void): void {
  visit(at, value)
  if (typeof value === 'object' && value !== null)
    for (const [key, inner] of Object.entries(value)) walk(inner, at === '' ? key : `${at}/${key.replaceAll('/', '_')}`, visit)
}

/** Files below a folder in whose bytes one of these texts stands. */
export function holders(directory: string, texts: readonly string[]): string[] {
  return filesBelow(directory).filter((file) => {
    const bytes = fs.readFileSync(path.join(directory, file))
    return texts.some((text) => bytes.includes(text))
  })
}
