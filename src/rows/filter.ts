import type { Row, TurnType } from './row.js'

/** Which rows to keep. Each list is an "any of"; a row must satisfy every list that is given. */
export interface RowFilter {
  /** Times in the row form; rows without a time stay whatever these say. */
  readonly since?: string
  readonly until?: string
  readonly sessions?: readonly string[]
  /** Project folders: these and what lies below them. */
  readonly projects?: readonly string[]
  readonly turnTypes?: readonly TurnType[]
  readonly tools?: readonly string[]
  /** What the text must hold. */
  readonly patterns?: readonly (string | RegExp)[]
}

type Test = (row: Row) => boolean

/** A test for rows; undefined when nothing is asked, so that nothing is spent on it. */
export function rowTest(filter: RowFilter): Test | undefined {
  const tests = [
    filter.since && sinceTest(filter.since),
    filter.until && untilTest(filter.until),
    anyOf(filter.sessions, (session) => (row) => row.session_id === session),
    anyOf(filter.projects, projectTest),
    anyOf(filter.turnTypes, (type) => (row) => row.turn_type === type),
    anyOf(filter.tools, (tool) => (row) => row.tool_name === tool),
    anyOf(filter.patterns, patternTest),
  ].filter((test) => typeof test === 'function')
  return tests.length === 0 ? undefined : (row) => tests.every((test) => test(row))
}

function sinceTest(since: string): Test {
  return ({ timestamp_utc: at }) => at === '' || at >= since
}

function untilTest(until: string): Test {
  return ({ timestamp_utc: at }) => at === '' || at <= until
}

function projectTest(project: string): Test {
  const folder = project.replace(/[\\/]+$/, '')
  return ({ project_path: path }) => path === folder || path.startsWith(`${folder}/`) || path.startsWith(`${folder}\\`)
}

function patternTest(pattern: string | RegExp): Test {
  return typeof pattern === 'string' ? ({ text }) => text.includes(pattern) : ({ text }) => pattern.test(text)
}

function anyOf<T>(wanted: readonly T[] | undefined, testFor: (one: T) => Test): Test | undefined {
  if (!wanted || wanted.length === 0) return undefined
  const tests = wanted.map(testFor)
  return (row) => tests.some((test) => test(row))
}
