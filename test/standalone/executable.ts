import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import type { Ran } from '../helpers/cli.js'
import { ROOT } from '../helpers/fixtures.js'

/** Builds the executable into a directory, by this Node. */
export function build(directory: string): string {
  const built = spawnSync(process.execPath, [path.join(ROOT, 'scripts/standalone/build.js'), directory], {
    encoding: 'utf8',
    env: { ...process.env, NODE_OPTIONS: '' },
  })
  if (built.status !== 0) throw new Error(built.stderr)
  return path.join(directory, `agent-forensics-${process.platform}-${process.arch}`)
}

/** Runs a program with exactly this environment. */
export function run(program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}, cwd?: string): Ran {
  const ran = spawnSync(program, args, { encoding: 'utf8', env, cwd, input: '', maxBuffer: 1 << 28 })
  if (ran.error) throw ran.error
  return { status: ran.status, stdout: ran.stdout, stderr: ran.stderr }
}

/** A root directory with the executable, the libraries that it names, and nothing else. */
export function emptyRoot(directory: string, executable: string): void {
  const libraries = [...run('/usr/bin/ldd', [executable]).stdout.matchAll(/(\/\S+) \(0x/g)].map(([, file]) => file!)
  for (const file of libraries) copy(file, path.join(directory, file))
  copy(executable, path.join(directory, 'agent-forensics'))
}

function copy(from: string, to: string): void {
  fs.mkdirSync(path.dirname(to), { recursive: true })
  fs.copyFileSync(from, to)
}

/** Why a root of our own is not to be had here; undefined when it is. Says nothing about what is in it. */
export function noRoot(): string | undefined {
  if (process.platform !== 'linux') return 'there is no unshare'
  const { status, stderr } = spawnSync('unshare', ['-r', 'chroot', '/', 'true'], { encoding: 'utf8' })
  return status === 0 ? undefined : `unshare or chroot is not permitted: ${stderr?.trim()}`
}

/** The command in a root directory, as a user that only that root knows, with an empty environment. */
export function inRoot(directory: string, args: readonly string[]): Ran {
  return run('/usr/bin/env', ['-i', which('unshare'), '-r', which('chroot'), directory, '/agent-forensics', ...args])
}

function which(program: string): string {
  return ['/usr/bin', '/usr/sbin', '/bin', '/sbin'].map((directory) => path.join(directory, program)).find((file) => fs.existsSync(file))!
}
