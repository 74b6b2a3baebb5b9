import { describe, expect, test } from '@jest/globals'
import { Report } from '../../src/report/index.js'
import { cases, fixture } from '../helpers/fixtures.js'
import { triageHome } from '../helpers/report.js'

/**
 * What the people who recorded the homes say happened in them (the README of the evidence), as finding ids and numbers of rows. Checked by
 * hand against their notes and key log, not copied from the program.
 */
const TOLD: Record<string, Record<string, number>> = {
  // dave: rm -rf denied with "nope", npm test approved always, /compact all, schema 1 with counters for times.
  '0.25.9-local': {
    'permission-mode-open': 1,
    'wide-deletion': 1,
    'calls-denied': 1,
    'copy-only': 25,
    'clock-oddities': 34,
    'rules-added': 1,
  },
  // The same store migrated, with two prompts in the default mode after it.
  '0.25.9-migrated': {
    'permission-mode-open': 3,
    'wide-deletion': 1,
    'calls-denied': 1,
    'copy-only': 25,
    'clock-oddities': 34,
    'rules-added': 1,
  },
  // frank: a -p run in the default mode; the failed turn and Esc leave the prompt only.
  '0.30.28-local': { 'permission-mode-open': 1 },
  // gina: agent Tutor deleted in /agents; its transcript of 11 rows stays.
  '0.32.18-after-agent-delete': { 'store-gone': 11 },
  // gina before: /compact then /model rewrote the store; the transcript still has "one" and "ls".
  '0.32.18-rewrite': { 'copy-only': 7 },
  // bob: two conversations on a server, named by two transcripts, two projects and the user's settings.
  '0.32.18-api': { 'conversation-elsewhere': 5 },
  // One denial with a reason, one approval cancelled with Esc, one interrupted tool, two tasks added, neither fired.
  '0.32.18-code': { 'permission-mode-open': 3, 'calls-denied': 1, 'calls-interrupted': 2, 'scheduled-tasks': 2 },
  // alice: touch cancelled at 17:39:37 and approved at 17:54:43; two routes; rm -rf denied twice, once more in the listener's file; six tasks
  // listed; "plain" and "after clear" lost to /model; bad conv names local-conv-999; nightly tests deleted, twelve runs stay; three rules added.
  '0.32.18-local': {
    'ran-after-denied': 1,
    'relayed-to-chat': 2,
    'permission-mode-open': 5,
    'wide-deletion': 2,
    'calls-denied': 3,
    'scheduled-tasks': 6,
    'copy-only': 2,
    'named-but-absent': 2,
    'task-gone': 12,
    'calls-interrupted': 6,
    'rules-added': 3,
  },
  seed: {
    'relayed-to-chat': 1,
    'calls-denied': 1,
    'conversation-elsewhere': 1,
    'scheduled-tasks': 1,
    'calls-interrupted': 1,
    'additional-directories': 1,
  },
}

describe.each(cases('letta').map((given) => [given.name.replace('letta/', ''), given] as const))('the findings on %s', (name, given) => {
  test('are those of the people who recorded it, and no others', async () => {
    const { report } = await triageHome(given.home)
    expect(Object.fromEntries(report.findings.map(({ id, count }) => [id, count]))).toEqual(TOLD[name])
  })

  test('stand in a report that is as its schema says', async () => {
    const { report } = await triageHome(given.home)
    expect(Report.parse(JSON.parse(JSON.stringify(report)))).toEqual(report)
  })
})

describe('the report of the home with everything in it', () => {
  test('tells prompts of people from those of programs, and counts a forked turn once', async () => {
    const { report } = await triageHome(fixture('letta/0.32.18-local').home)
    const missed = report.sessions.find(({ id }) => id === 'local-conv-1')!
    expect([missed.turns, missed.machine_turns]).toEqual([1, 1])
    const fork = report.sessions.find(({ id }) => id === 'local-conv-8')!
    expect(fork.copied).toBeGreaterThan(0)
    expect(report.commands.items.find(({ text }) => text === 'npm test')).toMatchObject({ count: 1, outcomes: { failed: 1 } })
  })

  test('names credentials by path and key only', async () => {
    const { report } = await triageHome(fixture('letta/0.32.18-local').home)
    expect(report.credentials.items.map(({ path }) => path)).toEqual(
      expect.arrayContaining(['.letta/channels/slack/accounts.json', '.letta/settings.json']),
    )
    expect(JSON.stringify(report)).not.toMatch(/xox[bp]-|sk-(?:let|ant|proj)-|\d{8,}:AA/)
  })

  test('says what it does not rest on', async () => {
    const { report } = await triageHome(fixture('letta/0.32.18-local').home)
    expect(report.head.not_read.map(({ id }) => id)).toEqual(['not-parsed', 'withheld', 'unknown-fields', 'absent'])
    const seed = await triageHome(fixture('letta/seed').home)
    expect(seed.report.head.not_read.find(({ id }) => id === 'projects-not-found')?.items).toEqual(['/home/alice/repo', '/srv/proj'])
  })
})
