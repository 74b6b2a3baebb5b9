import path from 'node:path'
import { visible } from '../output/index.js'
import { bytesInWords, plural } from '../rows/index.js'
import { Tally, type HomeRun, type RegistryNote } from '../parsers/index.js'
import type { Timeline } from './timeline.js'

const MOST_NAMED = 5

/** What a person wants to know after a run, in a few lines: how much was read, what it gave, what was not read. */
export function summary(timeline: Timeline, notes: readonly RegistryNote[], seconds: number): string[] {
  const lines = notes.map(({ message }) => message)
  if (timeline.runs.every(({ run }) => run.tallies.size === 0)) {
    lines.push(...timeline.runs.map(({ directory, agent }) => `no ${agent} files in ${visible(directory)}`))
  }
  for (const home of timeline.runs) lines.push(...homeLines(home))
  if (timeline.filteredOut > 0) lines.push(`${plural(timeline.filteredOut, 'row')} left out by the filters`)
  const files = timeline.runs.reduce((sum, { run }) => sum + run.files.size, 0)
  const bytes = timeline.runs.flatMap(({ run }) => [...run.tallies.values()]).reduce((sum, tally) => sum + tally.bytes, 0)
  const homes = new Set(timeline.runs.map(({ directory }) => directory)).size
  lines.push(
    `${plural(timeline.rows, 'row')} from ${plural(files, 'file')} (${bytesInWords(bytes)}) in ${plural(homes, 'home')}, ${seconds.toFixed(1)} s` +
      (timeline.first === '' ? '' : `; ${timeline.first} to ${timeline.last}`) +
      (timeline.withoutTime === 0 ? '' : `; ${plural(timeline.withoutTime, 'row')} without a time, at the end`),
  )
  return lines
}

function homeLines({ user, directory, agent, run }: HomeRun): string[] {
  const stores = [...run.tallies].filter(([, tally]) => tally.rows > 0).map(([store, { rows }]) => `${store} ${rows}`)
  const all = sum([...run.tallies.values()])
  const lines = stores.length === 0 ? [] : [`${visible(user || path.basename(directory))}, ${agent}: ${stores.join(', ')}`]
  if (all.dropped > 0) lines.push(`  ${plural(all.dropped, 'row')} dropped as copies (--all-sources keeps those of secondary files)`)
  if (all.copied > 0) lines.push(`  ${plural(all.copied, 'row')} copied by forks, marked in details.copied_from`)
  if (all.bad > 0)
    lines.push(`  ${plural(all.bad, 'line or file', 'lines or files')} with something unreadable: see the rows that begin "parser:"`)
  lines.push(
    ...named(
      'could not be read',
      [...run.troubles.values()].map(({ path, problem }) => `${path} ${problem}`),
    ),
  )
  lines.push(...named(plural(run.projectsNotFound.size, 'project') + ' not found in the evidence', [...run.projectsNotFound]))
  lines.push(...named('recorded paths that are never opened', [...run.projectsRefused]))
  lines.push(...named('fields not known', unknownFields(run.tallies)))
  return lines
}

function named(what: string, items: readonly string[]): string[] {
  if (items.length === 0) return []
  const rest = items.length > MOST_NAMED ? `, and ${items.length - MOST_NAMED} more` : ''
  return [`  ${what}: ${items.slice(0, MOST_NAMED).map(visible).join(', ')}${rest}`]
}

function unknownFields(tallies: ReadonlyMap<string, Tally>): string[] {
  return [...tallies].flatMap(([store, tally]) => [...tally.unknownFields].map(([field, count]) => `${store} ${field} (${count})`))
}

function sum(tallies: readonly Tally[]): Pick<Tally, 'dropped' | 'copied' | 'bad'> {
  const total = { dropped: 0, copied: 0, bad: 0 }
  for (const tally of tallies) for (const key of ['dropped', 'copied', 'bad'] as const) total[key] += tally[key]
  return total
}
