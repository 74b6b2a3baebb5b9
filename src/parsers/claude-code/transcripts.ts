import { stripVTControlCharacters } from 'node:util'
import { z } from 'zod'
import type { EvidenceFile, Line } from '../../evidence/index.js'
import { isAbsent, phrases, type Row } from '../../rows/index.js'
import { columnText } from '../columns.js'
import { atOriginal, type Copies } from '../copies.js'
import { NO_TIME, type FileRows, type Moment } from '../file-rows.js'
import { isObject, losslessAt, type JsonObject } from '../json.js'
import type { Turn } from '../file-rows.js'
import { ModelTrack } from '../pi/messages.js'
import type { Projects } from '../projects.js'
import { known, optionalFlag, optionalText, optionalTime } from '../shapes.js'
import type { Fold, JsonlStore, Read } from '../store.js'
import { lookUp } from '../table.js'
import { assistantBlocks, blocksOf, noBlocks, plainBlock, resultTurn, unknownBlock, type Blocks } from './blocks.js'
import { decisionTurn } from './decisions.js'
import type { TypedPrompts } from './prompts.js'
import type { Sidecars } from './sidecars.js'
import { commandText, userTurn } from './user-text.js'

/**
 * One line of a transcript (pi-and-claude-code 2.2; seen in 2.1.332). The lines of a conversation carry uuid, time, directory and
 * branch; others are state that is written again and again, or a log of requests.
 */
const TranscriptLine = z.looseObject({
  type: optionalText,
  uuid: optionalText,
  timestamp: optionalTime,
  sessionId: optionalText,
  cwd: optionalText,
  gitBranch: optionalText,
  isSidechain: optionalFlag,
  agentId: optionalText,
  isMeta: optionalFlag,
  isCompactSummary: optionalFlag,
  isApiErrorMessage: optionalFlag,
  isAbortedMidStream: optionalFlag,
  permissionMode: optionalText,
  promptSource: optionalText,
  origin: z.looseObject({ kind: optionalText, ...known('producer runId') }).nullish(),
  message: z
    .looseObject({
      role: optionalText,
      model: optionalText,
      content: z.union([z.string(), z.array(z.unknown())]).nullish(),
      ...known(`id type stop_reason stop_sequence stop_details usage container context_management diagnostics output_config`),
    })
    .nullish(),
  permissionDecision: z
    .looseObject({
      decision: optionalText,
      ...known('source reasonType reasonCode ruleSource grantScope'),
    })
    .nullish(),
  toolDenialKind: optionalText,
  toolDenialBeforeRun: optionalFlag,
  subtype: optionalText,
  level: z.unknown().optional(),
  content: z.unknown().optional(),
  error: z.unknown().optional(),
  compactMetadata: z
    .looseObject(
      known(
        'trigger preTokens postTokens cumulativeDroppedTokens durationMs preservedSegment preservedMessages preCompactOrganizationsCoverStart',
      ),
    )
    .nullish(),
  summary: optionalText,
  leafUuid: optionalText,
  customTitle: optionalText,
  ...known(`parentUuid logicalParentUuid version userType entrypoint slug session_id requestId requestRef requestSessionId requestedModel
    effort perTurnEffort promptCacheRequested apiBlockIndex madeBy attributionAgent thinkingDisplay thinkingDurationMs toolInputStreamMs
    toolUseResult sourceToolAssistantUUID sandboxed isVisibleInTranscriptOnly interruptedMessageId promptId rowSource sentAtMs turnOrigin
    turnPosition turnCompanion queueSkipAttachments apiErrorStatus apiErrorType failedResponseHadNoToolCall durationMs messageCount
    commandRun modelRestriction attachment rendered renderedRole renderedBesideToolResult hash id base cacheControl echoWireToolInputs keep
    params querySource requestDigest shapeHash tail thread shape atis lastPrompt tools operation hasUnknownModelCost modelUsage startTime
    totalAPIDuration totalAPIDurationWithoutRetries totalCostUSD totalDuration totalLinesAdded totalLinesRemoved totalToolDuration
    isSnapshotUpdate messageId snapshot mode agentName`),
})
export type TranscriptLine = z.infer<typeof TranscriptLine>

export interface TranscriptContext {
  readonly projects: Projects
  readonly copies: Copies
  readonly typed: TypedPrompts
  readonly sidecars: Sidecars
}

/** projects/<directory>/<session>.jsonl, and the transcripts of subagents below or beside it. */
export const transcripts = (context: TranscriptContext): JsonlStore<TranscriptLine> => ({
  id: 'projects',
  record: TranscriptLine,
  looksLike: (value) => typeof value.type === 'string' && ('sessionId' in value || 'uuid' in value || 'leafUuid' in value),
  sessionOf,
  fold: (rows) => new TranscriptFold(rows, context),
})

/** The session is the file's name, for a subagent the folder's above `subagents`. */
export function sessionOf({ path }: EvidenceFile): string {
  const [, session] = /\/([^/]+)\/subagents\/[^/]+$/.exec(path) ?? /\/([^/]+)\.jsonl$/.exec(path) ?? []
  return session ?? ''
}

/** Lines that are counted, not shown: context and requests, which repeat the conversation, and state that the last value of counts for. */
const COUNTED = new Set(
  `attachment queue-operation api-request api-request-shape api-request-blob last-prompt mode permission-mode agent-name tools-used
  atis-latch cost-state file-history-snapshot progress pr-link ai-title`.split(/\s+/),
)

class TranscriptFold implements Fold<TranscriptLine> {
  /** One for the conversation, one for subagents whose lines stand in the same file (before 2.1.2). */
  readonly #models = { main: new ModelTrack(), sidechain: new ModelTrack() }
  readonly #toolNames = new Map<string, string>()
  readonly #times = new Map<string, Moment>()
  readonly #summaries: { readonly record: TranscriptLine; readonly line: Line }[] = []
  readonly #titles = new Set<string>()
  readonly #session: string

  constructor(
    readonly rows: FileRows,
    readonly context: TranscriptContext,
  ) {
    this.#session = sessionOf(rows.file)
  }

  line({ record, complain }: Read<TranscriptLine>, line: Line): Row[] {
    const reader = lookUp(this.#readers, record.type)
    if (reader) return reader(record, line, complain)
    this.rows.tally.empty++
    if (!COUNTED.has(record.type ?? '')) this.rows.tally.unknownField(`type ${columnText(record.type) || '-'}`)
    if (!isAbsent(record.cwd)) this.context.projects.name(columnText(record.cwd))
    return []
  }

  end(): Row[] {
    this.context.copies.endOfFile()
    return this.#summaries.map(({ record, line }) => this.#summaryRow(record, line))
  }

  readonly #readers: Record<string, (record: TranscriptLine, line: Line, complain: (problem: string) => void) => Row[]> = {
    user: (record, line, complain) => this.#emit(this.#user(record), record, line, complain),
    assistant: (record, line, complain) => this.#emit(this.#assistant(record, line), record, line, complain),
    system: (record, line, complain) => this.#emit(systemTurns(record), record, line, complain),
    summary: (record, line) => {
      this.#summaries.push({ record, line })
      return []
    },
    'custom-title': (record, line) => this.#title(record, line),
  }

  #user(record: TranscriptLine): Blocks {
    const found = noBlocks()
    const blocks = blocksOf(record.message?.content)
    const results = blocks.filter((block): block is JsonObject => isObject(block) && block.type === 'tool_result')
    const decision = results.length === 0 ? undefined : decisionTurn(record, this.rows.file.shortPath)
    if (decision)
      found.turns.push(this.#named({ ...decision, tool_use_id: results.length === 1 ? columnText(results[0]!.tool_use_id) : '' }))
    blocks.forEach((block, i) => {
      if (isObject(block) && block.type === 'tool_result') found.turns.push(this.#named(withStarted(resultTurn(block, found.odd), record)))
      else {
        const text = plainBlock(block)
        if (text === undefined) found.odd.push(isObject(block) ? unknownBlock(block, i) : `field message.content.${i} is not a block`)
        else if (text.trim() === '') found.empty++
        else found.turns.push(userTurn(text, record))
      }
    })
    return found
  }

  /** A result's tool is named by its call. */
  #named(turn: Turn): Turn {
    return { ...turn, tool_name: this.#toolNames.get(turn.tool_use_id ?? '') ?? '' }
  }

  #assistant(record: TranscriptLine, line: Line): Blocks {
    const content = record.message?.content
    const found = assistantBlocks(content, (block) => losslessAt(line.text, ['message', 'content', block, 'input']))
    const model = modelOf(record)
    if (record.isApiErrorMessage === true) return { ...found, turns: found.turns.map((turn) => apiError(turn, record)) }
    for (const { turn_type, tool_use_id, tool_name } of found.turns) {
      if (turn_type === 'tool_use' && tool_use_id) this.#toolNames.set(tool_use_id, tool_name ?? '')
    }
    const turns = found.turns.map((turn) => this.#withSubagent({ ...turn, model }))
    const track = record.isSidechain === true ? this.#models.sidechain : this.#models.main
    const change = track.to(model, 'anthropic')
    return { ...found, turns: change ? [change, ...turns] : turns }
  }

  /** A call that started a subagent names it. */
  #withSubagent(turn: Turn): Turn {
    const subagent = turn.turn_type === 'tool_use' ? this.context.sidecars.startedBy(turn.tool_use_id ?? '') : undefined
    return subagent === undefined ? turn : { ...turn, details: { ...turn.details, subagent } }
  }

  #emit({ turns, empty, odd }: Blocks, record: TranscriptLine, line: Line, complain: (problem: string) => void): Row[] {
    this.rows.tally.empty += turns.length === 0 && empty === 0 && odd.length === 0 ? 1 : empty
    odd.forEach(complain)
    const place = this.#place(record, line)
    const recorded = this.rows.atRecord(record.timestamp)
    const original = this.#original(record, place.session_id, line)
    const moment = original ? atOriginal(recorded) : recorded
    if (!isAbsent(record.uuid)) this.#times.set(columnText(record.uuid), moment)
    const shared = { ...this.#shared(record, place.session_id), ...(original ? { copied_from: original } : {}) }
    const rows = turns.map(({ details, ...turn }) => this.rows.row(moment, { ...turn, ...place, details: { ...details, ...shared } }))
    for (const row of rows) this.#noteTyped(row)
    if (!original) return rows
    this.rows.tally.copied += rows.length
    if (!this.rows.run.options.originalsOnly) return rows
    this.rows.tally.rows -= rows.length
    this.rows.tally.dropped += rows.length
    return []
  }

  #place(record: TranscriptLine, line: Line) {
    const project_path = columnText(record.cwd)
    this.context.projects.name(project_path)
    const branch = columnText(record.gitBranch)
    return {
      session_id: columnText(record.sessionId) || this.#session,
      project_path,
      git_branch: branch === 'HEAD' ? '' : branch,
      source_line: line.number,
    }
  }

  #original({ uuid }: TranscriptLine, session_id: string, line: Line) {
    const key = columnText(uuid)
    if (key === '') return undefined
    const original = this.context.copies.find(key)
    if (!original) this.context.copies.add(key, { session_id, source_file: this.rows.file.path, source_line: line.number })
    return original
  }

  /** What every row of a line says besides its own. */
  #shared(record: TranscriptLine, session_id: string): JsonObject {
    const details: JsonObject = {}
    if (!isAbsent(record.uuid)) details.uuid = record.uuid
    if (record.isSidechain === true) details.sidechain = true
    if (!isAbsent(record.agentId))
      Object.assign(details, { agent_id: record.agentId }, this.context.sidecars.subagent(columnText(record.agentId)))
    if (!isAbsent(record.promptSource)) details.prompt_source = record.promptSource
    if (!isAbsent(record.permissionMode)) details.permission_mode = record.permissionMode
    if (record.isAbortedMidStream === true) details.aborted = true
    const links = this.rows.run.links.of(this.rows.agent, session_id)
    if (links) details.links = links
    return details
  }

  #noteTyped({ turn_type, details, session_id, text, timestamp_utc }: Row): void {
    if (turn_type === 'user' && details.origin === undefined) this.context.typed.note(session_id, text, timestamp_utc)
    const command = details.kind === 'notice' ? commandText(text) : undefined
    if (command !== undefined) this.context.typed.note(session_id, command, timestamp_utc)
  }

  /** Written again with every turn, without a time: each name once, unless custom-title.json tells it with its time. */
  #title(record: TranscriptLine, line: Line): Row[] {
    const session_id = columnText(record.sessionId) || this.#session
    const name = columnText(record.customTitle)
    if (this.#titles.has(name) || this.context.sidecars.nameOf(session_id) === name) {
      this.rows.tally.empty++
      return []
    }
    this.#titles.add(name)
    const values = { name }
    return [this.rows.system(NO_TIME, 'session-name', phrases.sessionName.say(values), values, { session_id, source_line: line.number })]
  }

  /** A summary of older releases has no time: it stands at that of the line that it names, where this file holds it. */
  #summaryRow({ summary, leafUuid, sessionId }: TranscriptLine, line: Line): Row {
    const moment = this.#times.get(columnText(leafUuid)) ?? NO_TIME
    const values = { summary, leaf_uuid: leafUuid }
    const place = { session_id: columnText(sessionId) || this.#session, source_line: line.number }
    return this.rows.system(moment, 'session-summary', columnText(summary), values, place)
  }
}

/** The result of a call that started a subagent names it, whether or not a file beside the transcripts does. */
function withStarted(turn: Turn, { toolUseResult }: TranscriptLine): Turn {
  const subagent = isObject(toolUseResult) ? columnText(toolUseResult.agentId) : ''
  return subagent === '' ? turn : { ...turn, details: { ...turn.details, subagent } }
}

/** What stands for a model where the program itself answered. */
const SYNTHETIC = '<synthetic>'

function modelOf({ message }: TranscriptLine): string {
  const model = columnText(message?.model)
  return model === SYNTHETIC ? '' : model
}

function apiError({ text }: Turn, { error, ...record }: TranscriptLine): Turn {
  const details = {
    kind: 'error',
    error_message: text,
    error,
    api_error_status: record.apiErrorStatus,
    api_error_type: record.apiErrorType,
  }
  return { turn_type: 'system', text, details }
}

/** Lines of the program itself: those with something to say. */
function systemTurns({ subtype, level, content, compactMetadata, error }: TranscriptLine): Blocks {
  const found = noBlocks()
  if (subtype === 'compact_boundary') {
    const values = { trigger: compactMetadata?.trigger, pre_tokens: compactMetadata?.preTokens }
    const details = { kind: 'conversation-compacted', ...values }
    found.turns.push({ turn_type: 'system', text: phrases.conversationCompacted.say(values), details })
  } else if (!isAbsent(content)) {
    const text = stripVTControlCharacters(columnText(content))
    found.turns.push({ turn_type: 'system', text, details: { kind: 'notice', subtype: subtype ?? null, level: level ?? null } })
  } else if (!isAbsent(error)) {
    const error_message = isObject(error) ? (error.message ?? error) : error
    found.turns.push({
      turn_type: 'system',
      text: phrases.error.say({ error_message }),
      details: { kind: 'error', error_message, subtype },
    })
  }
  return found
}
