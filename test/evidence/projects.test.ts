import fs from 'node:fs'
import path from 'node:path'
import { beforeEach, describe, expect, test } from '@jest/globals'
import type { EvidenceOptions } from '../../src/evidence/index.js'
import { jsonLines, parse, write } from '../helpers/fixtures.js'
import { scratch } from '../helpers/places.js'

const root = scratch('projects')
let home: string
beforeEach(() => {
  home = path.join(fs.mkdtempSync(path.join(root, 'case-')), 'home/alice')
  fs.mkdirSync(home, { recursive: true })
})

const rule = (allow: string) => JSON.stringify({ permissions: { allow: [allow] } })
const session = (project: string) =>
  jsonLines({ agent_id: 'a', session_id: 's', timestamp: 1796061332062, project, exit_reason: 'exit_command', message_count: 1 })

/** The rules that a run gives, with the project and the file of each. */
async function rules(options: Partial<EvidenceOptions> = {}) {
  const { rows, runs } = await parse({ homes: [home], ...options })
  return {
    runs,
    found: rows
      .filter((row) => row.details.kind === 'permission-setting')
      .map((row) => [row.details.value, row.project_path, row.source_file]),
    problems: rows.filter((row) => row.details.kind === 'parser').map((row) => row.text),
  }
}

describe('a project that records name', () => {
  beforeEach(() => write(path.join(home, '.letta/sessions.jsonl'), session('/home/alice/widget')))

  test('is read in the project folder and up to four folders below it', async () => {
    const depths = ['', 'a', 'a/b', 'a/b/c', 'a/b/c/d', 'a/b/c/d/e']
    for (const below of depths) write(path.join(home, 'widget', below, '.letta/settings.json'), rule(`depth ${below}`))
    const { found } = await rules()
    expect(found).toEqual(
      depths.slice(0, -1).map((below) => {
        const project = ['/home/alice/widget', below].filter((part) => part !== '').join('/')
        return [`depth ${below}`, project, `${project}/.letta/settings.json`]
      }),
    )
  })

  test.each(['node_modules', '.git', '.hg', '.svn'])('is not looked for in %s', async (name) => {
    write(path.join(home, 'widget', name, 'x/.letta/settings.json'), rule('not this'))
    write(path.join(home, 'widget', name, '.letta/settings.json'), rule('nor this'))
    write(path.join(home, 'widget/.letta/settings.json'), rule('this'))
    expect((await rules()).found.map(([allow]) => allow)).toEqual(['this'])
  })

  test('a .letta in a .letta is read, its holder being the outer one', async () => {
    write(path.join(home, 'widget/.letta/.letta/settings.local.json'), rule('inner'))
    expect((await rules()).found).toEqual([['inner', '/home/alice/widget/.letta', '/home/alice/widget/.letta/.letta/settings.local.json']])
  })

  test('named twice, in two spellings, is read once', async () => {
    write(
      path.join(home, '.letta/sessions.jsonl'),
      session('/home/alice/widget') + session('/home/alice/widget/') + session('/home/alice/./widget'),
    )
    write(path.join(home, 'widget/.letta/settings.json'), rule('x'))
    expect((await rules()).found).toHaveLength(1)
  })

  test('inside another is read once, as its own project', async () => {
    write(path.join(home, '.letta/sessions.jsonl'), session('/home/alice/widget') + session('/home/alice/widget/sub'))
    write(path.join(home, 'widget/sub/.letta/settings.json'), rule('x'))
    expect((await rules()).found).toEqual([['x', '/home/alice/widget/sub', '/home/alice/widget/sub/.letta/settings.json']])
  })

  test('with letters of any script, and with spaces, is found', async () => {
    write(path.join(home, '.letta/sessions.jsonl'), session('/home/alice/wïdget 日本'))
    write(path.join(home, 'wïdget 日本/.letta/settings.json'), rule('x'))
    expect((await rules()).found).toEqual([['x', '/home/alice/wïdget 日本', '/home/alice/wïdget 日本/.letta/settings.json']])
  })

  test('that is not there is counted and named', async () => {
    const { runs } = await rules()
    expect([...runs[0]!.run.projectsNotFound]).toEqual(['/home/alice/widget'])
  })

  test('a path on posix is found in its own case only', async () => {
    write(path.join(home, 'Widget/.letta/settings.json'), rule('x'))
    expect((await rules()).found).toEqual([])
  })

  test('reached through a link is not read, and the link is named', async () => {
    write(path.join(home, 'elsewhere/.letta/settings.json'), rule('x'))
    fs.symlinkSync('elsewhere', path.join(home, 'widget'))
    const { found, runs } = await rules()
    expect(found).toEqual([])
    expect([...runs[0]!.run.projectsNotFound]).toEqual(['/home/alice/widget'])
  })

  test('whose settings file is a link to a file that is read otherwise is named all the same', async () => {
    write(path.join(home, '.letta/settings.json'), rule('x'))
    fs.mkdirSync(path.join(home, 'widget/.letta'), { recursive: true })
    fs.symlinkSync('../../.letta/settings.json', path.join(home, 'widget/.letta/settings.json'))
    const { found, problems } = await rules()
    expect(found).toHaveLength(1)
    expect(problems).toEqual(['parser: /home/alice/widget/.letta/settings.json is a symbolic link, which is not followed'])
  })
})

describe('a home that is a project', () => {
  test('is read once, as the home', async () => {
    write(path.join(home, '.letta/sessions.jsonl'), session('/home/alice'))
    write(path.join(home, '.letta/settings.json'), rule('user'))
    write(path.join(home, '.letta/settings.local.json'), rule('local'))
    expect((await rules()).found).toEqual([
      ['user', '', '.letta/settings.json'],
      ['local', '', '.letta/settings.local.json'],
    ])
  })

  test('is read once when it is given as a project directory, too', async () => {
    write(path.join(home, '.letta/settings.json'), rule('user'))
    expect((await rules({ projectDirs: [home] })).found).toEqual([['user', '', '.letta/settings.json']])
  })

  test('has its own local settings read even when no record names it', async () => {
    write(path.join(home, '.letta/settings.local.json'), rule('local'))
    expect((await rules()).found).toEqual([['local', '', '.letta/settings.local.json']])
  })
})

describe('a recorded path that leads out of the evidence', () => {
  test.each(['/etc', '/home/bob/secret', '/home/alice/../bob/secret', '/home/alice/a/../../bob/secret', '/'])(
    '%s is not found, though it is there',
    async (project) => {
      write(path.join(home, '.letta/sessions.jsonl'), session(project))
      write(path.join(home, '../bob/secret/.letta/settings.json'), rule('of bob'))
      const { found, runs } = await rules()
      expect(found).toEqual([])
      expect([...runs[0]!.run.projectsNotFound]).toEqual([project])
    },
  )

  test.each(['\\\\host\\share', '//host/share', '\\\\?\\C:\\x', '../../etc', 'widget', 'C:widget', '/home/alice/x\0y'])(
    '%j is refused, and named',
    async (project) => {
      write(path.join(home, '.letta/sessions.jsonl'), session(project))
      write(path.join(home, 'widget/.letta/settings.json'), rule('x'))
      const { found, runs } = await rules()
      expect(found).toEqual([])
      expect([...runs[0]!.run.projectsRefused]).toEqual([project])
    },
  )

  test('a live machine does not read what its kernel makes up', async () => {
    write(path.join(home, '.letta/sessions.jsonl'), session('/proc/self') + session('/dev') + session('/home/alice/link'))
    fs.symlinkSync('/proc/self', path.join(home, 'link'))
    const { runs } = await rules({ live: true })
    expect([...runs[0]!.run.projectsNotFound].sort()).toEqual(['/dev', '/home/alice/link', '/proc/self'])
  })
})

describe('a project directory that a person names', () => {
  test('inside the home has the path that the home had', async () => {
    write(path.join(home, 'p/.letta/settings.json'), rule('x'))
    expect((await rules({ projectDirs: [path.join(home, 'p')] })).found).toEqual([
      ['x', '/home/alice/p', '/home/alice/p/.letta/settings.json'],
    ])
  })

  test('whose name begins with two dots lies inside, too', async () => {
    write(path.join(home, '..p/.letta/settings.json'), rule('x'))
    expect((await rules({ projectDirs: [path.join(home, '..p')] })).found).toEqual([
      ['x', '/home/alice/..p', '/home/alice/..p/.letta/settings.json'],
    ])
  })

  test('elsewhere has the path that it has here', async () => {
    const outside = path.join(home, '../../srv/p')
    write(path.join(outside, '.letta/settings.json'), rule('x'))
    expect((await rules({ projectDirs: [outside] })).found).toEqual([['x', outside, `${outside}/.letta/settings.json`]])
  })

  test('belongs to the account in whose home it lies', async () => {
    const bob = path.join(home, '../bob')
    write(path.join(bob, 'p/.letta/settings.json'), rule('x'))
    const { rows } = await parse({ homes: [home, bob], projectDirs: [path.join(bob, 'p')] })
    expect(rows.map((row) => [row.user, row.project_path])).toEqual([['bob', '/home/bob/p']])
  })

  test('a link in it is named under the project', async () => {
    const outside = path.join(home, '../../srv/p')
    fs.mkdirSync(path.join(outside, 'sub'), { recursive: true })
    fs.symlinkSync('/etc', path.join(outside, 'sub/.letta'))
    expect((await rules({ projectDirs: [outside] })).problems).toEqual([
      `parser: ${outside}/sub/.letta is a symbolic link, which is not followed`,
    ])
  })
})

describe('which account', () => {
  const users = async (options: EvidenceOptions) => (await parse(options)).rows.map((row) => row.user)
  beforeEach(() => write(path.join(home, '.letta/settings.json'), rule('x')))

  test('a copied home has its last segment for a name, unless a person or --home-was says otherwise', async () => {
    expect(await users({ homes: [home] })).toEqual(['alice'])
    expect(await users({ homes: [home], users: ['carol'] })).toEqual(['carol'])
    expect(await users({ homes: [home], homesWere: ['C:\\Users\\dora'] })).toEqual(['dora'])
  })

  test('of several copied homes only those asked for are read', async () => {
    write(path.join(home, '../bob/.letta/settings.json'), rule('x'))
    expect(await users({ homes: [home, path.join(home, '../bob')], users: ['bob'] })).toEqual(['bob'])
  })

  test('two homes of one name are refused: their rows could not be told apart, nor withdrawn apart', async () => {
    const other = path.join(home, '../../other/home/alice')
    write(path.join(other, '.letta/settings.json'), rule('x'))
    await expect(users({ homes: [home, other] })).rejects.toThrow('two homes belong to alice')
    await expect(users({ homes: [home, home] })).rejects.toThrow('two homes belong to alice')
    expect(await users({ homes: [home, other], homesWere: ['/home/alice', '/home/alice.old'] })).toEqual(['alice', 'alice.old'])
  })

  test("a live home is never given another's name: asking for another account is an error that says so", async () => {
    expect(await users({ homes: [home], live: true, users: ['alice'] })).toEqual(['alice'])
    await expect(users({ homes: [home], live: true, users: ['bob'] })).rejects.toThrow('--user bob: no such account here, only alice')
  })
})

/** One home as three systems have it: the same files, other recorded paths. */
describe('the same home on Linux, macOS and Windows', () => {
  const SYSTEMS = [
    ['Linux', 'home/alice', '/home/alice', (at: string) => `/home/alice/${at}`],
    ['macOS', 'Users/alice', '/Users/alice', (at: string) => `/Users/alice/${at}`],
    ['Windows', 'C/Users/alice', 'C:\\Users\\alice', (at: string) => `C:\\Users\\alice\\${at.replaceAll('/', '\\')}`],
    [
      'Windows, recorded in another case',
      'C/Users/alice',
      'c:\\users\\ALICE',
      (at: string) => `c:\\users\\ALICE\\${at.toUpperCase().replaceAll('/', '\\')}`,
    ],
  ] as const

  function make(at: string, there: (at: string) => string): string {
    const directory = path.join(fs.mkdtempSync(path.join(root, 'system-')), at)
    const project = there('work/widget')
    const files = {
      '.letta/sessions.jsonl': jsonLines({
        agent_id: 'agent-1',
        session_id: 's-1',
        timestamp: 1796061332062,
        project,
        model: 'm',
        provider: 'p',
        message_count: 2,
        exit_reason: 'exit_command',
      }),
      '.letta/settings.json': JSON.stringify({ permissions: { mode: 'standard' }, agents: [{ agentId: 'agent-1', baseUrl: 'https://x' }] }),
      '.letta/remote-settings.json': JSON.stringify({ cwdMap: { 'conversation:conv-1': there('work/other') } }),
      '.letta/transcripts/agent-1/conv-1/transcript.jsonl': jsonLines({
        kind: 'user',
        text: 'hi',
        captured_at: '2026-11-30T17:55:32.062Z',
      }),
      '.letta/lc-local-backend/conversations/Y29udmVyc2F0aW9uOmxvY2FsLWNvbnYtMQ/messages.jsonl': jsonLines(
        { type: 'session', version: 3, id: 'local-conv-1', timestamp: '2026-11-30T17:00:00.000Z', cwd: project },
        {
          type: 'message',
          id: '1',
          timestamp: '2026-11-30T17:00:01.000Z',
          message: { id: 'ui-msg-1', role: 'user', content: [{ type: 'text', text: 'hi' }] },
        },
      ),
      'work/widget/.letta/settings.json': rule('Bash(ls)'),
      'work/widget/sub/.letta/settings.local.json': JSON.stringify({
        sessionsByServer: { 'api.letta.com': { agentId: 'agent-1', conversationId: 'conv-1' } },
      }),
      'work/other/.letta/settings.local.json': rule('Bash(pwd)'),
    }
    for (const [name, content] of Object.entries(files)) {
      write(path.join(directory, name), content)
      fs.utimesSync(path.join(directory, name), 1796061332, 1796061332)
    }
    return directory
  }

  const simple = (text: string, was: string) =>
    text.toLowerCase().replaceAll('\\', '/').replaceAll(was.toLowerCase().replaceAll('\\', '/'), '~')

  test('gives the same rows but for the paths', async () => {
    const runs = await Promise.all(
      SYSTEMS.map(async ([, at, was, there]) => {
        const { rows } = await parse({ homes: [make(at, there)] })
        return rows.map((row) => ({
          ...row,
          project_path: simple(row.project_path, was),
          source_file: simple(row.source_file, was),
          text: simple(row.text, was),
          details: { ...row.details },
        }))
      }),
    )
    const keys = (rows: (typeof runs)[number]) => rows.map((row) => JSON.stringify(row)).sort()
    expect(runs[0]).toHaveLength(9)
    for (const rows of runs.slice(1)) expect(keys(rows)).toEqual(keys(runs[0]!))
  })

  test('on Windows the paths are shown as recorded, and source_file with /', async () => {
    const [, at, , there] = SYSTEMS[2]
    const { rows } = await parse({ homes: [make(at, there)] })
    const ofProject = rows.filter((row) => row.details.kind === 'permission-setting' && row.project_path !== '')
    expect(ofProject.map((row) => [row.project_path, row.source_file])).toEqual([
      ['C:\\Users\\alice\\work\\other', 'C:/Users/alice/work/other/.letta/settings.local.json'],
      ['C:\\Users\\alice\\work\\widget', 'C:/Users/alice/work/widget/.letta/settings.json'],
    ])
    const synced = rows.find((row) => row.text.startsWith('session synced: last session'))
    expect(synced?.project_path).toBe('C:\\Users\\alice\\work\\widget\\sub')
  })

  test('on Windows a project named in two cases is read once', async () => {
    const [, at, , there] = SYSTEMS[2]
    const directory = make(at, there)
    fs.appendFileSync(path.join(directory, '.letta/sessions.jsonl'), session('c:\\USERS\\Alice\\WORK\\Widget'))
    const { rows } = await parse({ homes: [directory] })
    expect(rows.filter((row) => row.text.includes('Bash(ls)'))).toHaveLength(1)
  })
})
