import fs from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { letta, meaning } from '../../../src/catalog/index.js'
import { Evidence } from '../../../src/evidence/index.js'
import { ExplainedPaths, explainPaths } from '../../../src/verbs/explain/paths.js'
import { cases, makeHome } from '../../helpers/fixtures.js'
import { validator } from '../../helpers/schemas.js'

const entries = [letta]
const valid = validator(ExplainedPaths)
const explain = (...paths: string[]) => explainPaths(paths, entries).paths
const one = (given: string) => explain(given)[0]!
const ids = (given: string) => one(given).rules.map(({ kind, id }) => `${kind} ${id}`)

describe('a path of another machine', () => {
  test.each([
    ['C:\\Users\\alice\\.letta\\settings.json', 'parsed', 'C:/Users/alice', 'store settings'],
    ['/home/alice/.letta/sessions.jsonl', 'parsed', '/home/alice', 'store sessions'],
    ['/Users/alice/.letta/transcripts/a/b/transcript.jsonl', 'parsed', '/Users/alice', 'store transcripts'],
    ['/root/.letta/transcripts/a/b/state.json', 'collected', '/root', 'store reflection-state'],
    ['/home/alice/.letta/lc-local-backend/providers/auth.json', 'credential', '/home/alice', 'credential provider-keys'],
    ['C:\\Users\\alice\\.letta\\mods\\packages\\x\\node_modules\\y\\index.js', 'excluded', 'C:/Users/alice', 'exclusion node-modules'],
    ['/tmp/letta-background-abc/task_1.log', 'collected', '/tmp', 'store background-output'],
    [
      'C:\\Users\\alice\\AppData\\Local\\Temp\\letta-background-abc\\task_1.log',
      'collected',
      'C:/Users/alice/AppData/Local/Temp',
      'store background-output',
    ],
  ])('%s is %s', (given, verdict, root, rule) => {
    expect(one(given)).toMatchObject({ verdict, root, assumed: false })
    expect(ids(given)).toContain(rule)
  })

  test('below a folder that is no home by its name is told for both a home and a project', () => {
    expect(one('/srv/proj/.letta/settings.local.json')).toMatchObject({ verdict: 'parsed', root: '/srv/proj', assumed: true })
    expect(ids('/srv/proj/.letta/settings.local.json')).toEqual(expect.arrayContaining(['store settings', 'store project-settings']))
  })

  test('that begins at the home is understood, with and without its sign', () => {
    for (const given of ['.letta/crons.json', '~/.letta/crons.json', '%USERPROFILE%\\.letta\\crons.json', '$HOME/.letta/crons.json'])
      expect(ids(given)).toContain('store crons')
  })

  test('that no rule names is unknown, which is said not to mean that it is no evidence', () => {
    for (const given of ['/home/alice/.letta/what.bin', '/home/alice/notes.txt', '', 'C:\\', '\\\\host\\share\\x']) {
      expect(one(given)).toMatchObject({ verdict: 'unknown', rules: [], rows: [] })
      expect(one(given).why).toContain('does not mean')
    }
  })

  test('names the rows that files there give', () => {
    expect(one('/home/alice/.letta/sessions.jsonl').rows.map(({ id }) => id)).toEqual([
      'session-end',
      'session-start',
      'model',
      'model-change',
    ])
    expect(one('/home/alice/.letta/transcripts/a/b/state.json').rows).toEqual([])
  })
})

test('every kind of file that is parsed says which rows it gives, but those that only help others', () => {
  const helpers = ['remote-settings', 'cwd-cache', 'conversation-records']
  const stores = letta.stores.filter(({ parsed, id }) => parsed && !helpers.includes(id))
  const files = stores.map(({ scope, globs }) => {
    const file = globs[0]!.replace(/\{([^,}]*)[^}]*\}/g, '$1').replaceAll('*', 'x')
    return `/home/alice/${scope === 'project' ? 'work/' : ''}${file}`
  })
  const explained = explain(...files)
  expect(stores.filter((_, i) => explained[i]!.rows.length === 0).map(({ id }) => id)).toEqual([])
  for (const { id } of explained.flatMap(({ rows }) => rows)) expect(meaning(id)).toBeDefined()
})

test.each(cases('letta').map((given) => [given.name, given] as const))(
  'in %s each file falls under the store by which the parser finds it',
  (_, given) => {
    const [home] = new Evidence({ homes: [given.home] }).homes
    const files = home!.files(letta.stores)
    const paths = files.map((file) => path.join(given.home, file.path))
    const explained = explainPaths(paths, entries, { homes: [given.home] }).paths
    const stores = explained.map(({ rules }) => rules.filter(({ kind }) => kind === 'store').map(({ id }) => id))
    expect(stores).toEqual(files.map(({ store }) => [store]))
    expect(explained.every(({ assumed }) => !assumed)).toBe(true)
  },
)

test('a folder is walked; links are named and not followed', () => {
  const home = makeHome({ '.letta/sessions.jsonl': '', '.letta/mods/a.mjs': '', 'other.txt': '' })
  fs.symlinkSync('/etc', path.join(home, '.letta/skills'))
  const explained = explainPaths([home], entries, { homes: [home] })
  expect(explained.paths.map(({ path: at, verdict }) => [path.relative(home, at), verdict])).toEqual([
    ['.letta/mods/a.mjs', 'collected'],
    ['.letta/sessions.jsonl', 'parsed'],
    ['.letta/skills', 'collected'],
    ['other.txt', 'unknown'],
  ])
  expect(explained.not_walked).toEqual([`${path.join(home, '.letta/skills')}: a symbolic link, not followed`])
  expect(valid(explained)).toEqual([])
})
