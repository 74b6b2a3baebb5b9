import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { Report } from '../../src/report/index.js'
import { fixture } from '../helpers/fixtures.js'
import { cli } from '../helpers/cli.js'

let directory: string
let home: string
beforeAll(() => {
  directory = fs.mkdtempSync(path.join(os.tmpdir(), 'agent-forensics-report-'))
  home = fixture('letta/seed').home
})
afterAll(() => fs.rmSync(directory, { recursive: true, force: true }))

describe('letta report', () => {
  test('prints one screen, the most important first, and talks on stderr', () => {
    const { status, stdout, stderr } = cli(['letta', 'report', '--home', home])
    expect(status).toBe(0)
    expect(stdout.split('\n')[0]).toBe('Triage report')
    expect(stdout).toContain('Conversations relayed to chat channels: 1 route to telegram.')
    expect(stdout.split('\n').length).toBeLessThan(50)
    expect(stderr).toContain('23 rows')
  })

  test.each([
    ['a.html', '<!doctype html>'],
    ['a.md', '# Triage report'],
    ['a.json', '{'],
    ['a.txt', 'Triage report'],
    ['a', '<!doctype html>'],
  ])('--output %s takes its form from the ending, with its run record beside it', (name, beginning) => {
    const output = path.join(directory, name)
    expect(cli(['letta', 'report', '--home', home, '--output', output]).status).toBe(0)
    expect(fs.readFileSync(output, 'utf8').startsWith(beginning)).toBe(true)
    expect(JSON.parse(fs.readFileSync(`${output}.run.json`, 'utf8'))).toMatchObject({ rows: 23 })
  })

  test('json is as the schema says, and two runs differ in the time they were made only', () => {
    const [a, b] = [1, 2].map(() => Report.parse(JSON.parse(cli(['letta', 'report', '--home', home, '--format', 'json']).stdout)))
    expect({ ...a!.head, made: '' }).toEqual({ ...b!.head, made: '' })
    expect({ ...a, head: null }).toEqual({ ...b, head: null })
  })

  test('of a package names its manifest by the hash that collect printed, in every form and in the run record', () => {
    const packaged = path.join(directory, 'package.zip')
    const noted = cli(['letta', 'collect', '--home', home, '--output', packaged]).stdout.split(' ')[0]!
    expect(noted).toMatch(/^[0-9a-f]{64}$/)
    for (const ending of ['html', 'md', 'json', 'txt']) {
      const output = path.join(directory, `package.${ending}`)
      expect(cli(['letta', 'report', '--package', packaged, '--output', output]).status).toBe(0)
      expect(fs.readFileSync(output, 'utf8')).toContain(noted)
      const { packages } = JSON.parse(fs.readFileSync(`${output}.run.json`, 'utf8')) as { packages: unknown }
      expect(packages).toEqual([{ package: packaged, manifest_sha256: noted }])
    }
  })

  test('refuses to overwrite, and to write into the evidence', () => {
    const output = path.join(directory, 'twice.html')
    cli(['letta', 'report', '--home', home, '--output', output])
    expect(cli(['letta', 'report', '--home', home, '--output', output])).toMatchObject({ status: 2 })
    expect(cli(['letta', 'report', '--home', home, '--output', path.join(home, '.letta', 'x.html')])).toMatchObject({ status: 2 })
  })
})
