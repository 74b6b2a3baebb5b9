import type { Row } from '../../rows/index.js'
import type { Batch, Link, Links } from '../parser.js'
import { lookUp } from '../table.js'

/**
 * Other coding agents that a conversation started in its working directory. They write stores of their own (letta-stores 5.7); a row names
 * the other session only where the command or its output does.
 */
interface External {
  readonly agent: string
  /** The session that a command goes on with, and the one that its output names. */
  readonly inCommand: RegExp
  readonly inOutput: RegExp
}

const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'

/** By the name of the program; what each prints is told by its documentation, not observed below Letta Code. */
const EXTERNALS: Record<string, External> = {
  claude: {
    agent: 'claude-code',
    inCommand: new RegExp(`(?:--resume|-r|--session-id)[= ]["']?(${UUID})`),
    inOutput: new RegExp(`"session_id"\\s*:\\s*"(${UUID})"`),
  },
  codex: {
    agent: 'codex',
    inCommand: new RegExp(`\\bresume ["']?(${UUID})`),
    inOutput: new RegExp(`(?:session id: |"thread_id"\\s*:\\s*")(${UUID})`),
  },
  opencode: {
    agent: 'opencode',
    inCommand: /(?:--session|-s)[= ]["']?(ses_\w+)/,
    inOutput: /"sessionID"\s*:\s*"(ses_\w+)"/,
  },
}

/**
 * A program at the head of a simple command, whatever its path and the variables set for it. Every repetition is bounded: a command is
 * evidence, and can be made to stall a search.
 */
const STARTS =
  /(?:^|[;&|(\n]\s{0,64})(?:[A-Za-z_]\w{0,63}=[^\s;&|()]{0,255}\s{1,8}){0,8}(?:[^\s;&|()]{0,255}[\\/])?(claude|codex|opencode)(?:\.exe)?(?=\s|$)/

/** Tools whose argument is a command line. */
const SHELLS = new Set('Bash shell Shell shell_command ShellCommand run_shell_command RunShellCommand exec_command Monitor'.split(' '))

/** Marks the calls of one home that started another agent, and their results, and tells the other side. */
export class ExternalAgents {
  /** By conversation and call. */
  readonly #started = new Map<string, External>()

  constructor(readonly links: Links) {}

  mark(batch: Batch): Batch {
    if ('length' in batch) for (const row of batch) this.#row(row)
    return batch
  }

  #row(row: Row): void {
    if (row.turn_type === 'tool_use' && SHELLS.has(row.tool_name)) this.#call(row)
    else if (row.turn_type === 'tool_result' && row.tool_use_id !== '') {
      const external = this.#started.get(keyOf(row))
      if (external) this.#link(row, external.agent, external.inOutput.exec(row.text)?.[1])
    }
  }

  #call(row: Row): void {
    const program = STARTS.exec(row.text)?.[1]
    const external = lookUp(EXTERNALS, program)
    if (!external) return
    row.details.starts = external.agent
    if (row.tool_use_id !== '') this.#started.set(keyOf(row), external)
    this.#link(row, external.agent, external.inCommand.exec(row.text)?.[1])
  }

  #link(row: Row, agent: string, session_id: string | undefined): void {
    if (session_id === undefined) return
    row.details.links = [...((row.details.links as Link[] | undefined) ?? []), { agent, session_id }]
    this.links.note(agent, session_id, { agent: 'letta', session_id: row.session_id, from: row.source_file })
  }
}

function keyOf({ source_file, tool_use_id }: Row): string {
  return `${source_file}\0${tool_use_id}`
}
