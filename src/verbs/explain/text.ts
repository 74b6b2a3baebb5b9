import { z } from 'zod'
import { meaning, Rules, type CatalogEntry, type Meaning } from '../../catalog/index.js'
import { phrases, type Phrase } from '../../rows/index.js'

const Reading = z.strictObject({
  /** Which text it is: the id of its meaning. */
  id: z.string(),
  title: z.string(),
  template: z.string(),
  /** By the record's own names; `-` stands for a value that is missing, null or empty, or is itself a dash. */
  values: z.record(z.string(), z.string()),
  proves: z.string(),
  does_not_prove: z.array(z.string()),
  /** What holds for these values: a default conversation, a file's time, a counter in place of a time. */
  notes: z.array(z.string()),
  citation: z.array(z.string()),
})
export type Reading = z.infer<typeof Reading>

/** The result of `explain --text`. */
export const ExplainedText = z.strictObject({
  explained: z.literal('text'),
  text: z.string(),
  /** The likeliest first. */
  readings: z.array(Reading),
  /** The text can be read in more than one way: the row's `details` holds its values apart. */
  ambiguous: z.boolean(),
  /** There may be more readings than are listed. */
  more: z.boolean(),
  advice: z.string().nullable(),
})
export type ExplainedText = z.infer<typeof ExplainedText>

interface Candidate {
  readonly id: string
  readonly template: string
  readonly values: Readonly<Record<string, string>>
}

/** A text that this program writes, and how to read it back. */
interface Form {
  /** How much of the template is fixed: the more, the likelier its readings. */
  readonly weight: number
  readonly read: (text: string, entries: readonly CatalogEntry[]) => Candidate[]
}

/** `Phrase.read` and the search for parser texts stop here. */
export const MOST_READINGS = 16

const AMBIGUOUS =
  'The text can be read in more than one way, because a value holds words of the text itself. The details of the row hold each value apart.'
const UNKNOWN =
  'This is not a text that this program writes. Rows of what was said or run (user, assistant, thinking, tool_use, tool_result, and errors of a transcript) hold recorded text.'

const forms: readonly Form[] = [...Object.values(phrases).map(phraseForm), { weight: 8, read: readParser }, ...placeholderForms()]

/** Recognises every text that rows can have, with its values, what it proves and what it does not. */
export function explainText(text: string, entries: readonly CatalogEntry[]): ExplainedText {
  const found = [...forms]
    .sort((a, b) => b.weight - a.weight)
    .map((form) => form.read(text, entries))
    .filter((candidates) => candidates.length > 0)
  const readings = found.flat().map(reading)
  const ambiguous = readings.length > 1
  return {
    explained: 'text',
    text,
    readings,
    ambiguous,
    more: found.some((candidates) => candidates.length >= MOST_READINGS),
    advice: ambiguous ? AMBIGUOUS : readings.length === 0 ? UNKNOWN : null,
  }
}

function phraseForm(phrase: Phrase): Form {
  const { id, template } = phrase
  return {
    weight: template.replace(/<[a-z_]+>/g, '').length,
    read: (text) => phrase.read(text).map((values) => ({ id, template, values })),
  }
}

const PARSER = 'parser: '
const LINE = /^(.+):([1-9]\d*)$/s

/** `parser: <file>:<line> <what is wrong>`: the file may hold spaces, so every space may end it; files that the catalog knows come first. */
function readParser(text: string, entries: readonly CatalogEntry[]): Candidate[] {
  if (!text.startsWith(PARSER)) return []
  const rest = text.slice(PARSER.length)
  const splits: Candidate[] = []
  for (let at = rest.indexOf(' '); at !== -1; at = rest.indexOf(' ', at + 1))
    splits.push(...parserSplit(rest.slice(0, at), rest.slice(at + 1)))
  const rules = new Rules(entries)
  const parsed = splits.filter(({ values }) => isParsed(values.file!, rules))
  return (parsed.length > 0 ? parsed : splits).slice(0, MOST_READINGS)
}

function parserSplit(place: string, problem: string): Candidate[] {
  if (place === '' || problem === '') return []
  const [, file, line] = LINE.exec(place) ?? []
  const whole = { id: 'parser', template: 'parser: <file> <problem>', values: { file: place, problem } }
  if (file === undefined || line === undefined) return [whole]
  return [{ id: 'parser', template: 'parser: <file>:<line> <problem>', values: { file, line, problem } }, whole]
}

/** Whether some part of the file's path, to its end, is one that the parser reads. */
function isParsed(file: string, rules: Rules): boolean {
  const segments = file.split('/')
  return segments.some((_, i) =>
    (['home', 'project'] as const).some((scope) =>
      rules.of(segments.slice(i).join('/'), scope).some(({ kind, rule }) => kind === 'store' && rule.parsed),
    ),
  )
}

/** Texts that stand in the place of something else; anyone could have written the same characters. */
function placeholderForms(): Form[] {
  const form = (id: string, template: string, pattern: RegExp): Form => ({
    weight: 0,
    read(text) {
      const match = pattern.exec(text)
      return match ? [{ id, template, values: { ...match.groups } }] : []
    },
  })
  return [
    form('injected-context', '<system-reminder>...</system-reminder>', /^<system-reminder>[^]*<\/system-reminder>$/),
    form('redacted-thinking', '[redacted thinking]', /^\[redacted thinking\]$/),
    form('image', '[image <mime_type>]', /^\[image (?<mime_type>[^]+)\]$/),
    form('tool-return-error', '[error] <tool_return>', /^\[error\] (?<tool_return>[^]*)$/),
  ]
}

function reading({ id, template, values }: Candidate): Reading {
  const { title, proves, does_not_prove, citation } = meaning(id) ?? unknownMeaning(id)
  return {
    id,
    title,
    template,
    values: { ...values },
    proves,
    does_not_prove: [...does_not_prove],
    notes: notesOn(id, values),
    citation: [...citation],
  }
}

function unknownMeaning(id: string): Meaning {
  return { id, title: id, stores: ['any'], proves: 'Not described.', does_not_prove: ['Not described.'], citation: ['not determined'] }
}

const COUNTER = /^2026-01-01T00:\d\d:\d\d\.000Z$/
const PLACEHOLDERS = ['injected-context', 'redacted-thinking', 'image', 'tool-return-error']

interface Note {
  readonly when: (name: string, value: string) => boolean
  readonly says: (name: string, value: string) => string
}

/** What certain values mean, whatever the text. */
const valueNotes: readonly Note[] = [
  {
    when: (name, value) => name === 'conversation_id' && value === 'default',
    says: () => 'conversation_id: default is the default conversation of the agent named; every agent has one, so alone it is not unique.',
  },
  {
    when: (name, value) => name === 'conversation_id' && value === 'new',
    says: () => 'conversation_id: new stands for a fresh conversation at each run; the row has no session_id.',
  },
  {
    when: (name, value) => name === 'time_from' && value === 'file mtime',
    says: () => 'The row stands at the time of the file, since the record has none: any change to the file moves it.',
  },
  {
    when: (name, value) => name === 'status' && value === 'ok',
    says: () => 'status: ok says that the task was put in the queue; it does not prove execution.',
  },
  { when: (name, value) => name === 'server' && value === '-', says: () => 'server: no entry of settings.json names the agent.' },
  {
    when: (name, value) => ['model', 'previous'].includes(name) && ['local', 'legacy-local'].includes(value),
    says: (name, value) => `${name}: ${value} is a placeholder, not a model.`,
  },
  {
    when: (_, value) => COUNTER.test(value),
    says: (name) =>
      `${name}: old releases (0.25.9 was recorded) wrote a counter on 2026-01-01 in place of a time; it is no evidence of when.`,
  },
]

function notesOn(id: string, values: Readonly<Record<string, string>>): string[] {
  const notes = Object.entries(values).flatMap(([name, value]) =>
    valueNotes.filter(({ when }) => when(name, value)).map(({ says }) => says(name, value)),
  )
  const absent = Object.keys(values).filter((name) => values[name] === '-')
  if (absent.length > 0) notes.unshift(`Absent (missing, null or empty in the record; or, rarely, a dash): ${absent.join(', ')}.`)
  return PLACEHOLDERS.includes(id)
    ? [...notes, 'A person or a tool can have written the same characters: turn_type and details of the row decide.']
    : notes
}
