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
  return Object.fromEntries(
    [...below(directory, '')].sort().map((name) => {
      const stat = fs.lstatSync(bytes(directory, name), { bigint: true })
      const { mode, uid, gid, ino, nlink, size, blocks, mtimeNs, ctimeNs, birthtimeNs } = stat
      const atime = stat.isDirectory() ? '-' : stat.atimeNs
      return [name, [mode, uid, gid, ino, nlink, size, blocks, mtimeNs, ctimeNs, birthtimeNs, atime].join(' ')]
    }),
  )
}

/** Not by a recursive `readdir`, which would follow links and so change their times of access. */
function* below(directory: string, at: string): Generator<string> {
  yield at
  if (!fs.lstatSync(bytes(directory, at)).isDirectory()) return
  for (const name of fs.readdirSync(bytes(directory, at), { encoding: 'latin1' as BufferEncoding }))
    yield* below(directory, `${at}/${name}`)
}

/** Names are bytes, each one character. */
function bytes(directory: string, at: string): Buffer {
  return Buffer.concat([Buffer.from(directory), Buffer.from(at, 'latin1')])
}

/** An account without rights, by number: whoever runs tests as root reads everything, and sees no file refused. */
export const NOBODY = 65534
export const isRoot = process.getuid?.() === 0

/** Says on the terminal why tests are left out: a suite that is silently smaller proves less than it seems to. */
export function skipLoudly(reason: string): void {
  process.stderr.write(`\nSKIPPED: ${reason}\n\n`)
}
