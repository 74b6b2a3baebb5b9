import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { beforeAll, describe, expect, test } from '@jest/globals'
import { assistant, call, conversation } from '../helpers/conversations.js'
import { jsonLines, ROOT, write } from '../helpers/fixtures.js'
import { scratch, skipLoudly, snapshot, type Snapshot } from '../helpers/places.js'

const traceable = spawnSync('strace', ['-o', '/dev/null', 'true']).status === 0
if (!traceable)
  skipLoudly('strace is not there or may not trace (Debian: apt-get install strace): what the program opens was not looked at')

/** What a run may open besides the evidence and the package: node, the system's libraries, settings of the C library, and its own process. */
const OF_THE_SYSTEM = [
  process.execPath,
  /^\/(usr\/)?(local\/)?lib(32|64|x32)?\//,
  /^\/usr\/(share|lib)\/(zoneinfo|locale|ssl|node)/,
  // The C library's answer to who runs the program.
  /^\/etc\/(passwd|nsswitch\.conf|localtime|os-release|ld\.so\.(cache|preload)|ssl\/openssl\.cnf)$/,
  /^\/proc\/(self|\d+)\/(maps|stat|status|cgroup|auxv|mounts|mountinfo|task|exe|fd)/,
  /^\/proc\/(meminfo|stat|cpuinfo|version|version_signature|sys\/)/,
  /^\/sys\/(fs\/cgroup|devices\/system)\//,
  /^\/dev\/(null|urandom|tty|pts)/,
]

/** A home made to be opened by someone else, in ways that all stand in its records. */
function hostileHome(at: string, outside: string): void {
  const projects = [
    outside,
    '/etc',
    '/proc/self',
    '/root',
    '//host/share',
    '\\\\host\\share',
    '\\\\?\\C:\\x',
    '/home/alice/link-to-etc',
    '/home/alice/../../etc',
  ]
  const files: Record<string, string> = {
    '.letta/sessions.jsonl': projects
      .map((project) => jsonLines({ session_id: 's', agent_id: 'a', timestamp: 1, project, message_count: 1 }))
      .join(''),
    '.letta/remote-settings.json': JSON.stringify({ cwdMap: { 'conversation:c': '/var/log', 'conversation:d': '\\\\evil\\share' } }),
    '.letta/settings.json': JSON.stringify({ hooks: { SessionStart: [{ hooks: [{ type: 'command', command: 'touch /tmp/executed' }] }] } }),
    ...conversation('local-conv-1', { cwd: outside }, assistant([call('c', { file_path: path.join(outside, 'secret') })])),
    '.letta/mods/evil.mjs': 'import fs from "node:fs"; fs.writeFileSync("/tmp/executed", "x")',
    '.letta/channels/slack/accounts.json': '{"accounts":[{"botToken":"x"}]}',
    // Where oclif looks for plugins of the user, and a plugin there that would leave a trace.
    '.local/share/agent-forensics/package.json': JSON.stringify({
      oclif: { plugins: [{ type: 'user', name: 'evil' }] },
      dependencies: { evil: '1.0.0' },
    }),
    '.local/share/agent-forensics/node_modules/evil/package.json': JSON.stringify({
      name: 'evil',
      version: '1.0.0',
      type: 'module',
      oclif: { commands: './commands', hooks: { init: './init.js', 'agent-forensics:register': './init.js' } },
    }),
    '.local/share/agent-forensics/node_modules/evil/init.js':
      'import fs from "node:fs"; fs.writeFileSync(process.env.HOME + "/executed", "x"); export default () => []',
    'node_modules/evil/package.json': '{"name":"evil"}',
    'package.json': JSON.stringify({ name: 'home', oclif: { plugins: ['evil'] } }),
  }
  for (const [name, content] of Object.entries(files)) write(path.join(at, name), content)
  fs.symlinkSync('/etc', path.join(at, 'link-to-etc'))
  fs.symlinkSync(path.join(outside, 'secret'), path.join(at, '.letta/crons.json'))
  fs.mkdirSync(path.join(at, '.letta/runs'))
  fs.symlinkSync(path.join(outside, 'secret'), path.join(at, '.letta/runs/x.jsonl'))
  fs.mkdirSync(path.join(at, '.letta/transcripts/agent-1'), { recursive: true })
  fs.symlinkSync(outside, path.join(at, '.letta/transcripts/agent-1/conv-1'))
  fs.mkdirSync(path.join(at, '.letta/transcripts/agent-1/conv-2'))
  spawnSync('mkfifo', [path.join(at, '.letta/transcripts/agent-1/conv-2/transcript.jsonl')])
}

interface Call {
  readonly name: string
  readonly path: string
  readonly line: string
  readonly failed: boolean
}

/** File system calls of a trace, with the path that each names, made absolute. */
function calls(trace: string, cwd: string): Call[] {
  return trace.split('\n').flatMap((line) => {
    const [, name, args] = /^(?:\d+ +)?(\w+)\((.*)$/.exec(line) ?? []
    const named = args === undefined ? undefined : /"((?:[^"\\]|\\.)*)"/.exec(args)?.[1]
    if (name === undefined || named === undefined) return []
    return [{ name, path: path.resolve(cwd, named), line, failed: / = -1 /.test(line) }]
  })
}

;(traceable ? describe : describe.skip)('on a hostile home', () => {
  const root = scratch('strace')
  const home = path.join(root, 'home/alice')
  /** A directory of somebody else, with all that a project could have. */
  const outside = path.join(root, 'outside')
  let before: Snapshot
  let traced: Call[]
  let ran: { status: number | null; stdout: string; stderr: string }

  beforeAll(() => {
    for (const name of ['secret', 'transcript.jsonl', '.letta/settings.json']) write(path.join(outside, name), '{}')
    hostileHome(home, outside)
    before = snapshot(home)
    const trace = path.join(root, 'trace')
    const args = ['-f', '-qq', '-s', '4096', '-e', 'trace=%file', '-o', trace, process.execPath, path.join(ROOT, 'bin/run.js')]
    ran = spawnSync('strace', [...args, 'letta', 'parse', '--home', home, '--format', 'jsonl'], {
      encoding: 'utf8',
      cwd: home,
      env: { PATH: process.env.PATH, HOME: home, TMPDIR: root },
    })
    traced = calls(fs.readFileSync(trace, 'utf8'), home)
  })

  const opened = () => traced.filter(({ name, failed }) => /^open|^creat/.test(name) && !failed)
  const inside = (directory: string, at: string) => at === directory || at.startsWith(`${directory}/`)

  test('the run is done, exit 3, and names what it did not read', () => {
    expect(ran.status).toBe(3)
    expect(ran.stderr).not.toMatch(/^\s+at .*\.js/m)
    const problems = ran.stdout.split('\n').filter((line) => line.includes('"kind":"parser"'))
    for (const name of [
      '.letta/crons.json',
      '.letta/runs/x.jsonl',
      '.letta/transcripts/agent-1/conv-1',
      '.letta/transcripts/agent-1/conv-2/transcript.jsonl',
    ])
      expect([name, problems.some((line) => line.includes(`parser: ${name} is `))]).toEqual([name, true])
  })

  test('the trace is one: the evidence and the package were opened', () => {
    expect(opened().some(({ path }) => path === `${home}/.letta/sessions.jsonl`)).toBe(true)
    expect(opened().some(({ path }) => inside(ROOT.replace(/\/$/, ''), path))).toBe(true)
  })

  test('nothing else is opened: neither the paths that records name nor what links lead to', () => {
    const allowed = (at: string) =>
      inside(ROOT.replace(/\/$/, ''), at) ||
      inside(home, at) ||
      OF_THE_SYSTEM.some((pattern) => (typeof pattern === 'string' ? at === pattern : pattern.test(at)))
    expect(
      opened()
        .filter(({ path }) => !allowed(path))
        .map(({ line }) => line),
    ).toEqual([])
  })

  test('of a path that a record names nothing is even looked at', () => {
    const named = ({ path, line }: Call) =>
      inside(outside, path) || /^\/(etc|root|var\/log|proc\/self)(\/\.letta.*|\/?)$/.test(path) || /"\/\/host|\\\\(host|evil|\?)/.test(line)
    // The C library takes the path of its time zone apart, step by step.
    const ofTimeZone = ({ name, path }: Call) => name === 'readlink' && path === '/etc'
    expect(traced.filter((call) => named(call) && !ofTimeZone(call)).map(({ line }) => line)).toEqual([])
  })

  test('nothing of the home is opened but what the catalog calls a store', () => {
    const files = opened().filter(({ path, line }) => inside(home, path) && !line.includes('O_DIRECTORY'))
    const names = files.map(({ path: at }) => path.relative(home, at))
    expect(names.filter((name) => !name.startsWith('.letta/'))).toEqual([])
    expect(names.filter((name) => /accounts|mods|auth/.test(name))).toEqual([])
  })

  test('nothing is opened for writing, made, renamed, removed or changed', () => {
    const writing = traced.filter(
      ({ name, line }) =>
        /O_WRONLY|O_RDWR|O_CREAT|O_TRUNC/.test(line) ||
        /^(creat|unlink|rename|mkdir|rmdir|link|symlink|chmod|fchmodat|chown|utime|truncate|mknod|l?setxattr)/.test(name),
    )
    expect(writing.filter(({ path }) => !/^\/dev\/(null|tty|pts)/.test(path)).map(({ line }) => line)).toEqual([])
    expect(snapshot(home)).toEqual(before)
  })

  test('nothing is executed, and no planted plugin is loaded', () => {
    expect(traced.filter(({ name, failed }) => name.startsWith('execve') && !failed)).toHaveLength(1)
    expect(traced.filter(({ path }) => path.includes('node_modules/evil')).map(({ line }) => line)).toEqual([])
    expect(fs.existsSync(path.join(home, 'executed'))).toBe(false)
  })
})
