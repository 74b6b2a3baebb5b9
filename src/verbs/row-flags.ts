import fs from 'node:fs'
import { Flags } from '@oclif/core'
import { recordedTime, TurnType, type RowFilter } from '../rows/index.js'

/** Which rows a verb keeps: the same flags for `parse` and `report`. */
export const rowFlags = {
  since: Flags.string({ description: 'rows from this time on: ISO 8601, or -3d, -12h, -30m; rows without a time stay', helpGroup: 'ROWS' }),
  until: Flags.string({ description: 'rows up to this time', helpGroup: 'ROWS' }),
  session: Flags.string({ description: 'only this conversation or session; repeatable', multiple: true, helpGroup: 'ROWS' }),
  project: Flags.string({ description: 'only this project folder and what is below it; repeatable', multiple: true, helpGroup: 'ROWS' }),
  'turn-type': Flags.option({ options: TurnType.options, description: 'only rows of this type; repeatable', multiple: true })({
    helpGroup: 'ROWS',
  }),
  tool: Flags.string({ description: 'only calls and results of this tool; repeatable', multiple: true, helpGroup: 'ROWS' }),
  grep: Flags.string({ description: 'only rows whose text holds this, or matches /this/; repeatable', multiple: true, helpGroup: 'ROWS' }),
  'grep-file': Flags.string({ description: 'a file of such patterns, one a line; repeatable', multiple: true, helpGroup: 'ROWS' }),
}

/** The values of `rowFlags` as parsed. */
export interface RowFlagValues {
  readonly since?: string
  readonly until?: string
  readonly session?: string[]
  readonly project?: string[]
  readonly 'turn-type'?: TurnType[]
  readonly tool?: string[]
  readonly grep?: string[]
  readonly 'grep-file'?: string[]
}

/** A flag's value that means nothing, in words for the one who typed it. */
export class FlagValueError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'FlagValueError'
  }
}

export function rowFilterFrom(flags: RowFlagValues, now: Date = new Date()): RowFilter {
  const files = (flags['grep-file'] ?? []).flatMap(indicatorsOf)
  return {
    since: flags.since && timeOf('since', flags.since, now),
    until: flags.until && timeOf('until', flags.until, now),
    sessions: flags.session,
    projects: flags.project,
    turnTypes: flags['turn-type'],
    tools: flags.tool,
    patterns: [...(flags.grep ?? []), ...files].map(patternOf),
  }
}

const UNITS: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }

function timeOf(flag: string, value: string, now: Date): string {
  const [, count, unit] = /^-(\d+)([mhdw])$/.exec(value) ?? []
  const time = count && unit ? recordedTime(now.getTime() - Number(count) * UNITS[unit]!) : recordedTime(value)
  if (time.iso === '') throw new FlagValueError(`--${flag} ${value}: not a time; write 2026-10-02, 2026-10-02T08:00:00Z, or -3d`)
  return time.iso
}

function patternOf(text: string): string | RegExp {
  const [, source, options] = /^\/(.+)\/([imsu]*)$/s.exec(text) ?? []
  if (source === undefined) return text
  try {
    return new RegExp(source, options)
  } catch {
    throw new FlagValueError(`--grep ${text}: not a regular expression`)
  }
}

function indicatorsOf(file: string): string[] {
  try {
    return fs
      .readFileSync(file, 'utf8')
      .split(/\r?\n/)
      .filter((line) => line.trim() !== '')
  } catch {
    throw new FlagValueError(`--grep-file ${file}: cannot be read`)
  }
}
