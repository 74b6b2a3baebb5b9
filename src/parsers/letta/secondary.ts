import { createHash } from 'node:crypto'
import type { Row } from '../../rows/index.js'

/** What decides whether two rows show the same event (rows.md, Secondary sources). */
export interface Event {
  /** Its place among the events of its source, in the order of the file. */
  readonly ordinal: number
  readonly source_line: number
  readonly turn_type: string
  /** A tool row's call id, empty when it has none. */
  readonly callId: string
  /** Stands for turn type and text. */
  readonly textKey: string
  /** Milliseconds; NaN where there is no real time. */
  readonly ms: number
}

const AN_HOUR = 3_600_000
/** Longer texts are held as digests: an index of a conversation must stay small. */
const HELD_WHOLE = 48

/** Collects the events of one source while its rows pass by. */
export class EventIndex {
  readonly events: Event[] = []

  add(row: Row): void {
    this.events.push(eventOf(row, this.events.length))
  }
}

/** Whether a row can be a copy: not what the parser says of the file itself. */
export function isEvent({ details }: Row): boolean {
  return details.kind !== 'parser' && details.kind !== 'session-synced'
}

function eventOf(row: Row, ordinal: number): Event {
  const details = row.details as Record<string, unknown>
  const isTool = row.turn_type === 'tool_use' || row.turn_type === 'tool_result'
  const lineId = details.store === 'transcripts' && typeof details.source_line_id === 'string' ? details.source_line_id : ''
  const text = row.turn_type === 'user' ? row.text.replace(/\s+/g, ' ').trim() : row.text
  const counter = details.time_synthetic === row.timestamp_utc
  const time = counter ? '' : ((details.submitted_at as string | undefined) ?? row.timestamp_utc)
  return {
    ordinal,
    source_line: row.source_line ?? 0,
    turn_type: row.turn_type,
    callId: isTool ? row.tool_use_id || lineId : '',
    textKey: `${row.turn_type}:${text.length <= HELD_WHOLE ? text : createHash('sha256').update(text).digest('base64')}`,
    ms: time === '' ? NaN : Date.parse(time),
  }
}

/** Which primary event each secondary event repeats. */
export type Pairs = ReadonlyMap<Event, Event>

/**
 * Pairs the events of one secondary file with those of the primary source: one cancels one, by call id first, else the nearest in time
 * among those of the same text (rows.md, Secondary sources).
 */
export function pair(primary: readonly Event[], secondary: readonly Event[]): Pairs {
  const pairs = new Map<Event, Event>()
  const taken = new Set<Event>()
  const match = (keyOf: (event: Event) => string, allowed: (a: Event, b: Event) => boolean) => {
    const groups = groupBy(primary, keyOf, taken)
    for (const [key, mine] of groupBy(secondary, keyOf, pairs)) {
      for (const [b, a] of nearestPairs(groups.get(key) ?? [], mine, allowed)) {
        pairs.set(b, a)
        taken.add(a)
      }
    }
  }
  match(
    (event) => (event.callId === '' ? '' : `${event.turn_type}:${event.callId}`),
    (a, b) => a.textKey === b.textKey || withinAnHour(a, b),
  )
  match(
    (event) => event.textKey,
    (a, b) => (a.callId === '' || b.callId === '') && withinAnHour(a, b),
  )
  return pairs
}

function groupBy(events: readonly Event[], keyOf: (event: Event) => string, without: { has(event: Event): boolean }): Map<string, Event[]> {
  const groups = new Map<string, Event[]>()
  for (const event of events) {
    const key = keyOf(event)
    if (key === '' || without.has(event)) continue
    const group = groups.get(key)
    if (group) group.push(event)
    else groups.set(key, [event])
  }
  return groups
}

function withinAnHour(a: Event, b: Event): boolean {
  return Number.isNaN(a.ms) || Number.isNaN(b.ms) || Math.abs(a.ms - b.ms) <= AN_HOUR
}

/** Above this many combinations of equal rows, they are paired in file order: which of a thousand equal rows is which shows nothing. */
const MOST_COMBINATIONS = 100_000

function nearestPairs(primary: readonly Event[], secondary: readonly Event[], allowed: (a: Event, b: Event) => boolean): [Event, Event][] {
  if (primary.length * secondary.length > MOST_COMBINATIONS) return inFileOrder(primary, secondary, allowed)
  const candidates: { a: Event; b: Event; distance: number }[] = []
  for (const b of secondary) for (const a of primary) if (allowed(a, b)) candidates.push({ a, b, distance: distance(a, b) })
  candidates.sort((x, y) => compareNumbers(x.distance, y.distance) || x.b.ordinal - y.b.ordinal || x.a.ordinal - y.a.ordinal)
  const used = new Set<Event>()
  const pairs: [Event, Event][] = []
  for (const { a, b } of candidates) {
    if (used.has(a) || used.has(b)) continue
    used.add(a).add(b)
    pairs.push([b, a])
  }
  return pairs
}

function inFileOrder(primary: readonly Event[], secondary: readonly Event[], allowed: (a: Event, b: Event) => boolean): [Event, Event][] {
  const pairs: [Event, Event][] = []
  let next = 0
  for (const b of secondary) {
    while (next < primary.length && !allowed(primary[next]!, b) && primary[next]!.ms < b.ms) next++
    const a = primary[next]
    if (a === undefined) break
    if (!allowed(a, b)) continue
    pairs.push([b, a])
    next++
  }
  return pairs
}

function distance(a: Event, b: Event): number {
  return Number.isNaN(a.ms) || Number.isNaN(b.ms) ? Infinity : Math.abs(a.ms - b.ms)
}

/** Infinity equals itself here, which subtraction does not say. */
function compareNumbers(a: number, b: number): number {
  return a < b ? -1 : a > b ? 1 : 0
}
