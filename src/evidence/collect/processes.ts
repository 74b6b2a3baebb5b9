import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import type { CatalogEntry } from '../../catalog/index.js'
import type { ProcessLine } from '../manifest.js'
import { announcesSecret, withheld, withoutSecrets } from './secrets.js'

/** What could be told of running processes, and what kept it from being whole. */
export interface Processes {
  readonly lines: ProcessLine[]
  readonly problem?: string
}

/** The running processes of these agents: from /proc on Linux, from `ps` elsewhere. Nothing is asked of the processes themselves. */
export function runningProcesses(entries: readonly CatalogEntry[], proc = '/proc'): Processes {
  if (process.platform === 'win32') return { lines: [], problem: 'running processes are not listed on Windows' }
  try {
    const lines = process.platform === 'linux' ? fromProc(entries, proc) : fromPs(entries)
    return { lines: lines.sort((a, b) => a.pid - b.pid) }
  } catch (error) {
    return { lines: [], problem: `running processes could not be listed: ${(error as Error).message}` }
  }
}

function fromProc(entries: readonly CatalogEntry[], proc: string): ProcessLine[] {
  const booted = bootTime(proc)
  return fs
    .readdirSync(proc)
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      const command = optional(() => fs.readFileSync(`${proc}/${pid}/cmdline`, 'utf8')) ?? ''
      const given = command.split('\0').slice(0, -1)
      const entry = entries.find(({ processes }) => processes && belongs(given, processes))
      return entry ? [fromProcess(entry, `${proc}/${pid}`, Number(pid), given, booted)] : []
    })
}

function belongs(given: readonly string[], { names, scripts }: NonNullable<CatalogEntry['processes']>): boolean {
  const program = given[0]?.split('/').at(-1) ?? ''
  const script = given.slice(1).find((argument) => !argument.startsWith('-')) ?? ''
  return names.includes(program) || names.includes(script.split('/').at(-1)!) || scripts.some((part) => script.includes(part))
}

function fromProcess(entry: CatalogEntry, at: string, pid: number, given: readonly string[], booted: number | undefined): ProcessLine {
  const stat = optional(() => fs.readFileSync(`${at}/stat`, 'utf8'))
  // Fields after the name, which stands in parentheses and can hold spaces (proc_pid_stat(5)): 4 is the parent, 22 the start in ticks.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')
  const environment = optional(() => fs.readFileSync(`${at}/environ`, 'utf8'))
  return {
    agent: entry.agent,
    pid,
    parent_pid: fields ? Number(fields[1]) : null,
    uid: optional(() => fs.statSync(at).uid) ?? null,
    started: fields && booted !== undefined ? new Date((booted + Number(fields[19]) / TICKS) * 1000).toISOString() : '',
    cwd: optional(() => fs.readlinkSync(`${at}/cwd`)) ?? '',
    executable: optional(() => fs.readlinkSync(`${at}/exe`)) ?? '',
    arguments: maskedArguments(given),
    environment: environment === undefined ? {} : knownVariables(entry, environment),
    ...(environment === undefined ? { problem: 'its environment could not be read: permission denied' } : {}),
  }
}
/** Ticks a second, in which /proc counts on every Linux that Node runs on (USER_HZ, proc(5)). */
const TICKS = 100

function bootTime(proc: string): number | undefined {
  const found = /^btime (\d+)$/m.exec(optional(() => fs.readFileSync(`${proc}/stat`, 'utf8')) ?? '')
  return found ? Number(found[1]) : undefined
}

function maskedArguments(given: readonly string[]): string[] {
  return given.map((argument, i) => (announcesSecret(given[i - 1] ?? '') ? withheld([...argument].length) : withoutSecrets(argument)))
}

/** The variables that the catalog explains; of the agent's other variables the names, since a value may be a key. */
function knownVariables({ agent, environment }: CatalogEntry, text: string): Record<string, string> {
  const known = new Set(environment.map(({ variable }) => variable))
  const own = `${agent.toUpperCase().replaceAll('-', '_')}_`
  const kept = text.split('\0').flatMap((setting): [string, string][] => {
    const [name, value] = [setting.slice(0, setting.indexOf('=')), setting.slice(setting.indexOf('=') + 1)]
    if (known.has(name)) return [[name, withoutSecrets(value)]]
    return name.startsWith(own) ? [[name, withheld([...value].length)]] : []
  })
  return Object.fromEntries(kept.sort(([a], [b]) => (a < b ? -1 : 1)))
}

function optional<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

function fromPs(entries: readonly CatalogEntry[]): ProcessLine[] {
  const listed = execFileSync('/bin/ps', ['-axww', '-o', 'pid=,ppid=,uid=,lstart=,command='], {
    encoding: 'utf8',
    env: { LC_ALL: 'C', TZ: 'UTC' },
  })
  return listed.split('\n').flatMap((line) => {
    const fields = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\w+ +\w+ +\d+ +[\d:]+ +\d+)\s+(.*)$/.exec(line)
    if (!fields) return []
    const given = fields[5]!.split(' ')
    const entry = entries.find(({ processes }) => processes && belongs(given, processes))
    if (!entry) return []
    const started = new Date(`${fields[4]} UTC`)
    return [
      {
        agent: entry.agent,
        pid: Number(fields[1]),
        parent_pid: Number(fields[2]),
        uid: Number(fields[3]),
        started: Number.isNaN(started.getTime()) ? '' : started.toISOString(),
        cwd: '',
        executable: '',
        arguments: maskedArguments(given),
        environment: {},
        problem: 'told by ps: no working directory, no environment, and arguments split at spaces',
      },
    ]
  })
}
