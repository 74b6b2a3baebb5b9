import { spawnSync, type SpawnSyncOptions } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { ROOT } from './fixtures.js'

/** The command runs from dist: one that was built before the last change of the source would prove nothing. */
function newest(directory: string): number {
  const names = fs.readdirSync(path.join(ROOT, directory), { recursive: true, encoding: 'utf8' })
  return Math.max(...names.map((name) => fs.statSync(path.join(ROOT, directory, name)).mtimeMs))
}
if (newest('src') > newest('dist')) throw new Error('dist is older than src: npm run build')

export interface Ran {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs our own CLI as a user would. */
export function cli(args: readonly string[], options: SpawnSyncOptions = {}): Ran {
  const ran = spawnSync(process.execPath, [path.join(ROOT, 'bin/run.js'), ...args], {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    ...options,
    env: { ...process.env, NODE_OPTIONS: '', ...options.env },
  })
  return { status: ran.status, stdout: String(ran.stdout), stderr: String(ran.stderr) }
}
