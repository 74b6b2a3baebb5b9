import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { Ran } from '../helpers/cli.js'
import { FIXTURES, ROOT, write } from '../helpers/fixtures.js'

const OURS = '@agent-forensics/plugin-letta'
const PLUGINS = path.join(FIXTURES, 'plugins')
/** Names of the plugins in fixtures/plugins, by folder. */
export const PLUGIN = {
  ours: OURS,
  quill: '@example/agent-forensics-quill',
  rival: '@rival/agent-forensics-quill',
  broken: '@example/agent-forensics-broken',
  siblings: '@example/agent-forensics-siblings',
  badRow: '@example/agent-forensics-bad-row',
} as const
const FOLDERS: Record<string, string> = {
  [PLUGIN.quill]: 'quill',
  [PLUGIN.rival]: 'quill-rival',
  [PLUGIN.broken]: 'broken',
  [PLUGIN.siblings]: 'siblings',
  [PLUGIN.badRow]: 'bad-row',
}

/** A folder with our packed package, the plugins of the tests and one oclif installed by npm: hosts stand below it. */
export class Installation {
  private constructor(
    readonly directory: string,
    readonly oclif: string,
  ) {}

  /** Undefined when npm could not install: there is no registry to ask. */
  static of(oclif: string): Installation | undefined {
    const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'agent-forensics-hosts-'))
    const tarballs = [pack(staged(directory), directory)]
    for (const folder of Object.values(FOLDERS)) tarballs.push(pack(path.join(PLUGINS, folder), directory))
    write(path.join(directory, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
    const flags = ['--no-audit', '--no-fund', '--ignore-scripts', '--legacy-peer-deps', '--prefer-offline']
    const ran = npm(['install', ...flags, `@oclif/core@${oclif}`, ...tarballs], directory)
    return ran.status === 0 ? new Installation(directory, oclif) : undefined
  }

  /** A CLI of its own: its package.json names the plugins, its bin is three lines. */
  host(name: string, plugins: readonly string[]): Host {
    const directory = path.join(this.directory, name)
    const dependencies = Object.fromEntries(plugins.map((plugin) => [plugin, '*']))
    const pjson = { name, version: '9.9.9', type: 'module', dependencies, oclif: { bin: name, plugins, topicSeparator: ' ' } }
    write(path.join(directory, 'package.json'), JSON.stringify(pjson))
    write(path.join(directory, 'run.js'), "import { execute } from '@oclif/core'\nawait execute({ dir: import.meta.url })\n")
    return new Host(directory)
  }
}

export class Host {
  constructor(readonly directory: string) {}

  run(...args: string[]): Ran {
    const places = { HOME: this.directory, XDG_DATA_HOME: this.directory, XDG_CONFIG_HOME: this.directory, XDG_CACHE_HOME: this.directory }
    const env = { ...process.env, ...places, NODE_OPTIONS: '', NODE_ENV: 'production' }
    const ran = spawnSync(process.execPath, [path.join(this.directory, 'run.js'), ...args], { encoding: 'utf8', env, cwd: this.directory })
    return { status: ran.status, stdout: ran.stdout, stderr: ran.stderr }
  }
}

/** The package as it is published: built afresh, with a manifest of its commands. */
function staged(directory: string): string {
  const stage = path.join(directory, 'stage')
  for (const name of ['package.json', 'bin', 'schemas', 'docs', 'LICENSE', 'README.md', 'CHANGELOG.md'])
    if (fs.existsSync(path.join(ROOT, name))) fs.cpSync(path.join(ROOT, name), path.join(stage, name), { recursive: true })
  must(
    spawnSync(process.execPath, [tool('typescript/bin/tsc'), '-p', 'tsconfig.build.json', '--outDir', path.join(stage, 'dist')], {
      cwd: ROOT,
      encoding: 'utf8',
    }),
  )
  fs.symlinkSync(path.join(ROOT, 'node_modules'), path.join(stage, 'node_modules'), 'junction')
  must(
    spawnSync(process.execPath, [tool('oclif/bin/run.js'), 'manifest'], {
      cwd: stage,
      encoding: 'utf8',
      env: { ...process.env, NODE_OPTIONS: '' },
    }),
  )
  return stage
}

function tool(name: string): string {
  return path.join(ROOT, 'node_modules', name)
}

function pack(from: string, to: string): string {
  const ran = must(npm(['pack', '--json', '--ignore-scripts', '--pack-destination', to], from))
  const [{ filename }] = JSON.parse(ran.stdout) as [{ filename: string }]
  return path.join(to, filename)
}

function npm(args: readonly string[], cwd: string) {
  return spawnSync('npm', args, {
    cwd,
    encoding: 'utf8',
    timeout: 55_000,
    shell: process.platform === 'win32',
    env: { ...process.env, NODE_OPTIONS: '' },
  })
}

function must<T extends { readonly status: number | null; readonly stdout: string; readonly stderr: string }>(ran: T): T {
  if (ran.status !== 0) throw new Error(`${ran.stdout}\n${ran.stderr}`)
  return ran
}
