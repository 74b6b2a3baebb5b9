import { beforeAll, describe, expect, test } from '@jest/globals'
import { Secrets } from '../../src/report/secrets.js'

let secrets: Secrets
beforeAll(async () => {
  secrets = await Secrets.load()
})

const letters = (count: number) => 'aB3dE5gH7jK9mN1pQ'.repeat(Math.ceil(count / 17)).slice(0, count)
const body = Array.from({ length: 12 }, () => `${letters(64)}\n`).join('')

/** Put together here, so that no scanner takes this file for a leak. */
const VALUES = {
  'a Letta key': ['sk-let', letters(60)].join('-'),
  'an Anthropic key': ['sk-ant-api03', `${letters(93)}AA`].join('-'),
  'an Anthropic session token': ['sk-ant-oat01', letters(80)].join('-'),
  'an OpenAI key': ['sk-proj', `${letters(74)}T3BlbkFJ${letters(74)}`].join('-'),
  'a provider key of another length': ['sk-or-v1', letters(64)].join('-'),
  'a GitHub token': ['ghp', letters(36)].join('_'),
  'a fine-grained GitHub token': ['github_pat', letters(82)].join('_'),
  'a GitLab token': ['glpat', letters(24)].join('-'),
  'a Slack bot token': ['xoxb', '123456789012', '123456789012', letters(24)].join('-'),
  'an npm token': ['npm', letters(36)].join('_'),
  'a Google key': `AIza${letters(35)}`,
  'a Telegram bot token': `1234567890:${letters(35)}`,
  'a Discord bot token': [`M${letters(25)}`, letters(6), letters(38)].join('.'),
  'a JSON web token': [`eyJ${letters(20)}`, `eyJ${letters(40)}`, letters(43)].join('.'),
} as const

describe('a secret in a text is masked whole', () => {
  test.each(Object.entries(VALUES))('%s, in a command', (_, value) => {
    expect(secrets.mask(`curl -H 'X-Key: ${value}' https://example.org`)).toBe(
      `curl -H 'X-Key: [masked: ${value.length} characters]' https://example.org`,
    )
  })

  test.each([
    ['AWS_SECRET_ACCESS_KEY=', letters(40), ''],
    ['aws_secret_access_key = "', letters(40), '"'],
    ['curl -H "Authorization: Bearer ', letters(30), '" https://example.org'],
    ['export LETTA_PASSWORD="', 'correct-horse', '" && letta'],
    ['git clone https://ci:', 'p.w:d!', '@git.example.net/x.git'],
    ['npm config set //registry.example.net/:_authToken=', 'abcdef', ' && echo done'],
    ['-----BEGIN OPENSSH PRIVATE KEY-----', `\n${body}`, '-----END OPENSSH PRIVATE KEY-----'],
    ['-----BEGIN RSA PRIVATE KEY-----', `\nProc-Type: 4,ENCRYPTED\n\n${body}`, '-----END RSA PRIVATE KEY-----'],
    ['{"key":"-----BEGIN PRIVATE KEY-----', body.replaceAll('\n', '\\n'), '"}'],
  ])('what follows %s', (before, value, after) => {
    const mask = secrets.mask(before + value + after)
    expect(mask).toMatch(/\[masked: \d+ characters\]/)
    for (const piece of value.match(/[\w.:!-]{6,}/g)?.filter((word) => !/Proc-Type|ENCRYPTED/.test(word)) ?? [])
      expect(mask).not.toContain(piece)
  })

  test('a connection string loses its password', () => {
    expect(secrets.mask('psql postgresql://app:hunter2hunter2@db.internal/prod')).not.toContain('hunter2')
  })

  test('two secrets in one text, and what stands between them stays', () => {
    expect(secrets.mask(`a ${VALUES['a GitHub token']} b ${VALUES['an npm token']} c`)).toBe(
      'a [masked: 40 characters] b [masked: 40 characters] c',
    )
  })

  test('although the evidence carries a comment that switches secretlint off', () => {
    expect(secrets.mask(`// secretlint-disable\n${VALUES['a GitHub token']}`)).not.toContain(VALUES['a GitHub token'])
  })
})

describe('what is no secret stays as it is', () => {
  test.each([
    'const token: string = read("token")',
    'export TOKEN=$(pass show letta) PASSWORD="$PASSWORD"',
    'the prefix sk- begins a key; npm_ too; ghp_ as well',
    'task-list-item task-list-item-checkbox-of-the-whole-page-1',
    'agent-local-0b1f7c4e-1111-4222-8333-444455556666 / toolu_01ABCDEFGHIJKLMNOPQRSTUV',
    'ssh git@github.com:letta-ai/letta-code.git; https://example.org:8443/x?y=z@w',
    'grep -rn "-----BEGIN PRIVATE KEY-----" .',
    '2026-10-02T02:00:00.000Z 12345678: done',
    'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  ])('%s', (text) => expect(secrets.find(text)).toEqual([]))
})

describe('a text made to be slow', () => {
  const megabytes = (unit: string) => `${unit.repeat(Math.ceil(5_000_000 / unit.length))}\u0000`
  test.each([
    'eyJ-',
    'sk-',
    'sk-ant-a',
    'xoxb-a-',
    '-----BEGIN PRIVATE KEY-----\n',
    'SG.a.',
    'https://',
    'bearer ',
    '://a:',
    'TOKEN=',
    '12345678:',
    'mongodb://',
    'a',
  ])('%j again and again is read in a few seconds', (unit) => {
    const started = Date.now()
    secrets.find(megabytes(unit))
    expect(Date.now() - started).toBeLessThan(5_000)
  })
})
