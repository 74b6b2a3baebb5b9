import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll } from '@jest/globals'
import { letta, type CatalogEntry } from '../../src/catalog/index.js'
import { Evidence, type EvidenceOptions } from '../../src/evidence/index.js'
import { LettaParser } from '../../src/parsers/letta/index.js'
import { parseEvidence, type HomeRun, type Parser, type ParseOptions } from '../../src/parsers/index.js'
import { compareRows, type Row, type RowSource } from '../../src/rows/index.js'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))
export const FIXTURES = path.join(ROOT, 'fixtures')
/** The reference beside the checkout; tests that need it say loudly when it is not there. */
export const SHARED = path.join(ROOT, '..', 'shared')

export interface FixtureCase {
  readonly name: string
  readonly directory: string
  /** Its one home. */
  readonly home: string
}

/** The cases of `fixtures/<agent>`, with their recorded file times: git does not keep them. */
export function cases(agent: string, below = ''): FixtureCase[] {
  const root = path.join(FIXTURES, agent, below)
  return fs
    .readdirSync(root)
    .filter((name) => fs.existsSync(path.join(root, name, 'home')))
    .sort()
    .map((name) => fixture(path.join(agent, below, name)))
}

export function fixture(name: string): FixtureCase {
  const directory = path.join(FIXTURES, name)
  applyTimes(directory)
  const [user] = fs.readdirSync(path.join(directory, 'home'))
  return { name, directory, home: path.join(directory, 'home', user!) }
}

/** Sets the times of a MTIMES file (ISO time, tab, path) on the files that it lists. */
export function applyTimes(directory: string): void {
  const list = path.join(directory, 'MTIMES')
  if (!fs.existsSync(list)) return
  for (const line of fs.readFileSync(list, 'utf8').split('\n')) {
    const [time, file] = line.split('\t')
    if (!time || !file) continue
    const seconds = Date.parse(`${time.slice(0, 19)}Z`) / 1000 + Number(/\.\d+/.exec(time)?.[0] ?? 0)
    fs.utimesSync(path.join(directory, file), seconds, seconds)
  }
}

/** Rows that a second implementation made from rows.md, beside a case. */
export function expectedRows(given: FixtureCase): Row[] {
  return fs
    .readFileSync(path.join(given.directory, 'expected.jsonl'), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Row)
}

export interface Parsed {
  readonly rows: Row[]
  readonly runs: HomeRun[]
}

/** The rows of homes in order, by the letta parser unless another is given. */
export async function parse(
  evidence: EvidenceOptions,
  options: ParseOptions = {},
  parser: Parser = new LettaParser(letta),
): Promise<Parsed> {
  let rows: Row[] = []
  const same = (row: Row, source: RowSource) =>
    row.host === source.host && row.user === source.user && row.agent === source.agent && row.source_file === source.source_file
  const opened = await Evidence.open(evidence)
  const runs = await parseEvidence(opened, [{ parser, plugin: 'test' }], options, {
    add: (batch) => rows.push(...batch),
    withdraw: (source) => (rows = rows.filter((row) => !same(row, source))),
  })
  opened.close()
  return { rows: rows.sort(compareRows), runs }
}

const made: string[] = []
afterAll(() => {
  for (const directory of made) fs.rmSync(directory, { recursive: true, force: true })
})

/** A home made for one test: files by path, removed when the tests of its file are done. */
export function makeHome(files: Record<string, string | Buffer>, options: { readonly at?: string } = {}): string {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'agent-forensics-test-'))
  made.push(directory)
  const home = path.join(directory, options.at ?? 'home/alice')
  fs.mkdirSync(home, { recursive: true })
  for (const [name, content] of Object.entries(files)) write(path.join(home, name), content)
  return home
}

export function write(file: string, content: string | Buffer): void {
  fs.mkdirSync(path.dirname(file), { recursive: true })
  fs.writeFileSync(file, content)
}

export function lettaEntry(): CatalogEntry {
  return letta
}

/** JSON lines of records. */
export function jsonLines(...records: unknown[]): string {
  return records.map((record) => `${JSON.stringify(record)}\n`).join('')
}
