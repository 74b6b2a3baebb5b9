import { execFileSync, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, test } from '@jest/globals'
import type { ManifestLine } from '../../../src/evidence/index.js'
import { jsonLines, makeHome, write } from '../../helpers/fixtures.js'
import { filesBelow, package_ } from '../../helpers/packages.js'

const ROOT_ONLY = process.getuid?.() === 0 ? test : test.skip
const POSIX = process.platform === 'win32' ? describe.skip : describe

/** `.letta/skills/**` is a store that takes any name. */
const skills = (home: string, name: string | Buffer) => Buffer.concat([Buffer.from(`${home}/.letta/skills/`), Buffer.from(name)])

function lineOf(lines: readonly ManifestLine[], end: string): ManifestLine {
  const [line, ...others] = lines.filter(({ original_path }) => original_path.endsWith(end))
  if (!line || others.length > 0) throw new Error(`${1 + others.length} lines for ${end}`)
  return line
}

POSIX('a home that was made to attack its reader', () => {
  test('gives a line for every link, and nothing that a link points to', async () => {
    const home = makeHome({ '.letta/settings.json': '{}', 'private/diary.txt': 'DIARY' })
    const outside = makeHome({ 'x/transcript.jsonl': 'OUTSIDE' })
    fs.symlinkSync('/etc/hostname', path.join(home, '.letta/sessions.jsonl'))
    fs.symlinkSync(outside, path.join(home, '.letta/transcripts'))
    fs.mkdirSync(path.join(home, '.letta/skills'))
    fs.symlinkSync('..', path.join(home, '.letta/skills/loop'))
    fs.symlinkSync('../../private', path.join(home, '.letta/skills/private'))
    const { lines, directory } = await package_({ homes: [home] })
    expect(lineOf(lines, 'sessions.jsonl')).toMatchObject({ action: 'link', kind: 'link', link_target: '/etc/hostname', stored_path: null })
    expect(lineOf(lines, '.letta/transcripts')).toMatchObject({ action: 'link', link_target: outside })
    expect(lineOf(lines, 'skills/loop')).toMatchObject({ action: 'link', link_target: '..' })
    expect(lineOf(lines, 'skills/private')).toMatchObject({ action: 'link' })
    expect(filesBelow(path.join(directory, 'evidence'))).toEqual(['alice/home/.letta/settings.json'])
  })

  test('gives a line for a FIFO and a socket, without waiting for them', async () => {
    const home = makeHome({ '.letta/skills/a.md': 'a' })
    execFileSync('mkfifo', [path.join(home, '.letta/skills/fifo'), path.join(home, '.letta/settings.json')])
    execFileSync('python3', ['-c', 'import socket,sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])', 'sock'], {
      cwd: path.join(home, '.letta/skills'),
    })
    const { lines } = await package_({ homes: [home] })
    for (const name of ['skills/fifo', 'settings.json', 'skills/sock'])
      expect(lineOf(lines, name)).toMatchObject({ action: 'special', kind: 'special', stored_path: null })
  })

  ROOT_ONLY('gives a line for a device node', async () => {
    const home = makeHome({ '.letta/skills/a.md': 'a' })
    if (spawnSync('mknod', [path.join(home, '.letta/skills/zero'), 'c', '1', '5']).status !== 0)
      return console.warn('SKIPPED: no device nodes here')
    const { lines } = await package_({ homes: [home] })
    expect(lineOf(lines, 'skills/zero')).toMatchObject({ action: 'special' })
  })

  test('does not fill the disk with a sparse file', async () => {
    const home = makeHome({ '.letta/sessions.jsonl': '' })
    fs.truncateSync(path.join(home, '.letta/sessions.jsonl'), 1e12)
    const { lines } = await package_({ homes: [home] })
    expect(lines.map(({ action, rule, size }) => [action, rule, size])).toEqual([['too-large', 'sparse', 1e12]])
  })

  test('keeps names that no disk but its own can hold, with the bytes of each in the manifest', async () => {
    const home = makeHome({
      '.letta/skills/Case.md': '1',
      '.letta/skills/case.md': '2',
      '.letta/skills/CON': '3',
      '.letta/skills/dot.': '4',
    })
    const names = ['new\nline', 'tab\there', 'esc\x1b[2J', 'pi|pe', 'back\\slash', `${'n'.repeat(251)}.txt`, '\u202etxt.exe']
    for (const name of names) fs.writeFileSync(skills(home, name), name)
    const bytes = [Buffer.from([0x66, 0xff]), Buffer.from([0x66, 0xfe])]
    for (const name of bytes) fs.writeFileSync(skills(home, name), name)
    fs.mkdirSync(skills(home, 'dir\nectory'))
    fs.writeFileSync(skills(home, 'dir\nectory/inside'), 'inside')

    const { lines, directory } = await package_({ homes: [home] })
    expect(lines).toHaveLength(4 + names.length + bytes.length + 1)
    for (const line of lines) {
      expect(line.action).toBe('copied')
      expect(line.stored_path).toMatch(/^[^<>:"|?*\\\u0000-\u001f\u202e]+(?<![. ])$/)
      const original = line.original_path_base64 ? Buffer.from(line.original_path_base64, 'base64') : Buffer.from(line.original_path)
      expect(fs.readFileSync(path.join(directory, line.stored_path!))).toEqual(fs.readFileSync(original))
    }
    const stored = lines.map(({ stored_path }) => stored_path!.toLowerCase())
    expect(new Set(stored).size).toBe(stored.length)
    expect(Math.max(...stored.flatMap((at) => at.split('/')).map((name) => Buffer.byteLength(name)))).toBeLessThanOrEqual(200)
  })

  test('copies nothing that the catalog does not name', async () => {
    const home = makeHome({
      '.letta/sessions.jsonl': jsonLines({ project: '/home/alice/p', timestamp: 1 }),
      '.letta/unknown.bin': 'x',
      '.letta/bin/rg': 'binary',
      '.letta/mods/m/node_modules/pkg/index.js': 'x',
      '.letta/mods/m/index.ts': 'mod',
      '.ssh/id_ed25519': 'KEY',
      'p/src/main.ts': 'code',
      'p/.letta/settings.json': '{}',
      'p/a/b/c/d/.letta/settings.json': '{}',
      'p/a/b/c/d/e/.letta/settings.json': 'too deep',
      'p/node_modules/x/.letta/settings.json': 'no',
      'p/.git/worktrees/w/letta-enter.lock': '{}',
      'p/.git/config': 'no',
    })
    const { lines, directory } = await package_({ homes: [home] })
    expect(filesBelow(path.join(directory, 'evidence/alice'))).toEqual([
      'home/.letta/mods/m/index.ts',
      'home/.letta/sessions.jsonl',
      'project-1/.git/worktrees/w/letta-enter.lock',
      'project-1/.letta/settings.json',
      'project-1/a/b/c/d/.letta/settings.json',
    ])
    expect(lines.filter(({ action }) => action === 'excluded').map(({ short_path, kind }) => [short_path, kind])).toEqual([
      ['.letta/bin', 'directory'],
      ['.letta/mods/m/node_modules', 'directory'],
    ])
    expect(lineOf(lines, 'p/a/b/c/d/.letta/settings.json')).toMatchObject({
      project: '/home/alice/p/a/b/c/d',
      source_file: '/home/alice/p/a/b/c/d/.letta/settings.json',
      short_path: '.letta/settings.json',
      store: 'project-settings',
    })
  })

  test('names an unreadable folder and an unreadable file', async () => {
    const home = makeHome({ '.letta/sessions.jsonl': 'x', '.letta/skills/a.md': 'x', '.letta/transcripts/a/c/transcript.jsonl': 'x' })
    fs.chmodSync(path.join(home, '../..'), 0o755)
    fs.chmodSync(path.join(home, '.letta/transcripts/a'), 0)
    fs.chmodSync(path.join(home, '.letta/sessions.jsonl'), 0)
    const unprivileged = await asNobody(() => package_({ homes: [home] }))
    fs.chmodSync(path.join(home, '.letta/transcripts/a'), 0o755)
    expect(lineOf(unprivileged.lines, 'transcripts/a')).toMatchObject({
      action: 'failed',
      kind: 'directory',
      problem: expect.stringContaining('permission denied'),
    })
    expect(lineOf(unprivileged.lines, 'sessions.jsonl')).toMatchObject({
      action: 'failed',
      problem: expect.stringContaining('permission denied'),
    })
    expect(lineOf(unprivileged.lines, 'a.md')).toMatchObject({ action: 'copied' })
    expect(unprivileged.collection.troubles).toHaveLength(2)
  })
})

POSIX('a home that changes while it is collected', () => {
  /** Does something to a file after it was listed and before it is opened: the progress is told in between. */
  const during = (name: string, act: () => void, times = 1) => {
    let left = times
    return ({ path }: { path: string }) => {
      if (path.endsWith(name) && left-- > 0) act()
    }
  }

  test('does not open what a file was swapped for', async () => {
    const home = makeHome({ '.letta/sessions.jsonl': 'x', '.letta/skills/a.md': 'x', secret: 'OUTSIDE' })
    const victim = path.join(home, '.letta/sessions.jsonl')
    const swap = during('sessions.jsonl', () => {
      fs.rmSync(victim)
      fs.symlinkSync('../secret', victim)
    })
    const { lines, directory } = await package_({ homes: [home] }, { onProgress: swap })
    expect(lineOf(lines, 'sessions.jsonl')).toMatchObject({ action: 'link', link_target: '../secret', stored_path: null })
    expect(filesBelow(path.join(directory, 'evidence'))).toEqual(['alice/home/.letta/skills/a.md'])
  })

  test('does not go through a folder that was swapped for a link', async () => {
    const home = makeHome({ '.letta/skills/a.md': 'x', 'elsewhere/a.md': 'OUTSIDE' })
    const swap = during('a.md', () => {
      fs.renameSync(path.join(home, '.letta/skills'), path.join(home, 'moved'))
      fs.symlinkSync('../elsewhere', path.join(home, '.letta/skills'))
    })
    const { lines } = await package_({ homes: [home] }, { onProgress: swap })
    expect(lineOf(lines, 'a.md')).toMatchObject({ action: 'failed', stored_path: null })
  })

  test('copies a file that grew once more, whole', async () => {
    const home = makeHome({ '.letta/sessions.jsonl': 'one\n' })
    const grow = during('sessions.jsonl', () => fs.appendFileSync(path.join(home, '.letta/sessions.jsonl'), 'two\n'))
    const { lines, directory } = await package_({ homes: [home] }, { onProgress: grow })
    expect(lines).toMatchObject([{ action: 'copied', size: 8, stored_size: 8 }])
    expect(fs.readFileSync(path.join(directory, lines[0]!.stored_path!), 'utf8')).toBe('one\ntwo\n')
  })

  test('ends although a file never stops growing, and says that it changed', async () => {
    const home = makeHome({ '.letta/sessions.jsonl': 'x'.repeat(1 << 22) })
    const file = path.join(home, '.letta/sessions.jsonl')
    const writer = spawnSync(
      'sh',
      ['-c', `(i=0; while [ $i -lt 4000 ]; do head -c 100000 /dev/zero >> '${file}'; i=$((i+1)); done) >/dev/null 2>&1 & echo $!`],
      {
        encoding: 'utf8',
      },
    )
    try {
      while (fs.statSync(file).size === 1 << 22) await wait(5)
      const { lines, collection, directory } = await package_({ homes: [home] })
      expect(lines).toMatchObject([{ action: 'changed', problem: expect.stringContaining('changed while it was copied, twice') }])
      expect(collection.troubles).toHaveLength(1)
      expect(fs.statSync(path.join(directory, lines[0]!.stored_path!)).size).toBe(lines[0]!.stored_size)
    } finally {
      process.kill(Number(writer.stdout))
    }
  })
})

/** Runs as a user without rights where the test runs as root. */
async function asNobody<T>(act: () => Promise<T>): Promise<T> {
  if (process.getuid?.() !== 0) return act()
  process.seteuid!(65534)
  try {
    return await act()
  } finally {
    process.seteuid!(0)
  }
}

test('a moved store and the usual one it hides are both there, each known by its usual path', async () => {
  const home = makeHome({ '.letta/transcripts/a/c/transcript.jsonl': 'usual' })
  const moved = makeHome({ 'a/c/transcript.jsonl': 'moved' })
  const store = { directory: moved, base: '.letta/transcripts', paths: ['.letta/transcripts'] }
  const { lines } = await package_({ homes: [home], moved: [store] })
  expect(lines.map(({ place, source_file }) => [place, source_file])).toEqual([
    ['alice/moved-1', '.letta/transcripts/a/c/transcript.jsonl'],
    ['alice/home', '.letta/transcripts/a/c/transcript.jsonl'],
  ])
})

test('temp directories come first, and belong to the machine', async () => {
  const home = makeHome({ '.letta/settings.json': '{}' })
  const temp = makeHome({ 'letta-background-1/out.log': 'x', 'other/file': 'no' }, { at: 'tmp' })
  write(path.join(temp, 'letta-memfs-reset-1/.git/config'), '[credential "x"]\n\thelper = "!f() { echo password=SECRET; }; f"\n')
  const { lines } = await package_({ homes: [home] }, { temps: [temp] })
  expect(lines.map(({ action, user, place, short_path }) => [action, user, place, short_path])).toEqual([
    ['copied', '', '_temp/temp-1', 'letta-background-1/out.log'],
    ['redacted', '', '_temp/temp-1', 'letta-memfs-reset-1/.git/config'],
    ['copied', 'alice', 'alice/home', '.letta/settings.json'],
  ])
})
