import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll } from '@jest/globals'

/** A directory of its own for one test file, gone when its tests are done. */
export function scratch(name: string): string {
  const directory = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), `agent-forensics-${name}-`)))
  // mkdtemp leaves it to its owner alone; some tests read it as somebody else.
  fs.chmodSync(directory, 0o755)
  afterAll(() => fs.rmSync(directory, { recursive: true, force: true }))
  return directory
}

export interface Snapshot {
  readonly [name: string]: string
}

/**
 * Everything that the file system says of a tree: kind, mode, owner, size, bytes allocated, all four times, in nanoseconds. But for the
 * access times of directories, which listing them sets and no program can prevent.
 */
export function snapshot(directory: string): Snapshot {
  const names = ['', ...fs.readdirSync(directory, { recursive: true, encoding: 'latin1' as BufferEncoding })].map(String).sort()
  return Object.fromEntries(
    names.map((name) => {
      const stat = fs.lstatSync(Buffer.from(path.join(directory, name), 'latin1'), { bigint: true })
      const { mode, uid, gid, ino, nlink, size, blocks, mtimeNs, ctimeNs, birthtimeNs } = stat
      const atime = stat.isDirectory() ? '-' : stat.atimeNs
      return [name, [mode, uid, gid, ino, nlink, size, blocks, mtimeNs, ctimeNs, birthtimeNs, atime].join(' ')]
    }),
  )
}

/** An account without rights, by number: whoever runs tests as root reads everything, and sees no file refused. */
export const NOBODY = 65534
export const isRoot = process.getuid?.() === 0

/** Says on the terminal why tests are left out: a suite that is silently smaller proves less than it seems to. */
export function skipLoudly(reason: string): void {
  process.stderr.write(`\nSKIPPED: ${reason}\n\n`)
}
