import { plural } from '../rows/index.js'
import { COMMAND_RULES, isFileTool, isShell, matchesCommand, matchesPath, type CommandRule } from './commands.js'
import { agentOf, isCopy, kindOf, value, type Call, type Entry, type Evidence } from './entry.js'
import { wasCarriedOut } from './outcome.js'
import { clip, countOutcomes } from './quote.js'

/** Where a reader should look first (1), what to look at then (2), and what is good to know (3). */
export type Rank = 1 | 2 | 3

/** A reason to look at rows: a classification of what they say, never a judgement of a person. */
export interface Rule {
  readonly id: string
  readonly title: string
  readonly rank: Rank
  /** Why it matters. */
  readonly reason: string
  /** What it does not show. */
  readonly caveat: string
  /** It speaks of what is not there, so it can only be asked of all rows. */
  readonly absence?: true
  /** The rows that speak for it, those that speak against left out. */
  find(evidence: Evidence): readonly Entry[]
  /** What the record shows, in a sentence, for that many rows. */
  say(found: readonly Entry[], evidence: Evidence): string
  /** The part of a row's text that it is about, where the beginning does not show it. */
  quote?(entry: Entry, evidence: Evidence): string
}

// --- permissions ---

const OPEN_MODES = /^(?:unrestricted|bypassPermissions|fullAccess|yolo|full-auto|danger-full-access)$/
/** What the program tells the model of its mode (letta-stores 5.5; seen in 0.25.9 to 0.32.18). */
const MODE_NOTICE = /Permission mode (?:active|changed to): (\w+)/g
const ADDED_RULE = /→ Added permission: [^\n]{1,400}/

/** The permission modes that a context block names, in order. */
export function modesOf({ row }: Entry): string[] {
  return row.details.kind === 'injected-context' ? [...row.text.matchAll(MODE_NOTICE)].map(([, mode]) => mode!) : []
}

export function isPermission(entry: Entry, key: string): boolean {
  return kindOf(entry) === 'permission-setting' && value(entry, 'key') === key
}

/** An allow rule without a limit: a whole tool, or programs that can run anything. */
const BROAD_RULE =
  /^(?:\*|(?:Bash|Shell|Run|Execute|Write|Edit|MultiEdit|WebFetch|mcp__\w+)(?:\(\s*(?:\*{1,2}|:\*|\/{1,2}\*{2})?\s*\))?|(?:Bash|Shell)\(\s*(?:sudo|su|rm|curl|wget|bash|sh|zsh|python3?|node|perl|ruby|ssh|scp|chmod|chown|docker|kubectl|eval|env|xargs)(?:\s*:?\s*\*)\s*\))$/

const permissionRules: Rule[] = [
  {
    id: 'permission-mode-open',
    title: 'Calls were allowed without asking',
    rank: 1,
    reason: 'In such a mode tools run without anyone being asked; who approved a call is then nobody.',
    caveat:
      'Letta Code starts in the mode unrestricted since 0.25.7, so it need not have been chosen. A settings file shows its last state; a context block shows the mode when the prompt was sent.',
    find: ({ entries }) =>
      entries.filter(
        (entry) =>
          !isCopy(entry) &&
          ((isPermission(entry, 'mode') && OPEN_MODES.test(value(entry, 'value'))) || modesOf(entry).some((mode) => OPEN_MODES.test(mode))),
      ),
    say: (found) => `${plural(found.length, 'row')} ${found.length === 1 ? 'names' : 'name'} a permission mode in which nothing is asked.`,
    quote: (entry) => [...entry.row.text.matchAll(MODE_NOTICE)].map(([notice]) => notice).join(', ') || entry.row.text,
  },
  {
    id: 'broad-allow-rule',
    title: 'Broad allow rules',
    rank: 1,
    reason: 'A rule without a limit allows whatever the tool can do.',
    caveat: 'The time is that of the file, not of the rule. A rule shows what was allowed, not that it was used.',
    find: ({ entries }) =>
      entries.filter(
        (entry) => (isPermission(entry, 'allow') || isPermission(entry, 'alwaysAllow')) && BROAD_RULE.test(value(entry, 'value')),
      ),
    say: (found) =>
      `${plural(found.length, 'allow rule')} ${found.length === 1 ? 'covers' : 'cover'} a whole tool or a program that can run anything.`,
  },
  {
    id: 'rules-added',
    title: 'Allow rules added in a session',
    rank: 3,
    reason: 'Someone chose not to be asked again.',
    caveat: 'The program notes it in the context of the next prompt, so it was chosen before that time.',
    find: ({ entries }) =>
      entries.filter((entry) => !isCopy(entry) && kindOf(entry) === 'injected-context' && ADDED_RULE.test(entry.row.text)),
    say: (found) => `${plural(found.length, 'context block')} ${found.length === 1 ? 'tells' : 'tell'} of an allow rule added by hand.`,
    quote: ({ row }) => ADDED_RULE.exec(row.text)?.[0] ?? row.text,
  },
  {
    id: 'additional-directories',
    title: 'Directories beyond the project',
    rank: 3,
    reason: 'File tools may work in these directories as well.',
    caveat: 'The time is that of the file. Shell commands are not bound by this setting.',
    find: ({ entries }) => entries.filter((entry) => isPermission(entry, 'additionalDirectories')),
    say: (found) =>
      `${plural(found.length, 'directory', 'directories')} beside the project ${found.length === 1 ? 'is' : 'are'} open to file tools.`,
  },
]

// --- calls that did not run, and calls that did nevertheless ---

const own = (calls: readonly Call[]) => calls.filter(({ use }) => !isCopy(use))

function stopped({ calls, entries }: Evidence, outcomes: readonly string[]): Entry[] {
  const found = own(calls).flatMap(({ result, outcome }) => (result && outcomes.includes(outcome) ? [result] : []))
  const denials = outcomes.includes('denied')
    ? entries.filter((entry) => kindOf(entry) === 'permission-decision' && value(entry, 'decision') === 'deny')
    : []
  const turns = outcomes.includes('interrupted') ? entries.filter((entry) => kindOf(entry) === 'interrupted-turn') : []
  return inOrder([...found, ...denials, ...turns])
}

/** A result says little without its call. */
function callAndResult({ row, index }: Entry, { callAt }: Evidence): string {
  const use = callAt.get(index)?.use
  return use === undefined || use.index === index ? row.text : `${use.row.tool_name}: ${clip(use.row.text, 120)} → ${row.text}`
}

function inOrder(entries: readonly Entry[]): Entry[] {
  return [...new Set(entries)].sort((a, b) => a.index - b.index)
}

const callRules: Rule[] = [
  {
    id: 'ran-after-denied',
    title: 'Calls that ran after the same call was refused',
    rank: 1,
    reason: 'The same tool with the same argument was refused first, and ran later.',
    caveat: 'Someone may have changed their mind and approved it; an approval leaves no record. Only equal arguments are compared.',
    find: ({ calls }) => {
      const refused = new Map<string, number>()
      const name = ({ use: { row } }: Call) => [row.user, row.tool_name, row.text.trim()].join('\u0000')
      for (const call of own(calls))
        if ((call.outcome === 'denied' || call.outcome === 'cancelled') && !refused.has(name(call))) refused.set(name(call), call.use.index)
      return own(calls)
        .filter((call) => wasCarriedOut(call.outcome) && (refused.get(name(call)) ?? Infinity) < call.use.index)
        .map(({ use }) => use)
    },
    say: (found) => `${plural(found.length, 'call')} ran after the same call had been denied or cancelled.`,
  },
  {
    id: 'calls-denied',
    title: 'Denied calls',
    rank: 2,
    reason: 'The person at the machine said no to what the agent was about to do.',
    caveat: 'The reason is what was typed, or a standard text. A denial in an interrupted turn stands in two files; it is one event.',
    find: (evidence) => stopped(evidence, ['denied']),
    say: (found) => `${plural(found.length, 'row')} ${found.length === 1 ? 'records' : 'record'} that a call was denied.`,
    quote: callAndResult,
  },
  {
    id: 'calls-interrupted',
    title: 'Interrupted and cancelled calls',
    rank: 3,
    reason: 'Someone, or the end of the program, stopped the agent before it was done.',
    caveat: 'An interrupted call can have done part of its work. What the program closes by itself on its next start is counted here too.',
    find: (evidence) => stopped(evidence, ['cancelled', 'interrupted', 'closed']),
    say: (found) => `${plural(found.length, 'row')} ${found.length === 1 ? 'tells' : 'tell'} of a call or turn that was stopped.`,
    quote: callAndResult,
  },
]

// --- where the conversation goes ---

/** The different values of a name, the first few of them. */
function named(found: readonly Entry[], name: string, most = 5): string {
  const values = [...new Set(found.map((entry) => value(entry, name)))].filter((text) => text !== '')
  return (
    values
      .slice(0, most)
      .map((text) => clip(text, 60))
      .join(', ') + (values.length > most ? ` and ${values.length - most} more` : '')
  )
}

const kindRule = (kind: string, rule: Omit<Rule, 'find'>): Rule => ({
  ...rule,
  find: ({ entries }) => entries.filter((entry) => kindOf(entry) === kind),
})

const reachRules: Rule[] = [
  kindRule('session-relayed', {
    id: 'relayed-to-chat',
    title: 'Conversations relayed to chat channels',
    rank: 1,
    reason: 'Whoever is in that chat can read the agent, and may be able to instruct it.',
    caveat: 'A route shows that it was set up; whether messages went over it, the rows with the origin channel say.',
    quote: (entry) =>
      `${value(entry, 'channel')} chat ${value(entry, 'chat_id')}, conversation ${entry.row.session_id}, enabled=${value(entry, 'enabled')}`,
    say: (found) => `${plural(found.length, 'route')} to ${named(found, 'channel') || 'a channel'}.`,
  }),
  {
    id: 'prompts-from-chat',
    title: 'Prompts that came from a chat channel',
    rank: 1,
    reason: 'These prompts were not typed at this machine.',
    caveat: 'The wrapper that the program adds tells where a message came from; its content is what the sender wrote.',
    find: ({ entries }) => entries.filter((entry) => !isCopy(entry) && entry.row.details.origin === 'channel'),
    say: (found) => `${plural(found.length, 'prompt')} came in over a chat channel.`,
  },
  kindRule('session-synced', {
    id: 'conversation-elsewhere',
    title: 'The conversation also lives elsewhere',
    rank: 2,
    reason: 'The server or account named holds the conversation, more of it than this machine does, and can be asked for it.',
    caveat: 'The server is what the settings name; a row is made from files here, none was asked.',
    say: (found) => {
      const servers = named(found, 'server')
      return `${plural(found.length, 'row')} ${found.length === 1 ? 'names' : 'name'} another place of a conversation${servers && `: ${servers}`}.`
    },
  }),
  kindRule('scheduled-task', {
    id: 'scheduled-tasks',
    title: 'Scheduled tasks',
    rank: 2,
    reason: 'A scheduled task prompts the agent without anyone at the keyboard.',
    caveat: 'Tasks that fired once, were missed or cancelled leave the file after a day; the runs of a task outlast it.',
    say: (found) => {
      const active = found.filter((entry) => value(entry, 'status') === 'active').length
      return `${plural(found.length, 'task')}, ${active} of them active.`
    },
    quote: (entry) =>
      `${value(entry, 'name') || value(entry, 'id')}, ${value(entry, 'status')}, ${value(entry, 'scheduled_for') || value(entry, 'cron')}: ${value(entry, 'prompt')}`,
  }),
]

// --- what is gone ---

const LOCAL_AGENT = /^agent-local-/

const goneRules: Rule[] = [
  {
    id: 'store-gone',
    absence: true,
    title: 'A store is gone and a copy survives',
    rank: 1,
    reason: 'The conversation of a local agent stands only in its transcript: the message store that held it is not in the evidence.',
    caveat:
      'Deleting the agent or conversation removes the store and leaves the transcript; so does copying a home in part. No record says which, or when.',
    find: ({ entries }) => {
      const stored = new Set(entries.filter(({ row }) => /^messages/.test(row.details.store)).map(({ session }) => session))
      return entries.filter(
        ({ row, session }) =>
          row.details.store === 'transcripts' && row.turn_type !== 'system' && LOCAL_AGENT.test(agentOf(row)) && !stored.has(session),
      )
    },
    say: (found) =>
      `${plural(found.length, 'row')} of ${plural(new Set(found.map(({ session }) => session)).size, 'conversation')} ${found.length === 1 ? 'has' : 'have'} no message store.`,
  },
  {
    id: 'copy-only',
    absence: true,
    title: 'Turns that only the transcript still has',
    rank: 2,
    reason: 'The message store of this conversation is there, and these turns are not in it.',
    caveat:
      'A change of model after a compaction rewrites the store from what is in context; a migration does too. Nobody need have deleted anything. Texts that differ between the stores can also end up here.',
    find: ({ entries }) => {
      const stored = new Set(entries.filter(({ row }) => row.details.store === 'messages').map(({ session }) => session))
      return entries.filter(
        ({ row, session }) =>
          row.details.store === 'transcripts' && row.turn_type !== 'system' && LOCAL_AGENT.test(agentOf(row)) && stored.has(session),
      )
    },
    say: (found) =>
      `${plural(found.length, 'row')} ${found.length === 1 ? 'stands' : 'stand'} in a transcript and not in the message store beside it.`,
  },
  {
    id: 'named-but-absent',
    absence: true,
    title: 'Conversations that are named and have no turns here',
    rank: 2,
    reason: 'A schedule, a route or an interrupted turn names the conversation, and no prompt or answer of it is in the evidence.',
    caveat: 'It may never have existed, be on a server, or have been deleted.',
    find: ({ entries }) => {
      const turns = new Set(entries.filter(({ row }) => row.turn_type !== 'system').map(({ session }) => session))
      const naming = ['scheduled-task', 'scheduled-task-run', 'session-relayed', 'interrupted-turn', 'session-synced']
      return entries.filter((entry) => entry.session !== '' && naming.includes(kindOf(entry)) && !turns.has(entry.session))
    },
    say: (found) => `${plural(new Set(found.map(({ session }) => session)).size, 'conversation')} without a turn in the evidence.`,
  },
  {
    id: 'task-gone',
    absence: true,
    title: 'Runs of a task that is no longer listed',
    rank: 2,
    reason: 'The run log outlasts its task: it shows that the task existed and when it ran.',
    caveat:
      'Tasks are deleted by hand, and one-time tasks leave the list by themselves after a day. The prompt of the task is gone with it.',
    find: ({ entries }) => {
      const listed = new Set(
        entries.filter((entry) => kindOf(entry) === 'scheduled-task').map((entry) => `${entry.row.user} ${value(entry, 'id')}`),
      )
      return entries.filter((entry) => kindOf(entry) === 'scheduled-task-run' && !listed.has(`${entry.row.user} ${value(entry, 'job_id')}`))
    },
    say: (found) => `${plural(found.length, 'run')} of ${named(found, 'job_id')}.`,
  },
]

// --- what was asked of the shell and the file tools ---

function commandRule(rule: CommandRule): Rule {
  return {
    ...rule,
    find: ({ calls }) =>
      own(calls)
        .map(({ use }) => use)
        .filter(({ row }) =>
          isShell(row.tool_name) ? matchesCommand(rule, row.text) : isFileTool(row.tool_name) && matchesPath(rule, row.text),
        ),
    say: (found, { callAt }) => {
      const outcomes = countOutcomes(found.map(({ index }) => callAt.get(index)!))
      return `${plural(found.length, 'call')}: ${Object.entries(outcomes)
        .map(([outcome, count]) => `${count} ${outcome}`)
        .join(', ')}.`
    },
  }
}

// --- texts and times ---

const MS = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const
/** A pause that a night or a weekend does not explain. */
const GAP = 4 * MS.day
/** How far a row of a file may stand before the row above it: steps that end together are written in any order. */
const BACKWARDS = MS.minute
/** Agents that talk to such models did not exist before. */
const FIRST_AGENTS = '2022-11-01T00:00:00.000Z'

function turns(entries: readonly Entry[]): Entry[] {
  return entries.filter(
    (entry) => entry.row.timestamp_utc !== '' && entry.row.turn_type !== 'system' && !isCopy(entry) && !hasCounter(entry),
  )
}

function hasOddTime({ row: { timestamp_utc, details } }: Entry): boolean {
  return details.bad_time !== undefined || details.time_synthetic !== undefined || (timestamp_utc !== '' && timestamp_utc < FIRST_AGENTS)
}

function hasCounter({ row }: Entry): boolean {
  return row.details.time_synthetic !== undefined && row.timestamp_utc === row.details.time_synthetic
}

function afterGaps(entries: readonly Entry[]): Entry[] {
  return turns(entries).filter(
    ({ row }, i, all) => i > 0 && Date.parse(row.timestamp_utc) - Date.parse(all[i - 1]!.row.timestamp_utc) > GAP,
  )
}

function backwards(entries: readonly Entry[]): Entry[] {
  const files = new Map<string, Entry[]>()
  for (const entry of turns(entries)) {
    if (entry.row.source_line === null || entry.row.details.time_source !== 'record') continue
    const file = `${entry.row.user}:${entry.row.source_file}`
    const rows = files.get(file)
    if (rows) rows.push(entry)
    else files.set(file, [entry])
  }
  return inOrder(
    [...files.values()].flatMap((rows) =>
      rows
        .sort((a, b) => a.row.source_line! - b.row.source_line!)
        .filter(({ row }, i, all) => i > 0 && Date.parse(all[i - 1]!.row.timestamp_utc) - Date.parse(row.timestamp_utc) > BACKWARDS),
    ),
  )
}

const textRules: Rule[] = [
  {
    id: 'secrets-in-texts',
    title: 'Secrets in prompts, arguments and results',
    rank: 1,
    reason: 'What looks like a credential stands in the record, and with it wherever the conversation went.',
    caveat: 'Told by its form; it may be invented, expired or an example. Values are masked in this report, not in the evidence.',
    find: ({ entries }) => entries.filter((entry) => entry.secrets.length > 0 && !isCopy(entry)),
    say: (found) => {
      const kinds = [...new Set(found.flatMap(({ secrets }) => secrets))].sort()
      return `${plural(found.length, 'row')} ${found.length === 1 ? 'holds' : 'hold'} what looks like: ${kinds.join(', ')}.`
    },
  },
  {
    id: 'clock-oddities',
    title: 'Times that do not fit',
    rank: 2,
    reason: 'Times order everything else; where they do not fit, order and duration are uncertain.',
    caveat:
      'Old releases (0.25.9 was recorded) stamped messages with a counter in place of a time. A clock can be set by hand or by the network.',
    find: ({ entries }) => {
      const odd = entries.filter((entry) => !isCopy(entry) && hasOddTime(entry))
      return inOrder([...odd, ...backwards(entries)])
    },
    say: (found) => {
      const counted = found.filter(({ row }) => row.details.time_synthetic !== undefined).length
      return `${plural(found.length, 'row')} with a time that cannot be read, is none, or runs backwards in its file${counted > 0 ? ` (${counted} with a counter for a time)` : ''}.`
    },
  },
  {
    id: 'activity-gaps',
    absence: true,
    title: 'Long pauses',
    rank: 3,
    reason: 'Between two turns nothing was recorded for days.',
    caveat: 'A pause is no sign of deletion. Conversations on a server leave turns here only when they ran on this machine.',
    find: ({ entries }) => afterGaps(entries),
    say: (found) => `${plural(found.length, 'pause')} of more than four days, each before the row given.`,
  },
  {
    id: 'unreadable',
    title: 'Part of the evidence could not be read',
    rank: 2,
    reason: 'What these lines and files hold is not in this report.',
    caveat: 'A torn last line is usual after a crash; anything else deserves a look at the bytes.',
    find: ({ entries }) => entries.filter((entry) => kindOf(entry) === 'parser'),
    say: (found) => `${plural(found.length, 'line or file', 'lines or files')} with something unreadable.`,
  },
]

/** Every rule, in the order in which equal ranks are shown. */
export const RULES: readonly Rule[] = [
  ...COMMAND_RULES.map(commandRule),
  ...callRules,
  ...reachRules,
  ...goneRules,
  ...textRules,
  ...permissionRules,
]
