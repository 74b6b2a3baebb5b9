import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { letta } from '../../../src/catalog/index.js'
import { collect } from '../../../src/evidence/collect/index.js'
import { Evidence, type EvidenceOptions } from '../../../src/evidence/index.js'
import { LettaParser } from '../../../src/parsers/letta/index.js'
import { ParserRun } from '../../../src/parsers/index.js'
import type { Row } from '../../../src/rows/index.js'
import { cases, jsonLines, parse, write } from '../../helpers/fixtures.js'

let scratch: string
let count = 0
beforeAll(() => {
  scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'agent-forensics-collected-'))
})
afterAll(() => fs.rmSync(scratch, { recursive: true, force: true }))

/** A package that `collect` writes of some evidence. */
async function collected(options: EvidenceOptions, ending: string): Promise<string> {
  const output = path.join(scratch, `${count++}${ending}`)
  const evidence = await Evidence.open(options)
  const parser = new LettaParser(letta)
  await collect({
    output,
    entries: [letta],
    evidence,
    temps: [],
    nameProjects: async (home) => {
      const run = new ParserRun()
      await parser.nameProjects(home, run)
      return { notFound: [...run.projectsNotFound], refused: [...run.projectsRefused] }
    },
    about: { case: '', examiner: '', tool: { name: 'test', version: '0', node: '' }, catalogs: [], arguments: [] },
  })
  evidence.close()
  return output
}

const vouched = (rows: Row[]) => rows.map(({ details: { mtime_from: _, ...details }, ...row }) => ({ ...row, details }))

describe.each(['', '.zip', '.tar.gz'])('what collect wrote as "package%s"', (ending) => {
  test.each([...cases('letta'), ...(ending === '.zip' ? cases('letta', 'bugs') : [])].map(({ name, home }) => [name, home] as const))(
    'gives the rows of the home %s, file times included',
    async (_, home) => {
      const output = await collected({ homes: [home] }, ending)
      const { rows } = await parse({ packages: [output] })
      expect(vouched(rows)).toEqual(vouched((await parse({ homes: [home] })).rows))
      expect(rows.every(({ details }) => details.mtime_from === undefined || details.mtime_from === 'manifest')).toBe(true)
    },
  )

  test('of a root gives the rows of all its homes and of the projects elsewhere on it', async () => {
    const root = path.join(scratch, `root-${count++}`)
    const session = (project: string) =>
      jsonLines({ session_id: 's', agent_id: 'a', timestamp: 1796060000000, exit_reason: 'exit', message_count: 1, project })
    write(path.join(root, 'home/alice/.letta/sessions.jsonl'), session('/srv/proj'))
    write(path.join(root, 'home/bob/.letta/sessions.jsonl'), session('/home/bob/work'))
    write(path.join(root, 'home/bob/work/.letta/settings.local.json'), JSON.stringify({ permissions: { deny: ['Read'] } }))
    write(path.join(root, 'srv/proj/.letta/settings.json'), JSON.stringify({ permissions: { allow: ['Bash(ls)'] } }))
    const before = await parse({ roots: [root] })
    const { rows } = await parse({ packages: [await collected({ roots: [root] }, ending)] })
    expect(rows.filter(({ details }) => details.kind === 'permission-setting')).toHaveLength(2)
    expect(vouched(rows)).toEqual(vouched(before.rows))
  })
})
