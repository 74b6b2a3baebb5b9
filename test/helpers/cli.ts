import { spawnSync, type SpawnSyncOptions } from 'node:child_process'
import path from 'node:path'
import { ROOT } from './fixtures.js'

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
