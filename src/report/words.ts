import type { Report } from './schema.js'

/** The groups of findings, in order. */
export const GROUPS = [
  { rank: 1, title: 'Look here first' },
  { rank: 2, title: 'Look here too' },
  { rank: 3, title: 'Good to know' },
] as const

export function bytes(count: number): string {
  if (count < 1000) return `${count} bytes`
  const units = ['kB', 'MB', 'GB', 'TB']
  const power = Math.min(units.length, Math.floor(Math.log10(count) / 3))
  return `${(count / 1000 ** power).toFixed(1)} ${units[power - 1]}`
}

export function whoseRows(user: string, host: string): string {
  return [user || 'user unknown', host].filter((part) => part !== '').join(' on ')
}

export function span({ first, last }: Pick<Report['head'], 'first' | 'last'>): string {
  if (first === '') return 'No row has a time.'
  return `From ${first} to ${last} (${duration(Date.parse(last) - Date.parse(first))})`
}

/** The two largest units. */
export function duration(ms: number): string {
  const units = [
    ['day', 86_400_000],
    ['hour', 3_600_000],
    ['minute', 60_000],
    ['second', 1_000],
  ] as const
  const parts: string[] = []
  let left = ms
  for (const [name, size] of units) {
    const count = Math.floor(left / size)
    left -= count * size
    if (count > 0) parts.push(`${count} ${name}${count === 1 ? '' : 's'}`)
    if (parts.length === 2) break
  }
  return parts.join(' ') || 'less than a second'
}
