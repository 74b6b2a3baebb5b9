import { spawn } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { cli } from '../helpers/cli.js'
import { ROOT } from '../helpers/fixtures.js'

const { generateHome } = (await import(path.join(ROOT, 'bench/generate.js'))) as {
  generateHome: (directory: string, options: { megabytes: number }) => void
}

const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'agent-forensics-kill-'))
const home = path.join(scratch, 'home')

beforeAll(() => generateHome(home, { megabytes: 60 }))
afterAll(() => fs.rmSync(scratch, { recursive: true, force: true }))

/** Starts a run, waits until it has spilled, and ends it by a signal. */
async function killed(out: string, signal: NodeJS.Signals): Promise<void> {
  fs.mkdirSync(out, { recursive: true })
  const run = spawn(
    process.execPath,
    [path.join(ROOT, 'bin/run.js'), 'letta', 'parse', '--home', home, '--output', path.join(out, 'rows.csv')],
    {
      stdio: 'ignore',
      env: { ...process.env, NODE_OPTIONS: '' },
    },
  )
  const ended = new Promise((resolve) => run.once('exit', resolve))
  while (!hasSpilled(run.pid!, out) && run.exitCode === null) await wait(5)
  run.kill(signal)
  await ended
}

/** A spill has no name: it is seen as an open file of that directory that is deleted. */
function hasSpilled(pid: number, out: string): boolean {
  const open = path.join('/proc', String(pid), 'fd')
  try {
    return fs.readdirSync(open).some((fd) => isDeletedIn(out, fs.readlinkSync(path.join(open, fd))))
  } catch {
    return false
  }
}

function isDeletedIn(directory: string, link: string): boolean {
  return path.dirname(link) === fs.realpathSync(directory) && link.endsWith(' (deleted)')
}

const onLinux = process.platform === 'linux' ? describe : describe.skip

onLinux('a run that is killed while it sorts', () => {
  test.each(['SIGKILL', 'SIGTERM', 'SIGINT'] as const)('leaves nothing beside the output (%s)', async (signal) => {
    const out = path.join(scratch, signal)
    await killed(out, signal)
    expect(fs.readdirSync(out)).toEqual([])
  })

  test('does not keep the next run from its work, whatever it left', () => {
    const out = path.join(scratch, 'again')
    fs.mkdirSync(out)
    fs.writeFileSync(path.join(out, '.rows.csv.999999999.partial'), 'half a row')
    const { status } = cli(['letta', 'parse', '--home', home, '--output', path.join(out, 'rows.csv')])
    expect(status).toBe(0)
    expect(fs.readdirSync(out).sort()).toEqual(['rows.csv', 'rows.csv.run.json'])
  })
})
