import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { cli, type Ran } from '../helpers/cli.js'
import { applyTimes, cases, fixture, FIXTURES, ROOT, write } from '../helpers/fixtures.js'
import { build, emptyRoot, inRoot, noRoot, run } from './executable.js'

const { generateHome } = (await import(path.join(ROOT, 'bench/generate.js'))) as {
  generateHome: (directory: string, options: { megabytes: number }) => void
}

const said = new Set<string>()

/** A suite that says, once, why it does not run. */
function unless(reason: string | undefined): typeof describe {
  if (reason === undefined) return describe
  if (!said.has(reason)) process.stderr.write(`SKIPPED: tests of the standalone executable: ${reason}\n`)
  said.add(reason)
  return describe.skip as typeof describe
}

const unasked =
  process.platform === 'win32'
    ? 'they are not written for Windows'
    : process.env.CI === 'true' || process.env.FULL === '1'
      ? undefined
      : 'they build it; set CI=true or FULL=1'

const scratch = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'agent-forensics-standalone-')))
const at = (...parts: string[]) => path.join(scratch, ...parts)
let executable: string

beforeAll(() => {
  if (unasked === undefined) executable = build(at('built'))
})
afterAll(() => fs.rmSync(scratch, { recursive: true, force: true }))

const { home: seed } = fixture('letta/seed')
const commands = fs
  .readdirSync(path.join(ROOT, 'src/commands'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => name.replace(/(\/index)?\.ts$/, '').split(path.sep))
const has = (...command: string[]) => commands.some((one) => one.join(' ') === command.join(' '))

/** Seconds differ from run to run. */
const settled = ({ status, stdout, stderr }: Ran): Ran => ({ status, stdout, stderr: stderr.replace(/\d+\.\d s;/, 'N s;') })

unless(unasked)('the executable', () => {
  test('has its SHA-256 beside it, as sha256sum reads it', () => {
    expect(run('/usr/bin/sha256sum', ['-c', `${path.basename(executable)}.sha256`], {}, path.dirname(executable)).status).toBe(0)
  })

  test('has the same bytes when the same sources are built again elsewhere', () => {
    const again = build(at('again'))
    expect(fs.readFileSync(again).equals(fs.readFileSync(executable))).toBe(true)
    fs.rmSync(at('again'), { recursive: true })
  })

  test.each([
    [''],
    ['--help'],
    ['--version'],
    ['letta'],
    ['letta --help'],
    ...commands.map((command) => [`${command.join(' ')} --help`]),
    ['nonsense'],
    ['letta nonsense'],
    ['letta parse --nonsense'],
    ['letta parse --format nonsense'],
    ['letta parse --home /nonexistent'],
    [`letta parse --home ${seed}`],
    [`letta parse --home ${seed} --format jsonl`],
    [`letta parse --home ${seed} --format table`],
  ])('answers `%s` as bin/run.js does', (line) => {
    const args = line.split(' ').filter((word) => word !== '')
    const expected = cli(args, { input: '' })
    expect(settled(run(executable, args, { ...process.env, NODE_OPTIONS: '' }))).toEqual(settled(expected))
    expect(expected.stdout + expected.stderr).not.toBe('')
  })

  test('says when the environment has the system load other code into it', () => {
    const { stdout, stderr } = run(executable, ['--version'], { LD_LIBRARY_PATH: at('nowhere') })
    expect(stderr).toMatch(/^warning: LD_LIBRARY_PATH /)
    expect(stdout).toBe(run(executable, ['--version']).stdout)
  })
})

unless(unasked)('what a suspect plants', () => {
  const trace = at('trace')
  const plant = at('plant.cjs')
  const planted = at('planted')
  const leaveTrace = `require('node:fs').writeFileSync(${JSON.stringify(trace)}, '')\n`

  beforeAll(() => {
    write(plant, leaveTrace)
    write(at('broken.cnf'), 'nodejs_conf = there_is_no_such_section\n')
    for (const name of ['typescript', 'pnpapi', 'tsx', '@oclif/core'])
      write(path.join(planted, 'node_modules', name, 'index.js'), leaveTrace)
    write(
      path.join(planted, 'package.json'),
      JSON.stringify({ name: 'planted', version: '9.9.9', oclif: { hooks: { init: './init.js' } } }),
    )
    write(path.join(planted, 'init.js'), leaveTrace)
  })

  /** Whether the plant did anything: it left a trace, or the program no longer worked. */
  function took(ran: Ran): boolean {
    const traced = fs.existsSync(trace)
    fs.rmSync(trace, { recursive: true, force: true })
    return traced || ran.status !== 0
  }

  test.each<[string, NodeJS.ProcessEnv, string[]]>([
    ['NODE_OPTIONS=--require', { NODE_OPTIONS: `--require ${plant}` }, ['-e', '0']],
    ['NODE_OPTIONS=--import', { NODE_OPTIONS: `--import ${plant}` }, ['-e', '0']],
    ['NODE_OPTIONS=--cpu-prof', { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${trace}` }, ['-e', '0']],
    ['NODE_REPL_EXTERNAL_MODULE', { NODE_REPL_EXTERNAL_MODULE: plant }, ['-i']],
    ['NODE_V8_COVERAGE', { NODE_V8_COVERAGE: trace }, ['-e', '0']],
    ['NODE_PATH', { NODE_PATH: path.join(planted, 'node_modules') }, ['-e', 'require("typescript")']],
    ['OPENSSL_CONF', { OPENSSL_CONF: at('broken.cnf') }, ['-e', '0']],
  ])('%s moves Node and not the executable', (_, env, control) => {
    expect(took(run(process.execPath, control, env, scratch))).toBe(true)
    expect(took(run(executable, ['letta', 'parse', '--home', seed], env, scratch))).toBe(false)
  })

  test.each(['--require', '--import', '--env-file'])('an option of Node, %s, is one that there is not', (option) => {
    const ran = run(executable, [option, plant], {}, scratch)
    expect([ran.status, took({ ...ran, status: 0 })]).toEqual([2, false])
  })

  test('modules and an oclif package in the working directory are not loaded', () => {
    expect(took(run(process.execPath, ['-e', 'require("typescript")'], {}, planted))).toBe(true)
    expect(took(run(executable, ['letta', 'parse', '--home', seed], { NODE_ENV: 'development' }, planted))).toBe(false)
  })

  test('an oclif plugin in the home directory is not loaded', () => {
    const plugin = at('home/plugin')
    write(path.join(plugin, 'package.json'), JSON.stringify({ name: 'planted', version: '1.0.0', oclif: { commands: './commands' } }))
    write(path.join(plugin, 'commands/planted.js'), leaveTrace)
    const link = { type: 'link', name: 'planted', root: plugin }
    write(at('home/.local/share/agent-forensics/package.json'), JSON.stringify({ oclif: { plugins: [link] } }))
    const env = { HOME: at('home') }
    const control = `import { execute } from '@oclif/core'; await execute({ args: ['--help'], loadOptions: { root: process.cwd() } })`
    expect(took(run(process.execPath, ['--input-type=module', '-e', control], env, ROOT))).toBe(true)
    expect(took(run(executable, ['--help'], env))).toBe(false)
  })
})

unless(unasked ?? (fs.existsSync('/usr/bin/strace') ? undefined : 'there is no strace'))('a machine on which the executable runs', () => {
  const home = at('large/home/alice')
  const CHANGES =
    'trace=open,openat,creat,mkdir,mkdirat,rename,renameat,renameat2,unlink,unlinkat,link,linkat,symlink,symlinkat,truncate,chmod'

  beforeAll(() => generateHome(home, { megabytes: 40 }))

  /** The calls by which a program changed a file, or opened one to do so. */
  function changes(program: string, ...args: string[]): string[] {
    const log = at('strace.log')
    const traced = ['-f', '--seccomp-bpf', '-e', CHANGES, '-o', log, program, ...args]
    const { status, stderr } = run('/usr/bin/strace', traced, { TMPDIR: scratch, HOME: scratch })
    if (status !== 0) throw new Error(stderr)
    const calls = fs.readFileSync(log, 'utf8').split('\n')
    return calls.filter((call) => /^\d+ +\w+\(/.test(call) && (!/^\d+ +open/.test(call) || /O_WRONLY|O_RDWR|O_CREAT/.test(call)))
  }

  test('is not written to, not even to sort more rows than memory is meant to hold', () => {
    expect(changes(process.execPath, path.join(ROOT, 'bin/run.js'), 'letta', 'parse', '--home', home)).not.toEqual([])
    expect(changes(executable, 'letta', 'parse', '--home', home)).toEqual([])
  })
})

unless(unasked ?? noRoot())('in a root directory with nothing but the executable and its libraries', () => {
  const root = at('root')

  beforeAll(() => {
    emptyRoot(root, executable)
    fs.cpSync(FIXTURES, path.join(root, 'fixtures'), { recursive: true, verbatimSymlinks: true })
  })

  test('there is no Node', () => {
    expect(fs.readdirSync(root).sort()).toEqual(expect.arrayContaining(['agent-forensics', 'fixtures']))
    const files = fs.readdirSync(root, { recursive: true, encoding: 'utf8' })
    expect(files.filter((name) => !name.startsWith('fixtures/') && /(^|\/)(node|package\.json|[^/]*\.[cm]?js)$/.test(name))).toEqual([])
    expect(inRoot(root, ['--version']).status).toBe(0)
  })

  test.each(cases('letta'))('$name gives the rows that it gives with Node', ({ name, home, directory }) => {
    applyTimes(path.join(root, 'fixtures', name))
    applyTimes(directory)
    const inside = path.join('/fixtures', path.relative(FIXTURES, home))
    const { status, stdout } = inRoot(root, ['letta', 'parse', '--home', inside, '--format', 'jsonl'])
    expect(stdout).not.toBe('')
    const withNode = cli(['letta', 'parse', '--home', home, '--format', 'jsonl'])
    expect([status, stdout]).toEqual([withNode.status, withNode.stdout])
  })

  test('who has no home directory is told so', () => {
    const { status, stderr } = inRoot(root, ['letta', 'parse'])
    expect([status, stderr]).toEqual([2, expect.stringContaining('no such directory')])
  })

  const collected = has('letta', 'collect') && has('letta', 'verify') ? undefined : 'there is no collect and verify'
  unless(collected)('a package', () => {
    test.each(['package', 'package.zip', 'package.tar.gz'])(
      '%s is collected, verified, and no longer verified when it was altered',
      (name) => {
        const home = path.join('/fixtures', path.relative(FIXTURES, seed))
        expect(inRoot(root, ['letta', 'collect', '--home', home, '--output', `/${name}`])).toMatchObject({ status: 0 })
        expect(inRoot(root, ['letta', 'verify', `/${name}`])).toMatchObject({ status: 0 })
        alter(path.join(root, name))
        expect(inRoot(root, ['letta', 'verify', `/${name}`]).status).not.toBe(0)
      },
    )
  })
})

/** One byte of a file in the package becomes another; an archive is cut in half. */
function alter(packaged: string): void {
  if (fs.statSync(packaged).isFile()) return fs.truncateSync(packaged, fs.statSync(packaged).size >> 1)
  const names = fs.readdirSync(packaged, { recursive: true, encoding: 'utf8' })
  const file = path.join(
    packaged,
    names.find((name) => name.endsWith('sessions.jsonl'))!,
  )
  const bytes = fs.readFileSync(file)
  bytes[0] = bytes[0]! ^ 1
  fs.writeFileSync(file, bytes)
}
