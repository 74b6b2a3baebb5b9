import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { letta, meaning } from '../../../src/catalog/index.js'
import { parserText, phrases, printed, type Phrase } from '../../../src/rows/index.js'
import { ExplainedText, explainText, type Reading } from '../../../src/verbs/explain/text.js'
import { cases, expectedRows } from '../../helpers/fixtures.js'
import { validator } from '../../helpers/schemas.js'

const entries = [letta]
const valid = validator(ExplainedText)
const all: Phrase[] = Object.values(phrases)

/** Values that an agent's record could hold to mislead: words of the texts themselves, spaces, line breaks, dashes, nothing. */
const words = [...new Set(all.flatMap(({ template }) => template.split(/<[a-z_]+>/)))]
const hostile = fc.oneof(
  fc.constantFrom('-', '', 'x status=active', ' ', '\n', 'default', 'new', '<name>', '(from x, file mtime)', '\u202e', '\ud800', ...words),
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.array(fc.constantFrom(...words, 'a', ' '), { maxLength: 3 }).map((parts) => parts.join('')),
)
const plain = fc.stringMatching(/^[a-z0-9][a-z0-9.:/_-]{0,20}$/)

const valuesOf = (phrase: Phrase, value: fc.Arbitrary<string>) =>
  fc.record(Object.fromEntries(phrase.names.map((name) => [name, value])) as Record<string, fc.Arbitrary<string>>)
const asPrinted = (values: Record<string, string>) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, printed(value)]))
const same = (reading: Reading, id: string, values: Record<string, string>) =>
  reading.id === id && Object.entries(values).every(([name, value]) => reading.values[name] === value)

describe.each(all.map((phrase) => [phrase.id, phrase] as const))('the text %s', (id, phrase) => {
  test('with plain values is read back as it was said', () => {
    fc.assert(
      fc.property(valuesOf(phrase, plain), (values) => {
        const { readings } = explainText(phrase.say(values), entries)
        expect(same(readings[0]!, id, asPrinted(values))).toBe(true)
      }),
      { numRuns: 50 },
    )
  })

  test('with hostile values gives them back, or says that it is ambiguous', () => {
    fc.assert(
      fc.property(valuesOf(phrase, hostile), (values) => {
        const told = explainText(phrase.say(values), entries)
        const back = told.readings.some((reading) => same(reading, id, asPrinted(values)))
        expect(back || told.more).toBe(true)
        expect(told.ambiguous).toBe(told.readings.length > 1)
        if (told.ambiguous) expect(told.advice).toContain('details')
        expect(valid(told)).toEqual([])
      }),
      { numRuns: 60 },
    )
  })

  test('says what it proves and what it does not', () => {
    expect(meaning(id)).toBeDefined()
  })
})

describe('a task named so that it seems active', () => {
  const text = phrases.scheduledTask.say({
    id: 't1',
    name: 'x status=active',
    status: 'cancelled',
    time_from: 'created_at',
    file: '.letta/crons.json',
  })

  test('is ambiguous, both readings are given, and details are pointed to', () => {
    const told = explainText(text, entries)
    expect(told.ambiguous).toBe(true)
    expect(told.readings.map(({ values }) => values.name)).toEqual(expect.arrayContaining(['x', 'x status=active']))
    expect(told.advice).toContain('details')
  })
})

describe('what could not be read', () => {
  const file = fc.constantFrom(
    '.letta/sessions.jsonl',
    '/home/a/other proj/.letta/settings.json',
    '.letta/transcripts/a b/c d/transcript.jsonl',
  )
  const problem = fc.oneof(
    fc.constantFrom('not valid JSON', 'a b:7 c', '.letta/sessions.jsonl:3 again'),
    fc.string({ minLength: 1, maxLength: 20 }),
  )

  test('is read back, its file too where it holds spaces', () => {
    fc.assert(
      fc.property(file, fc.option(fc.integer({ min: 1, max: 1e6 }), { nil: null }), problem, (name, line, what) => {
        const told = explainText(parserText(name, line, what), entries)
        const values = { file: name, ...(line === null ? {} : { line: String(line) }), problem: what }
        expect(told.readings.some((reading) => same(reading, 'parser', values))).toBe(true)
      }),
    )
  })

  test('is not ambiguous where the catalog knows the file', () => {
    const told = explainText('parser: /home/a/other proj/.letta/settings.json not valid JSON', entries)
    expect(told.readings.map(({ values }) => values)).toEqual([
      { file: '/home/a/other proj/.letta/settings.json', problem: 'not valid JSON' },
    ])
  })
})

describe('texts that stand for something else', () => {
  test.each([
    ['<system-reminder>cwd: /x\n</system-reminder>', 'injected-context', {}],
    ['[redacted thinking]', 'redacted-thinking', {}],
    ['[image image/png]', 'image', { mime_type: 'image/png' }],
    ['[error] exit 1', 'tool-return-error', { tool_return: 'exit 1' }],
  ])('%j', (text, id, values) => {
    const [reading] = explainText(text, entries).readings
    expect(reading).toMatchObject({ id, values })
    expect(reading?.notes.join()).toContain('same characters')
  })

  test('free text is none of them', () => {
    const told = explainText('please list the repo', entries)
    expect(told.readings).toEqual([])
    expect(told.advice).toContain('recorded text')
  })
})

describe('what a text does not prove', () => {
  const about = (text: string) => JSON.stringify(explainText(text, entries).readings[0])

  test.each([
    ['a run logged ok is not an execution', phrases.scheduledTaskRun.say({ status: 'ok', outcome: 'queued' }), /does not prove execution/],
    ['default is not unique', phrases.interruptedTurn.say({ agent_id: 'a', conversation_id: 'default' }), /not unique/],
    [
      'a leftover means an error, a crash or a turn still running',
      phrases.interruptedTurn.say({}),
      /an error, a crash, or a turn that was still running/,
    ],
    [
      "settings stand at the file's time",
      phrases.permissionSetting.say({ key: 'allow', value: 'Bash', file: 'f' }),
      /time is that of the file/,
    ],
    ['a counter is no time', phrases.scheduledTask.say({ last_run_at: '2026-01-01T00:07:00.000Z' }), /no evidence of when/],
    ['a dash is an absent value', phrases.sessionEnd.say({}), /Absent.*exit_reason/],
  ])('%s', (_, text, says) => {
    expect(about(text)).toMatch(says)
  })
})

test.each(cases('letta').map((given) => [given.name, given] as const))(
  'every system text of %s is recognised, with the values of its kind',
  (_, given) => {
    const written = expectedRows(given).filter(
      ({ turn_type, details }) => turn_type === 'system' && !(details.kind === 'error' && details.store === 'transcripts'),
    )
    for (const { text, details } of written) {
      const told = explainText(text, entries)
      expect(told.readings.length).toBeGreaterThan(0)
      expect(told.readings[0]!.id.startsWith(details.kind!)).toBe(true)
    }
  },
)

test('a text made to be tried for ever is answered at once', () => {
  const text = `scheduled task: ${' name= status= cron= timezone= recurring= scheduled_for='.repeat(300)}`
  const started = Date.now()
  explainText(text, entries)
  expect(Date.now() - started).toBeLessThan(2000)
})
