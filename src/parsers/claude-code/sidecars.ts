import { z } from 'zod'
import type { EvidenceFile } from '../../evidence/index.js'
import { phrases } from '../../rows/index.js'
import { columnText } from '../columns.js'
import { known, optionalText, optionalTime } from '../shapes.js'
import { jsonStore } from '../store.js'

/** What small files beside the transcripts tell: subagents and their parents, names of sessions. */
export class Sidecars {
  /** By subagent id. */
  readonly #subagents = new Map<string, Subagent>()
  /** Subagent ids by the tool call that started them. */
  readonly #startedBy = new Map<string, string>()
  readonly #names = new Map<string, string>()

  noteSubagent(agentId: string, subagent: Subagent): void {
    this.#subagents.set(agentId, subagent)
    if (subagent.parent_tool_use_id !== undefined) this.#startedBy.set(subagent.parent_tool_use_id, agentId)
  }

  subagent(agentId: string): Subagent | undefined {
    return this.#subagents.get(agentId)
  }

  startedBy(toolUseId: string): string | undefined {
    return this.#startedBy.get(toolUseId)
  }

  noteName(sessionId: string, name: string): void {
    this.#names.set(sessionId, name)
  }

  nameOf(sessionId: string): string | undefined {
    return this.#names.get(sessionId)
  }
}

export interface Subagent {
  readonly agent_type?: string
  readonly parent_tool_use_id?: string
}

/** <session>/subagents/agent-<id>.meta.json (pi-and-claude-code 2.1; seen in 2.1.332). No rows of its own. */
const SubagentMeta = z.looseObject({
  agentType: optionalText,
  toolUseId: optionalText,
  ...known(`description spawnDepth model finished isBuiltIn launchedWithDefaults requestShape requestNonInteractive modelNotNamed
    pickedEffortModel`),
})

export const subagentMeta = (sidecars: Sidecars) =>
  jsonStore({
    id: 'subagent-meta',
    record: SubagentMeta,
    rows({ record }, rows) {
      rows.tally.headers++
      sidecars.noteSubagent(/agent-([^/]*)\.meta\.json$/.exec(rows.file.path)?.[1] ?? '', {
        ...(record.agentType ? { agent_type: record.agentType } : {}),
        ...(record.toolUseId ? { parent_tool_use_id: record.toolUseId } : {}),
      })
      return []
    },
  })

/** <session>/custom-title.json: what a session was named, when and by whom (pi-and-claude-code 2.1; seen in 2.1.332). */
const CustomTitle = z.looseObject({ customTitle: optionalText, by: optionalText, at: optionalTime })

export const customTitle = (sidecars: Sidecars) =>
  jsonStore({
    id: 'custom-titles',
    record: CustomTitle,
    rows({ raw }, rows) {
      const session_id = folderOf(rows.file)
      const name = columnText(raw.customTitle)
      sidecars.noteName(session_id, name)
      const values = { name, by: raw.by }
      return [rows.system(rows.atRecord(raw.at), 'session-name', phrases.sessionName.say(values), values, { session_id })]
    },
  })

function folderOf({ path }: EvidenceFile): string {
  return path.split('/').at(-2) ?? ''
}
