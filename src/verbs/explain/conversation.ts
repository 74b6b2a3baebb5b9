import { z } from 'zod'
import type { CatalogEntry } from '../../catalog/index.js'
import { EvidenceTrouble, type EvidenceFile, type Home } from '../../evidence/index.js'
import { parseEvidence, type HomeRun, type SuppliedParser } from '../../parsers/index.js'
import { compareRows, TurnType, type Row } from '../../rows/index.js'
import { noMasks, type Masks } from './masks.js'
import { NotInEvidence } from './row.js'
import type { OpenEvidence } from './trace.js'

/** A whole output that the conversation holds a part of, from the file that it names. */
const FullOutput = z.strictObject({
  /** The path that the result names, as recorded. */
  recorded: z.string(),
  /** The file of the evidence; null when it is not there: such files are swept after a day. */
  source_file: z.string().nullable(),
  text: z.string().nullable(),
  problem: z.string().nullable(),
})

const Result = z.strictObject({
  timestamp_utc: z.string(),
  text: z.string(),
  /** As details say: in messages.jsonl true means denied, cancelled or interrupted. */
  is_error: z.boolean().nullable(),
  result_ok: z.boolean().nullable(),
  source_file: z.string(),
  source_line: z.number().int().nullable(),
  full: FullOutput.nullable(),
})

const ConversationTurn = z.strictObject({
  timestamp_utc: z.string(),
  turn_type: TurnType,
  kind: z.string().nullable(),
  model: z.string(),
  tool_name: z.string(),
  tool_use_id: z.string(),
  text: z.string(),
  store: z.string(),
  source_file: z.string(),
  source_line: z.number().int().nullable(),
  /** Of a call; null when it has none that was recorded. */
  result: Result.nullable(),
})
export type ConversationTurn = z.infer<typeof ConversationTurn>

/** The result of `explain --conversation`. */
export const ExplainedConversation = z.strictObject({
  explained: z.literal('conversation'),
  conversation: z.string(),
  user: z.string(),
  host: z.string(),
  agent: z.string(),
  /** The agent's own id, as far as a file names it. */
  agent_id: z.string(),
  project_paths: z.array(z.string()),
  /** The files that the turns come from, the best first; copies in the others were dropped. */
  sources: z.array(z.strictObject({ store: z.string(), source_file: z.string(), turns: z.number().int() })),
  turns: z.array(ConversationTurn),
  notes: z.array(z.string()),
})
export type ExplainedConversation = z.infer<typeof ExplainedConversation>

export interface ConversationOptions {
  readonly entries: readonly CatalogEntry[]
  readonly masks?: Masks
}

/** Stores by how much they hold of a conversation: what a better one holds too was dropped from the others. */
const BEST_FIRST = ['messages', 'messages-backup', 'transcripts', 'listener-state']

/** `[USER:][AGENT/]ID`: the parts before the id are needed where it alone is not unique. */
interface Wanted {
  readonly id: string
  readonly agentId?: string
  readonly user?: string
}

/** One conversation from the evidence: its turns in order, each call with its result. */
export async function explainConversation(
  text: string,
  open: OpenEvidence,
  parsers: readonly SuppliedParser[],
  options: ConversationOptions,
): Promise<{ readonly explained: ExplainedConversation; readonly runs: readonly HomeRun[] }> {
  const forms = wantedForms(text)
  const evidence = await open()
  let rows: Row[] = []
  const others = new Set<string>()
  const runs = await parseEvidence(
    evidence,
    parsers,
    {},
    {
      add(batch) {
        for (const row of batch) {
          if (forms.some((form) => fits(row, form))) rows.push(row)
          else if (BEST_FIRST.includes(row.details.store) && row.session_id !== '') others.add(row.session_id)
        }
      },
      withdraw: ({ user, source_file }) => (rows = rows.filter((row) => row.user !== user || row.source_file !== source_file)),
    },
  )
  const mine = onlyOne(text, rows, others)
  const home = evidence.homes.find(({ user }) => user === mine[0]!.user)!
  const outputs = new Outputs(home, options.entries)
  return { runs, explained: await conversationOf(mine, outputs, options.masks ?? noMasks) }
}

function wantedForms(text: string): Wanted[] {
  const withAgent = (form: Wanted): Wanted[] => {
    const slash = form.id.indexOf('/')
    return slash > 0 ? [form, { ...form, agentId: form.id.slice(0, slash), id: form.id.slice(slash + 1) }] : [form]
  }
  const colon = text.indexOf(':')
  const withUser = colon > 0 ? [{ user: text.slice(0, colon), id: text.slice(colon + 1) }] : []
  return [{ id: text }, ...withUser].flatMap(withAgent)
}

function fits(row: Row, { id, agentId, user }: Wanted): boolean {
  if (row.session_id !== id || (user !== undefined && row.user !== user)) return false
  const own = agentIdOf(row)
  return agentId === undefined || own === '' || own === agentId
}

/** The agent that a row's file or record names; empty when neither does. */
export function agentIdOf({ source_file, session_id, details }: Row): string {
  const recorded = (details as { readonly agent_id?: unknown }).agent_id
  if (typeof recorded === 'string') return recorded
  const segments = source_file.split('/')
  switch (details.store) {
    case 'transcripts':
      return segments.at(-3) ?? ''
    case 'messages':
    case 'messages-backup':
      return /^default:(.+)$/s.exec(Buffer.from(segments.at(-2) ?? '', 'base64url').toString('utf8'))?.[1] ?? ''
    case 'listener-state':
      return listenerAgent(segments.at(-1) ?? '', session_id)
    default:
      return ''
  }
}

/** `<agent>_<conversation>.json`, each part percent-encoded. */
function listenerAgent(name: string, conversation: string): string {
  const end = `_${encodeURIComponent(conversation)}.json`
  if (!name.endsWith(end)) return ''
  try {
    return decodeURIComponent(name.slice(0, -end.length))
  } catch {
    return ''
  }
}

const MOST_NAMED = 10

/** The rows of one conversation; an error in words when there are several, or none. */
function onlyOne(text: string, rows: readonly Row[], others: ReadonlySet<string>): Row[] {
  if (rows.length === 0) {
    const names = [...others].slice(0, MOST_NAMED)
    const rest = others.size > names.length ? `, and ${others.size - names.length} more` : ''
    throw new NotInEvidence(`no conversation ${text} in the evidence${names.length === 0 ? '' : `; there are ${names.join(', ')}${rest}`}`)
  }
  const owners = new Set(rows.map((row) => `${row.user}\0${agentIdOf(row)}`))
  const named = [...owners].filter((owner) => !owner.endsWith('\0'))
  if (named.length > 1 || new Set(rows.map(({ user }) => user)).size > 1) {
    const full = (named.length > 1 ? named : [...owners]).map(
      (owner) => `${owner.replace('\0', ':').replace(/:$/, '')}${owner.endsWith('\0') ? ':' : '/'}${rows[0]!.session_id}`,
    )
    throw new NotInEvidence(`${text} names several conversations: say which, ${full.sort().slice(0, MOST_NAMED).join(' or ')}`)
  }
  return [...rows].sort(compareRows)
}

async function conversationOf(rows: readonly Row[], outputs: Outputs, masks: Masks): Promise<ExplainedConversation> {
  const first = rows[0]!
  const results = new Results(rows)
  const turns: ConversationTurn[] = []
  for (const row of rows) {
    if (results.isTaken(row)) continue
    const result = row.turn_type === 'tool_use' ? results.of(row) : undefined
    turns.push({ ...turnOf(row, masks), result: result ? await resultOf(result, outputs, masks) : null })
  }
  const sources = sourcesOf(rows)
  return {
    explained: 'conversation',
    conversation: first.session_id,
    user: first.user,
    host: first.host,
    agent: first.agent,
    agent_id: rows.map(agentIdOf).find((id) => id !== '') ?? '',
    project_paths: [...new Set(rows.map(({ project_path }) => project_path).filter((path) => path !== ''))],
    sources,
    turns,
    notes: notesOn(rows, sources, turns),
  }
}

function turnOf(row: Row, masks: Masks): Omit<ConversationTurn, 'result'> {
  const { timestamp_utc, turn_type, model, tool_name, tool_use_id, source_file, source_line, details } = row
  const text = masks.text(row.text).text
  return {
    timestamp_utc,
    turn_type,
    kind: details.kind ?? null,
    model,
    tool_name,
    tool_use_id,
    text,
    store: details.store,
    source_file,
    source_line,
  }
}

async function resultOf(row: Row, outputs: Outputs, masks: Masks): Promise<z.infer<typeof Result>> {
  const { is_error, result_ok } = row.details as { readonly is_error?: boolean; readonly result_ok?: boolean | null }
  return {
    timestamp_utc: row.timestamp_utc,
    text: masks.text(row.text).text,
    is_error: is_error ?? null,
    result_ok: result_ok ?? null,
    source_file: row.source_file,
    source_line: row.source_line,
    full: await outputs.of(row.text, masks),
  }
}

function sourcesOf(rows: readonly Row[]): ExplainedConversation['sources'] {
  const counts = new Map<string, { store: string; source_file: string; turns: number }>()
  for (const { details, source_file } of rows) {
    const source = counts.get(source_file) ?? { store: details.store, source_file, turns: 0 }
    source.turns++
    counts.set(source_file, source)
  }
  const rank = (store: string) => (BEST_FIRST.includes(store) ? BEST_FIRST.indexOf(store) : BEST_FIRST.length)
  return [...counts.values()].sort((a, b) => rank(a.store) - rank(b.store))
}

/** Which result belongs to which call: by its id, in a transcript by its line. */
class Results {
  readonly #byCall = new Map<string, Row[]>()
  readonly #taken = new Set<Row>()

  constructor(rows: readonly Row[]) {
    const results = rows.filter(({ turn_type }) => turn_type === 'tool_result')
    for (const row of results) for (const key of keysOf(row)) this.#byCall.set(key, [...(this.#byCall.get(key) ?? []), row])
    for (const row of rows) if (row.turn_type === 'tool_use') this.#take(row)
  }

  readonly #ofCall = new Map<Row, Row>()

  #take(call: Row): void {
    const found = keysOf(call)
      .flatMap((key) => this.#byCall.get(key) ?? [])
      .find((row) => !this.#taken.has(row))
    if (!found) return
    this.#taken.add(found)
    this.#ofCall.set(call, found)
  }

  of(call: Row): Row | undefined {
    return this.#ofCall.get(call)
  }

  isTaken(row: Row): boolean {
    return this.#taken.has(row)
  }
}

function keysOf({ tool_use_id, source_file, source_line, details }: Row): string[] {
  const lineId = (details as { readonly source_line_id?: unknown }).source_line_id
  if (details.store === 'transcripts')
    return [`line ${source_file}:${source_line}`, ...(typeof lineId === 'string' ? [`id ${lineId}`] : [])]
  return tool_use_id === '' ? [] : [`id ${tool_use_id}`]
}

/** How a result says that it was cut, and where the whole is (letta-stores 1.2; observed 0.32.18). */
const WRITTEN_TO = /\[Full output written to: ([^\]\n]+)\]/
const OVERFLOW_STORE = 'tool-overflow'
const MOST_READ = 64 * 1024 * 1024

/** The files that hold long outputs whole. */
class Outputs {
  #files: ReadonlyMap<string, EvidenceFile> | undefined

  constructor(
    readonly home: Home,
    readonly entries: readonly CatalogEntry[],
  ) {}

  async of(text: string, masks: Masks): Promise<z.infer<typeof FullOutput> | null> {
    const recorded = WRITTEN_TO.exec(text)?.[1]
    if (recorded === undefined) return null
    const file = this.#find(recorded)
    if (!file) return { recorded, source_file: null, text: null, problem: 'not in the evidence; such files are swept after a day' }
    try {
      return { recorded, source_file: file.path, text: masks.text(await whole(file)).text, problem: null }
    } catch (error) {
      if (!(error instanceof EvidenceTrouble)) throw error
      return { recorded, source_file: file.path, text: null, problem: error.problem }
    }
  }

  /** By the end of the path that is recorded: the file is opened inside the evidence only. */
  #find(recorded: string): EvidenceFile | undefined {
    const stores = this.entries.flatMap((entry) => entry.stores).filter(({ id }) => id === OVERFLOW_STORE)
    this.#files ??= new Map(this.home.files(stores).map((file) => [file.path, file]))
    const segments = recorded.split(/[\\/]/)
    return segments.map((_, i) => this.#files!.get(segments.slice(i).join('/'))).find((file) => file !== undefined)
  }
}

async function whole(file: EvidenceFile): Promise<string> {
  if (file.listing.size > MOST_READ) throw new EvidenceTrouble(file.path, `is ${file.listing.size} bytes, over the limit; it was not read`)
  const parts: Buffer[] = []
  for await (const chunk of file.chunks()) parts.push(Buffer.from(chunk))
  return Buffer.concat(parts).toString('utf8')
}

function notesOn(rows: readonly Row[], sources: ExplainedConversation['sources'], turns: readonly ConversationTurn[]): string[] {
  const notes: string[] = []
  const best = sources[0]?.store
  if (best === 'transcripts')
    notes.push(
      'Only a transcript is here: outside the terminal interface it has no calls of local tools, and no turn that failed or was interrupted.',
    )
  if (sources.length > 1) notes.push('Turns of the later sources stand in none before it; what was a copy is left out.')
  if (rows.some(({ details }) => details.copied_from))
    notes.push('Some turns were copied by a fork from an earlier conversation (details.copied_from of their rows).')
  if (turns.some(({ turn_type, result }) => turn_type === 'tool_use' && result === null))
    notes.push('A call without a result was denied, interrupted or still running, or its result was not recorded here.')
  return notes
}
