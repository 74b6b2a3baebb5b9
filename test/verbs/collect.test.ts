import { spawn, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { CollectionRecord, DirectoryLine, ManifestLine } from '../../src/evidence/index.js'
import { cli } from '../helpers/cli.js'
import { fixture, jsonLines, makeHome, ROOT } from '../helpers/fixtures.js'
import { filesBelow, installed, package_, scratch } from '../helpers/packages.js'

const BIN = path.join(ROOT, 'bin/run.js')
const ROOT_ONLY = process.getuid?.() === 0 ? test : test.skip

function lines<T>(file: string, schema: { parse(value: unknown): T }): T[] {
  return fs
    .readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => schema.parse(JSON.parse(line)))
}

const manifestOf = (directory: string) => lines(path.join(directory, 'manifest.jsonl'), ManifestLine)

/** A recorded home that a test may change. */
function copyOf(name: string): string {
  const { home } = fixture(name)
  const copy = path.join(scratch(), 'home', path.basename(home))
  fs.mkdirSync(path.dirname(copy))
  spawnSync('cp', ['-a', home, copy])
  return copy
}

describe('letta collect', () => {
  test('prints the SHA-256 of the manifest last, in the form that sha256sum reads', () => {
    const output = path.join(scratch(), 'package')
    const ran = cli([
      'letta',
      'collect',
      '--home',
      fixture('letta/0.32.18-local').home,
      '--output',
      output,
      '--case',
      '17',
      '--examiner',
      'E',
    ])
    expect(ran.status).toBe(0)
    const checked = spawnSync('sha256sum', ['-c', '-'], { cwd: output, input: ran.stdout, encoding: 'utf8' })
    expect(checked.stdout).toBe('manifest.jsonl: OK\n')
    const record = CollectionRecord.parse(JSON.parse(fs.readFileSync(path.join(output, 'collection.json'), 'utf8')))
    expect(record).toMatchObject({ case: '17', examiner: 'E', live: false, manifest_sha256: ran.stdout.slice(0, 64) })
    expect(Object.values(record.counts).reduce((a, b) => a + b)).toBe(manifestOf(output).length)
    lines(path.join(output, 'directories.jsonl'), DirectoryLine)
  })

  test('keeps the times of each file, on the copy and in nanoseconds', () => {
    const home = copyOf('letta/0.25.9-local')
    const file = path.join(home, '.letta/sessions.jsonl')
    spawnSync('touch', ['-d', '2026-10-02T02:03:04.123456789Z', file])
    const output = path.join(scratch(), 'package')
    cli(['letta', 'collect', '--home', home, '--output', output])
    const line = manifestOf(output).find(({ original_path }) => original_path === file)!
    expect(line.mtime_ns).toBe('1790906584123456789')
    expect(fs.statSync(path.join(output, line.stored_path!)).mtimeMs).toBeCloseTo(1790906584123.456, 2)
    for (const { stored_path, mtime_ns } of manifestOf(output).filter(({ stored_path }) => stored_path !== null))
      expect(Math.floor(fs.statSync(path.join(output, stored_path!)).mtimeMs)).toBe(Number(BigInt(mtime_ns!) / 1_000_000n))
  })

  test.each(['package', 'package.zip', 'package.tar.gz'])('gives the same bytes for the same evidence (%s)', async (name) => {
    const { home } = fixture('letta/0.32.18-code')
    const outputs = [1, 2].map(() => path.join(scratch(), name))
    for (const output of outputs) await package_({ homes: [home] }, { output })
    const [one, two] = outputs.map(unpack)
    const ofTheRun = ['collection.json', 'collection.log', 'directories.jsonl', 'SHA256SUMS']
    expect(filesBelow(one!)).toEqual(filesBelow(two!))
    const compared = filesBelow(one!).filter((file) => !ofTheRun.includes(file))
    expect(compared.length).toBeGreaterThan(50)
    for (const file of compared) expect(fs.readFileSync(path.join(one!, file))).toEqual(fs.readFileSync(path.join(two!, file)))
  })

  test('gives archives that other programs unpack to the folder it writes', async () => {
    if (!installed('unzip')) return
    const { home } = fixture('letta/0.32.18-local')
    const outputs = ['package', 'package.zip', 'package.tar.gz'].map((name) => path.join(scratch(), name))
    for (const output of outputs) await package_({ homes: [home] }, { output })
    const [folder, ...archives] = outputs.map(unpack)
    for (const archive of archives) {
      expect(filesBelow(archive)).toEqual(filesBelow(folder!))
      expect(fs.readFileSync(path.join(archive, 'manifest.jsonl'))).toEqual(fs.readFileSync(path.join(folder!, 'manifest.jsonl')))
      const checked = spawnSync('sha256sum', ['-c', '--quiet', 'SHA256SUMS'], { cwd: archive, encoding: 'utf8' })
      expect([checked.status, checked.stdout]).toEqual([0, ''])
      for (const { stored_path, mtime_ns } of manifestOf(archive).filter(({ stored_path }) => stored_path !== null))
        expect(Math.abs(fs.statSync(path.join(archive, stored_path!)).mtimeMs - Number(BigInt(mtime_ns!) / 1_000_000n))).toBeLessThan(2000)
    }
  })

  test('says in a dry run what it would do, and writes nothing', () => {
    const { home } = fixture('letta/0.32.18-local')
    const parent = scratch()
    const ran = cli(['letta', 'collect', '--home', home, '--dry-run', '--output', path.join(parent, 'package')])
    expect(ran.status).toBe(0)
    expect(ran.stdout).toMatch(/^withheld .*providers\/auth\.json/m)
    expect(fs.readdirSync(parent)).toEqual([])
  })

  test('copies only what a person asked for by time and size', () => {
    const home = makeHome({ '.letta/sessions.jsonl': 'x'.repeat(3000), '.letta/crons.json': '{}', '.letta/cwd-cache.json': '{}' })
    fs.utimesSync(path.join(home, '.letta/crons.json'), 1000, 1000)
    const output = path.join(scratch(), 'package')
    cli(['letta', 'collect', '--home', home, '--output', output, '--since', '2020-01-01', '--max-file-size', '2k'])
    expect(manifestOf(output).map(({ short_path, action, rule }) => [short_path, action, rule])).toEqual([
      ['.letta/crons.json', 'excluded', 'since'],
      ['.letta/cwd-cache.json', 'copied', 'cwd-cache'],
      ['.letta/sessions.jsonl', 'too-large', 'max-file-size'],
    ])
  })

  test('refuses to write into the evidence, or over something', () => {
    const home = copyOf('letta/seed')
    const parent = scratch()
    fs.writeFileSync(path.join(parent, 'there'), '')
    fs.symlinkSync(home, path.join(parent, 'link'))
    for (const output of [
      path.join(home, 'package'),
      path.join(home, '.letta/x.zip'),
      path.join(parent, 'link/x'),
      path.join(parent, 'there'),
    ]) {
      const ran = cli(['letta', 'collect', '--home', home, '--output', output])
      expect([ran.status, ran.stdout]).toEqual([2, ''])
    }
    expect(cli(['letta', 'collect', '--home', home]).status).toBe(2)
    expect(fs.readdirSync(home)).not.toContain('package')
  })

  test('exits with 3 when something could not be read', () => {
    const home = makeHome({ '.letta/sessions.jsonl': jsonLines({ timestamp: 1 }) })
    const gone = path.join(home, '.letta/skills')
    fs.mkdirSync(gone, { mode: 0 })
    fs.chmodSync(path.join(home, '../..'), 0o755)
    const parent = scratch()
    fs.chmodSync(parent, 0o777)
    const ran = cli(
      ['letta', 'collect', '--home', home, '--output', path.join(parent, 'p')],
      process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {},
    )
    expect(ran.status).toBe(3)
    expect(ran.stderr).toContain('permission denied')
  })
})

describe('the evidence under letta collect', () => {
  const WRITES = /(?:O_WRONLY|O_RDWR|O_CREAT|O_TRUNC|O_APPEND)/
  const CHANGES =
    /^(?:rename|unlink|rmdir|mkdir|chmod|fchmod|chown|fchown|lchown|utime|utimensat|futimesat|link|symlink|truncate|ftruncate|setxattr|mknod)/

  test('is opened for reading only, and nothing in it is renamed, removed or changed', () => {
    if (!installed('strace')) return
    const home = copyOf('letta/0.32.18-local')
    const trace = path.join(scratch(), 'trace')
    const output = path.join(scratch(), 'package')
    const ran = spawnSync(
      'strace',
      [
        '-f',
        '-y',
        '-s',
        '4096',
        '-e',
        'trace=%file,%desc',
        '-o',
        trace,
        process.execPath,
        BIN,
        'letta',
        'collect',
        '--home',
        home,
        '-o',
        output,
      ],
      {
        env: { ...process.env, NODE_OPTIONS: '' },
      },
    )
    expect(ran.status).toBe(0)
    const calls = fs
      .readFileSync(trace, 'utf8')
      .split('\n')
      .map((line) => line.replace(/^\d+\s+/, ''))
      .filter((line) => line.includes(`${home}/`))
    const opened = calls.filter((call) => /^open(?:at)?\(/.test(call))
    expect(opened.length).toBeGreaterThan(100)
    expect(opened.filter((call) => WRITES.test(call))).toEqual([])
    expect(opened.filter((call) => !call.includes('O_DIRECTORY') && !/O_NOFOLLOW.*O_NOATIME|O_NOATIME.*O_NOFOLLOW/.test(call))).toEqual([])
    expect(calls.filter((call) => CHANGES.test(call))).toEqual([])
    expect(calls.filter((call) => /^p?write/.test(call) && call.split(',')[0]!.includes(home))).toEqual([])
  }, 60_000)

  test('keeps the access times of its files, and those of its directories are recorded as they were', () => {
    const home = copyOf('letta/0.32.18-code')
    const everything = fs.readdirSync(home, { recursive: true, encoding: 'utf8' }).map((name) => path.join(home, name))
    for (const at of everything) fs.utimesSync(at, 1_000_000_000, fs.statSync(at).mtimeMs / 1000)
    const output = path.join(scratch(), 'package')
    expect(cli(['letta', 'collect', '--home', home, '--output', output]).status).toBe(0)
    const files = everything.filter((at) => fs.statSync(at).isFile())
    expect(files.filter((at) => fs.statSync(at).atimeMs !== 1_000_000_000_000)).toEqual([])
    const directories = lines(path.join(output, 'directories.jsonl'), DirectoryLine)
    expect(directories.length).toBeGreaterThan(20)
    const below = directories.filter(({ original_path }) => original_path !== home)
    expect(below.filter(({ atime_ns }) => atime_ns !== '1000000000000000000')).toEqual([])
  })

  ROOT_ONLY('may be mounted read-only', () => {
    if (!installed('unshare')) return
    const home = copyOf('letta/seed')
    const output = path.join(scratch(), 'package')
    const script = `mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && ! touch "$1/x" 2>/dev/null && exec "$2" "$3" letta collect --home "$1" --output "$4"`
    const ran = spawnSync('unshare', ['-m', 'sh', '-c', script, 'sh', home, process.execPath, BIN, output], {
      encoding: 'utf8',
      env: { ...process.env, NODE_OPTIONS: '' },
    })
    if (/unshare|mount/.test(ran.stderr)) return console.warn(`SKIPPED: no mounts here: ${ran.stderr}`)
    expect(ran.status).toBe(0)
    expect(manifestOf(output).length).toBeGreaterThan(5)
  })
})

describe('a collection that does not come to its end', () => {
  test('leaves nothing behind when it is ended', async () => {
    const home = makeHome({})
    for (let i = 0; i < 3000; i++) fs.mkdirSync(path.join(home, `.letta/skills/${i}`), { recursive: true })
    for (let i = 0; i < 3000; i++) fs.writeFileSync(path.join(home, `.letta/skills/${i}/SKILL.md`), 'x'.repeat(50_000))
    const parent = scratch()
    const child = spawn(process.execPath, [BIN, 'letta', 'collect', '--home', home, '--output', path.join(parent, 'package')], {
      env: { ...process.env, NODE_OPTIONS: '' },
    })
    const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
    while (fs.readdirSync(parent).length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
    await new Promise((resolve) => setTimeout(resolve, 50))
    child.kill('SIGTERM')
    expect(await ended).toBe(143)
    expect(fs.readdirSync(parent)).toEqual([])
  })

  ROOT_ONLY('says that the disk is full, and leaves nothing behind', () => {
    if (!installed('unshare')) return
    const home = makeHome({ '.letta/sessions.jsonl': 'x'.repeat(3 << 20) })
    const disk = scratch()
    const script = `mount -t tmpfs -o size=1m none "$1" && { "$2" "$3" letta collect --home "$4" --output "$1/package"; echo "exit $?"; ls -A "$1"; }`
    const ran = spawnSync('unshare', ['-m', 'sh', '-c', script, 'sh', disk, process.execPath, BIN, home], {
      encoding: 'utf8',
      env: { ...process.env, NODE_OPTIONS: '' },
    })
    if (/mount:|unshare:/.test(ran.stderr)) return console.warn(`SKIPPED: no mounts here: ${ran.stderr}`)
    expect(ran.stdout).toBe('exit 1\n')
    expect(ran.stderr).toContain('the disk is full')
  })
})

describe('a live machine', () => {
  test('gives its running processes without their secrets, and its temp directory', async () => {
    if (process.platform !== 'linux') return console.warn('SKIPPED: /proc is of Linux')
    const home = makeHome({ '.letta/settings.json': '{}' })
    const temp = makeHome({ 'letta-background-1/out.log': 'x' }, { at: 'tmp' })
    const script = path.join(home, 'node_modules/@letta-ai/letta-code/letta.js')
    fs.mkdirSync(path.dirname(script), { recursive: true })
    fs.writeFileSync(script, 'setTimeout(() => {}, 60000); console.log("up")')
    const env = {
      PATH: process.env.PATH,
      LETTA_API_KEY: 'PLANTED-key',
      LETTA_BASE_URL: 'https://u:PLANTED-pw@letta.example',
      OTHER: 'PLANTED-other',
    }
    const letta = spawn(process.execPath, [script, '--token', 'PLANTED-arg', '-p', 'hello'], { cwd: home, env })
    await new Promise((resolve) => letta.stdout.once('data', resolve))
    try {
      const output = path.join(scratch(), 'package')
      const ran = cli(['letta', 'collect', '--home', home, '--live', '--output', output], {
        env: { ...process.env, TMPDIR: temp, NODE_OPTIONS: '' },
      })
      expect(ran.status).toBe(0)
      const text = fs.readFileSync(path.join(output, 'processes.jsonl'), 'utf8')
      expect(text).not.toContain('PLANTED')
      const found = text
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Record<string, unknown>)
        .find(({ pid }) => pid === letta.pid)
      expect(found).toMatchObject({
        agent: 'letta',
        cwd: home,
        arguments: [process.execPath, script, '--token', '[withheld: 11 characters]', '-p', 'hello'],
        environment: { LETTA_BASE_URL: 'https://u:[withheld: 10 characters]@letta.example', LETTA_API_KEY: '[withheld: 11 characters]' },
      })
      expect(Math.abs(Date.parse(String(found!.started)) - Date.now())).toBeLessThan(60_000)
      expect(manifestOf(output).map(({ short_path }) => short_path)).toEqual(
        expect.arrayContaining(['letta-background-1/out.log', '.letta/settings.json']),
      )
    } finally {
      letta.kill()
    }
  })
})

function unpack(output: string): string {
  if (fs.statSync(output).isDirectory()) return output
  const directory = scratch()
  const [program, ...args] = output.endsWith('.zip') ? ['unzip', '-q', output, '-d', directory] : ['tar', 'xzf', output, '-C', directory]
  const ran = spawnSync(program!, args, { encoding: 'utf8' })
  if (ran.status !== 0) throw new Error(`${program}: ${ran.stderr}`)
  return directory
}

describe('temp directories of copied evidence', () => {
  const log = 'letta-background-abc/task_1.log'
  const write = (file: string) => {
    fs.mkdirSync(path.dirname(file), { recursive: true })
    fs.writeFileSync(file, 'output of a background command\n')
  }
  const collected = (...args: string[]) => {
    const output = path.join(scratch(), 'package')
    expect(cli(['letta', 'collect', ...args, '--output', output]).status).toBe(0)
    return filesBelow(path.join(output, 'evidence')).filter((file) => file.endsWith('.log'))
  }

  test('an image has its own, beside its homes', () => {
    const root = scratch()
    write(path.join(root, 'tmp', log))
    write(path.join(root, 'home/alice/.letta/settings.json'))
    expect(collected('--root', root)).toEqual([`_temp/temp-1/${log}`])
  })

  test('a Windows profile holds one, which is not followed when it is a link out of the evidence', () => {
    const outside = scratch()
    write(path.join(outside, log))
    const profile = (temp: (at: string) => void) => {
      const home = makeHome({ '.letta/settings.json': '{}' }, { at: 'Users/alice' })
      fs.mkdirSync(path.join(home, 'AppData/Local'), { recursive: true })
      temp(path.join(home, 'AppData/Local/Temp'))
      return home
    }
    expect(
      collected(
        '--home',
        profile((at) => write(path.join(at, log))),
      ),
    ).toEqual([`_temp/temp-1/${log}`])
    expect(
      collected(
        '--home',
        profile((at) => fs.symlinkSync(outside, at)),
      ),
    ).toEqual([])
  })
})
