import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { beforeAll, describe, expect, test } from '@jest/globals'
import picomatch from 'picomatch'
import { parse } from 'yaml'
import { exportCatalog, EXPORT_FORMATS, ExportFile, type ExportFormat } from '../../src/catalog/export/index.js'
import { letta, type CatalogEntry } from '../../src/catalog/index.js'
import { z } from 'zod'
import { collectedFrom } from '../helpers/collected.js'
import {
  filesBelow,
  forensicArtifactsPaths,
  kape,
  plainGlobs,
  readUac,
  uac,
  velociraptor,
  type Collector,
  type KapeTarget,
} from '../helpers/collectors.js'
import { cases, makeHome } from '../helpers/fixtures.js'
import { validator } from '../helpers/schemas.js'

const exported = (format: ExportFormat, holds: 'evidence' | 'credentials', entry: CatalogEntry = letta) =>
  exportCatalog(format, [entry]).find((file) => file.holds === holds)!.content

/** Debian's python3 has the packages that Debian installs; another python in the path may not. */
const PYTHON = '/usr/bin/python3'
const hasArtifacts = spawnSync(PYTHON, ['-c', 'import artifacts'], { encoding: 'utf8' }).status === 0
const hasYamllint = spawnSync('yamllint', ['--version'], { encoding: 'utf8' }).status === 0
const needs = (there: boolean, what: string) => {
  if (!there) console.warn(`SKIPPED: ${what} is not installed, so what needs it was not tested`)
  return there ? test : test.skip
}

/** Reads and registers definitions with ForensicArtifacts' own library, and gives back what it understood. */
const REGISTER = `
import json, sys
from artifacts import reader, registry
definitions = registry.ArtifactDefinitionsRegistry()
definitions.ReadFromFile(reader.YamlArtifactsReader(), sys.argv[1])
print(json.dumps([{'name': d.name, 'os': d.supported_os, 'urls': d.urls, 'doc': d.description, 'sources': [dict(s.AsDict(), type=s.type_indicator, os=s.supported_os) for s in d.sources]} for d in definitions.GetDefinitions()]))
`
interface Definition {
  readonly name: string
  readonly doc: string
  readonly os: readonly string[]
  readonly urls: readonly string[]
  readonly sources: readonly {
    readonly type: string
    readonly paths?: readonly string[]
    readonly separator?: string
    readonly names?: readonly string[]
    readonly os: readonly string[]
  }[]
}

const known = new Map<string, Definition[]>()

function registered(text: string): Definition[] {
  if (!known.has(text)) known.set(text, register(text))
  return known.get(text)!
}

function register(text: string): Definition[] {
  const file = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'agent-forensics-test-')), 'artifacts.yaml')
  fs.writeFileSync(file, text)
  const ran = spawnSync(PYTHON, ['-c', REGISTER, file], { encoding: 'utf8', maxBuffer: 1 << 26 })
  if (ran.status !== 0) throw new Error(ran.stderr)
  return JSON.parse(ran.stdout) as Definition[]
}

const artifactsOf =
  (os: string): Collector =>
  (text, home) => {
    const sources = registered(text)
      .flatMap(({ sources }) => sources)
      .filter((source) => source.type === 'FILE' && source.os.includes(os))
    const separator = sources[0]!.separator ?? '/'
    return forensicArtifactsPaths(
      sources.flatMap(({ paths }) => paths ?? []),
      separator,
    )(home)
  }

const collectors: readonly (readonly [string, ExportFormat, Collector, boolean, boolean])[] = [
  ['globs', 'globs', plainGlobs, true, true],
  ['Velociraptor', 'velociraptor', velociraptor, true, true],
  ['UAC, by the find that it runs', 'uac', uac, true, true],
  ['KAPE', 'kape', kape, false, true],
  ['ForensicArtifacts on Linux', 'forensic-artifacts', artifactsOf('Linux'), false, hasArtifacts],
  ['ForensicArtifacts on Windows', 'forensic-artifacts', artifactsOf('Windows'), false, hasArtifacts],
]

/** A home with a file for every glob of the catalog, with odd names, and files that are left out. */
function fullHome(): string {
  const instances = (globs: readonly string[], prefix = '') =>
    globs
      .flatMap((glob) => (picomatch.scan(glob).isGlob || glob.includes('{') ? spelled(glob) : [glob]))
      .map((file) => [prefix + file, 'x'] as const)
  const cwd = '/home/alice/work/other proj'
  const header = JSON.stringify({ type: 'session', version: 3, id: 'local-conv-1', timestamp: '2026-11-30T17:34:13.000Z', cwd })
  const stores = letta.stores.flatMap(({ scope, globs }) =>
    scope === 'home' ? instances(globs) : scope === 'project' ? instances(globs, 'work/other proj/') : [],
  )
  const excluded = letta.exclusions.filter(({ scope }) => scope === 'home').flatMap(({ globs }) => instances(globs))
  const unrelated = [
    'notes.txt',
    'work/settings.json',
    '.letta-old/settings.json',
    '.config/other/settings.json',
    'work/other proj/src/app.ts',
  ]
  const all = [...stores, ...excluded].filter(([file], _, others) => !others.some(([other]) => other.startsWith(`${file}/`)))
  return makeHome({
    ...Object.fromEntries([...all, ...unrelated.map((file) => [file, 'x'] as const)]),
    '.letta/lc-local-backend/conversations/Y29udmVyc2F0aW9uOmxvY2FsLWNvbnYtMQ/messages.jsonl': `${header}\n`,
  })
}

/** A path that a glob means. Depths differ, names hold spaces. */
function spelled(glob: string): string[] {
  const [open, close] = [glob.indexOf('{'), glob.indexOf('}')]
  if (open !== -1)
    return glob
      .slice(open + 1, close)
      .split(',')
      .flatMap((one) => spelled(glob.slice(0, open) + one + glob.slice(close + 1)))
  const depths = [
    ['one two/three', 'a b/c/d.e'],
    ['four', 'f'],
  ] as const
  return depths.map(([between, below]) =>
    glob
      .replace(/\*\*(?=\/)/g, between)
      .replace(/\*\*$/, below)
      .replaceAll('*', 'x-1'),
  )
}

describe.each(collectors)('%s', (_, format, collect, leavesOut, there) => {
  const run = there ? test : test.skip
  if (!there) console.warn(`SKIPPED: python3-artifacts is not installed, so ${format} was not tested`)
  const text = exported(format, 'evidence')

  run.each(cases('letta').map((given) => [given.name, given] as const))(
    'finds in %s all that a collection finds, and nothing else',
    async (_, given) => {
      const [expected, found] = [await collectedFrom(given.home), collect(text, given.home)]
      expect([...expected].filter((file) => !found.has(file))).toEqual([])
      expect([...found].filter((file) => !expected.has(file))).toEqual([])
      expect(expected.size).toBeGreaterThan(3)
    },
  )

  run('finds every kind of file of the catalog, also in a project, and only what it says beyond', async () => {
    const home = fullHome()
    const [expected, found] = [await collectedFrom(home), collect(text, home)]
    expect([...expected].filter((file) => !found.has(file))).toEqual([])
    const beyond = [...found].filter((file) => !expected.has(file)).filter((file) => !file.startsWith('work/other proj/.git/worktrees/'))
    if (leavesOut) expect(beyond).toEqual([])
    else {
      const explained = picomatch(
        letta.exclusions.flatMap(({ globs }) => globs),
        { dot: true },
      )
      expect(beyond.filter((file) => !explained(file))).toEqual([])
      const header = text.replace(/\n#\s+/g, ' ')
      for (const { globs, reason } of letta.exclusions.filter(({ when }) => when === 'always'))
        expect(header).toContain(`${globs.join(', ')}: ${reason}`)
    }
  })

  run('finds no credential file, unless it is asked for those', () => {
    const secret = [
      '.letta/lc-local-backend/providers/auth.json',
      '.letta/lc-local-backend/secrets/local-agent-secrets.json',
      '.letta/credentials',
      '.letta/pg_uri',
    ]
    const home = makeHome(Object.fromEntries([...secret, '.letta/settings.json'].map((file) => [file, '{}'])))
    expect([...collect(text, home)]).toEqual(['.letta/settings.json'])
    expect([...collect(exported(format, 'credentials'), home)].sort()).toEqual([...secret].sort())
  })
})

describe('the credential files', () => {
  test.each(EXPORT_FORMATS)('are an artifact of their own in %s, which names the keys inside', (format) => {
    const text = exported(format, 'credentials').replace(/\n#?\s+/g, ' ')
    for (const key of ['providers.*.auth.refresh', 'anthropic.key', 'secrets.*']) expect(text).toContain(key)
  })

  test.each(EXPORT_FORMATS)('that are evidence too are named with their keys in the evidence of %s', (format) => {
    const text = exported(format, 'evidence').replace(/\n#?\s+/g, ' ')
    for (const key of ['refreshToken', 'accounts.*.botToken', 'mcp_oauth.client_secret']) expect(text).toContain(key)
  })
})

describe('the Velociraptor export', () => {
  test('is a client artifact in YAML: parameters that are used, sources that upload with the time of the file', () => {
    const artifact = parse(exported('velociraptor', 'evidence')) as {
      name: string
      type: string
      description: string
      parameters: { name: string; type: string }[]
      sources: { query: string }[]
    }
    expect(artifact).toMatchObject({ name: 'Custom.Generic.AgentForensics.LettaCodeEvidence', type: 'CLIENT' })
    expect(artifact.description).toContain(letta.version)
    const queries = artifact.sources.map(({ query }) => query).join('\n')
    for (const { name } of artifact.parameters) expect(queries).toContain(name)
    for (const { query } of artifact.sources) {
      expect(query).toMatch(/FROM glob\(globs=\w+\.Glob, root=Root, nosymlink=TRUE\)/)
      expect(query).toMatch(/upload\(file=OSPath, mtime=Mtime/)
    }
  })
})

describe('the KAPE export', () => {
  const text = exported('kape', 'evidence')

  test('has the fields of a target, one id for ever, and documentation', () => {
    const document = parse(text) as Record<string, unknown> & { Targets: KapeTarget[] }
    expect(Object.keys(document)).toEqual(['Description', 'Author', 'Version', 'Id', 'RecreateDirectories', 'Targets'])
    expect(document.RecreateDirectories).toBe(true)
    expect(document.Id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(parse(exported('kape', 'evidence', { ...letta, version: '2099-01-01.1' })).Id).toBe(document.Id)
    expect((parse(exported('kape', 'credentials')) as { Id: string }).Id).not.toBe(document.Id)
    for (const target of document.Targets) {
      expect(target.Comment).not.toBe('')
      expect(target.Category).toBe('Apps')
    }
    expect(text).toContain('\n# Documentation\n')
  })

  const published = `{yaml-files: ['*.tkape'], rules: {braces: enable, brackets: enable, colons: enable, commas: enable, comments: {level: warning}, comments-indentation: {level: warning}, document-end: disable, document-start: disable, empty-lines: enable, hyphens: enable, indentation: enable, key-duplicates: enable, line-length: disable, new-line-at-end-of-file: enable, trailing-spaces: enable, truthy: {allowed-values: ['true', 'false'], level: warning}}}`

  needs(hasYamllint, 'yamllint').each([
    ['the rules of KapeFiles', published, ['--strict']],
    ['the default rules', 'extends: default', []],
  ])('passes yamllint by %s', (_, rules, flags) => {
    for (const holds of ['evidence', 'credentials'] as const) {
      const ran = spawnSync('yamllint', [...flags, '-d', rules, '-'], { input: exported('kape', holds), encoding: 'utf8' })
      expect(ran.stdout).not.toContain('error')
      expect(ran.status).toBe(0)
    }
  })
})

describe('the UAC export', () => {
  test.each(['evidence', 'credentials'] as const)('passes a checker made from the rules of UAC: %s', (holds) => {
    const items = readUac(exported('uac', holds))
    expect(items.length).toBeGreaterThan(5)
    for (const item of items) {
      expect(item.description).not.toMatch(/["'#]/)
      expect(item.path).not.toMatch(/\$|\*\*/)
    }
  })

  test('the checker refuses what UAC refuses', () => {
    expect(() => readUac('version: 1.0\nartifacts:\n  -\n    description: x\n')).toThrow('missing')
    expect(() => readUac('version: 1.0\nartifacts:\n  description: x\n')).toThrow("expected '-'")
    expect(() => readUac('artifacts:\n  -\n')).toThrow('version')
  })
})

describe('the ForensicArtifacts export', () => {
  let definitions: Definition[] = []
  beforeAll(() => {
    if (hasArtifacts)
      definitions = [
        ...registered(exported('forensic-artifacts', 'evidence')),
        ...registered(exported('forensic-artifacts', 'credentials')),
      ]
  })

  needs(hasArtifacts, 'python3-artifacts')('is read and registered, a definition for each kind of file and a group', () => {
    const group = definitions.find(({ name }) => name === 'LettaCodeEvidence')
    expect(group?.sources[0]?.names).toHaveLength(letta.stores.length)
    for (const name of group!.sources[0]!.names!) expect(definitions.map((one) => one.name)).toContain(name)
    for (const one of definitions) {
      expect(one.doc).not.toBe('')
      expect(one.os).toEqual(expect.arrayContaining(['Linux', 'Windows', 'Darwin']))
      expect(one.urls.length).toBeGreaterThan(0)
    }
  })

  needs(hasArtifacts, 'python3-artifacts')('names the paths of each system', () => {
    const transcripts = definitions.find(({ name }) => name === 'LettaCodeTranscripts')!
    expect(transcripts.sources).toMatchObject([
      { type: 'FILE', paths: ['%%users.homedir%%/.letta/transcripts/*/*/transcript.jsonl'], os: ['Darwin', 'Linux'] },
      { type: 'FILE', paths: ['%%users.userprofile%%\\.letta\\transcripts\\*\\*\\transcript.jsonl'], separator: '\\', os: ['Windows'] },
    ])
  })
})

test('several agents are exported each by itself, and the result fits its schema', () => {
  const other = { ...letta, agent: 'example', title: 'Example' }
  const valid = validator(z.array(ExportFile))
  for (const format of EXPORT_FORMATS) {
    const files = exportCatalog(format, [letta, other])
    expect(files.map(({ agent, holds }) => `${agent} ${holds}`)).toEqual([
      'letta evidence',
      'letta credentials',
      'example evidence',
      'example credentials',
    ])
    expect(new Set(files.map(({ name }) => name)).size).toBe(4)
    expect(valid(files)).toEqual([])
  }
})

test('the home that stands for every kind of file has one of each', () => {
  expect(filesBelow(fullHome()).length).toBeGreaterThan(150)
})
