import { z } from 'zod'

/** What a row of one kind shows, and what it is often taken to show and does not. */
export const Meaning = z.strictObject({
  /** The id of the row's text (`rows/phrases.ts`), or of a kind of row whose text is free. */
  id: z.string(),
  title: z.string(),
  /** Stores whose files give such rows, as rows name them; those of other agents than Letta Code with the agent: `pi/sessions`. */
  stores: z.array(z.string()).min(1),
  proves: z.string(),
  does_not_prove: z.array(z.string()).min(1),
  citation: z.array(z.string().min(1)).min(1),
})
export type Meaning = z.output<typeof Meaning>

const FILE_TIME = 'The time is that of the file: any change to the file moves it. It is not the time of what the row says.'
const DEFAULT_CONVERSATION = 'A conversation named default is the default conversation of whichever agent is named; alone it is not unique.'
const ROUTE_ONLY = 'Whether any message went that way has to be read in the conversation itself.'

/** Rows of conversations: their text is what was said, not a text of this program. */
const turns: Meaning[] = [
  {
    id: 'user',
    title: 'A prompt',
    stores: ['transcripts', 'messages', 'messages-backup'],
    proves: 'This text was sent to the agent in this conversation.',
    does_not_prove: [
      'That a person typed it: task notifications, scheduled prompts, chat messages and updates of other programs are user messages too (details.origin names those that are recognised).',
      'That it was typed once: after an interrupt the terminal may send the previous input again.',
      'That it was answered: a turn that failed or was interrupted leaves the prompt only.',
    ],
    citation: ['letta-stores 5.3', 'letta-stores 5.5', 'observed 0.32.18'],
  },
  {
    id: 'assistant',
    title: 'An answer',
    stores: ['transcripts', 'messages', 'messages-backup'],
    proves: 'The model gave this text, as the program stored it.',
    does_not_prove: [
      'That what it says was done: only a tool result shows that a call ran.',
      'That a person saw it; what was shown in the terminal is not recorded.',
      'That it is all the model said: an interrupted answer is not stored.',
    ],
    citation: ['letta-stores 5.3', 'letta-stores 5.6'],
  },
  {
    id: 'thinking',
    title: 'Reasoning of the model',
    stores: ['transcripts', 'messages', 'messages-backup'],
    proves: 'The model gave this as its reasoning.',
    does_not_prove: [
      'Why the model acted: the reasoning is text, not a trace of what caused the action.',
      'That nothing was thought where there is no such row: providers leave reasoning out, or redact it.',
    ],
    citation: ['letta-stores 4.4'],
  },
  {
    id: 'tool_use',
    title: 'A call that the model asked for',
    stores: ['transcripts', 'messages', 'messages-backup'],
    proves: 'The model asked for this call with these arguments (the text is the argument that tells most; the record holds all).',
    does_not_prove: [
      'That the call ran: it may have been denied, cancelled or interrupted. Its result says so.',
      'That a person allowed it: an approval leaves no record.',
      'In a transcript from outside the terminal interface, the absence of calls proves nothing: calls of local tools are left out there.',
    ],
    citation: ['letta-stores 4.1', 'letta-stores 5.2', 'letta-stores 5.6', 'pi-and-claude-code 3'],
  },
  {
    id: 'tool_result',
    title: 'What a call gave back',
    stores: ['transcripts', 'messages', 'messages-backup', 'listener-state'],
    proves: 'This came back to the model as the result of the call.',
    does_not_prove: [
      'That the call succeeded: in messages.jsonl details.is_error true means denied, cancelled or interrupted, and a tool that ran and failed stands there with is_error false; in a transcript details.result_ok false covers all of these.',
      'That it is the whole output: long outputs are cut for the conversation and kept whole, for a day, in files of their own.',
      'In a transcript the absence of results proves nothing outside the terminal interface; result_ok null means that the result was not captured, not that the call failed.',
    ],
    citation: ['letta-stores 4.1', 'letta-stores 5.6', 'observed 0.32.18'],
  },
  {
    id: 'transcript-error',
    title: 'An error shown in the terminal',
    stores: ['transcripts'],
    proves: 'The terminal interface showed this error in a turn that later ended in order.',
    does_not_prove: [
      'That the turn failed: a transcript holds only turns that ended in order.',
      'That other errors did not happen: a turn that ended in an error is not in the transcript.',
    ],
    citation: ['letta-stores 4.1', 'letta-stores 5.2'],
  },
  {
    id: 'injected-context',
    title: 'Context that the program added to a prompt',
    stores: ['messages', 'messages-backup'],
    proves: 'The program put this before the prompt: directory, git status, permission mode and the like, as the program saw them then.',
    does_not_prove: ['That a person wrote or saw it.', 'That it holds for the whole turn: it is the state when the prompt was accepted.'],
    citation: ['letta-stores 5.5', 'observed 0.32.18'],
  },
]

const texts: Meaning[] = [
  {
    id: 'session-end',
    title: 'A terminal session ended',
    stores: ['sessions'],
    proves: 'A terminal session of this agent ended by a command at this time, in this directory, after this many milliseconds.',
    does_not_prove: [
      'What was said in it: the session id is that of the program run, not of a conversation.',
      'That there were no other sessions: one that crashed, was killed or still runs has no line, nor have one-shot, stream-json and listener runs.',
    ],
    citation: ['letta-stores 4.6', 'observed 0.25.9, 0.30.28, 0.32.18'],
  },
  {
    id: 'session-start',
    title: 'A terminal session started',
    stores: ['sessions'],
    proves: 'A line without an end was recorded for this session.',
    does_not_prove: [
      'That the session ended in any way.',
      'That a release writes such lines: the code that would was never called in the releases read.',
    ],
    citation: ['letta-stores 4.6'],
  },
  {
    id: 'model',
    title: 'The first model of a conversation or session',
    stores: ['messages', 'messages-backup', 'sessions'],
    proves: 'The record names this model and provider from here on.',
    does_not_prove: [
      'That this model answered: the provider may route elsewhere; the column model of an answer shows what the provider reported.',
      'In sessions.jsonl, which conversation it was: the session is a run of the program.',
    ],
    citation: ['letta-stores 4.4', 'letta-stores 4.6'],
  },
  {
    id: 'model-change',
    title: 'The model changed',
    stores: ['messages', 'messages-backup', 'sessions'],
    proves: 'Between the record before and this one the model changed from the one to the other.',
    does_not_prove: ['Who changed it, or when exactly: the row stands at the first record that has the new model.'],
    citation: ['letta-stores 4.4', 'letta-stores 4.6'],
  },
  {
    id: 'permission-setting',
    title: 'A standing permission rule',
    stores: ['settings'],
    proves: 'The file held this rule when it was last written: what it names would be allowed, refused or asked about.',
    does_not_prove: [
      FILE_TIME,
      'That anything was run under it.',
      'Who made it: a project file can be checked in and come from someone else; a home is also edited by hand.',
      'That nothing else was allowed: the mode unrestricted, the default since 0.25.7, allows without rules. bypassPermissions and fullAccess mean unrestricted; default means standard.',
    ],
    citation: ['letta-stores 4.7', 'observed 0.25.9, 0.30.28, 0.32.18'],
  },
  {
    id: 'permission-decision',
    title: 'A decision on a call of an unfinished turn',
    stores: ['listener-state'],
    proves: 'The record of the unfinished turn holds this decision on the call.',
    does_not_prove: [
      FILE_TIME,
      'That calls without such a row were allowed by a person: an approved call shows as its result only.',
      'Who decided.',
    ],
    citation: ['letta-stores 4.11', 'observed 0.32.18'],
  },
  {
    id: 'session-synced-conversation',
    title: 'A conversation kept on a server',
    stores: ['transcripts'],
    proves:
      'A transcript of this conversation of a server agent lies in this home: its turns were sent to a Letta server and completed here.',
    does_not_prove: [
      'That the server still holds it: a deletion there changes nothing here.',
      'Which server it was: the server is that of the settings entry for the agent, as it is now; - means that there is none.',
      DEFAULT_CONVERSATION,
    ],
    citation: ['letta-stores 4.1', 'letta-stores 4.7', 'letta-stores 5.8'],
  },
  {
    id: 'session-synced-last-session',
    title: 'The last session on a server',
    stores: ['settings'],
    proves: 'When the file was last written, this was the last conversation used on this server from here.',
    does_not_prove: [
      FILE_TIME,
      'That it was the only one: one session is kept for each server, never a list.',
      'When it was last used: an unchanged session is not written again.',
      DEFAULT_CONVERSATION,
    ],
    citation: ['letta-stores 4.7', 'observed 0.32.18'],
  },
  {
    id: 'session-synced-harness',
    title: 'A session of another coding agent that was sent to Letta',
    stores: ['claude-subconscious'],
    proves: 'This session of the other agent was connected to this Letta conversation, and its transcript was handed over up to this line.',
    does_not_prove: [
      'That nothing was sent where sent_to is -1: the file is overwritten at each start of the session, also when it is resumed.',
      'That all of each line left the machine: long texts were cut before sending.',
      'That it happened on this machine: these files have been checked in to repositories.',
    ],
    citation: ['letta-stores 7', 'claude-subconscious 365e7e6 scripts/conversation_utils.ts'],
  },
  {
    id: 'session-synced-route',
    title: 'A session of another coding agent that is routed to Letta',
    stores: ['subconscious-state'],
    proves: 'The broker had a route from this session to this Letta agent and conversation.',
    does_not_prove: [ROUTE_ONLY, 'That the form of the file is known: it was read in source, not seen.'],
    citation: ['claude-subconscious a401a1e packages/core/paths.ts'],
  },
  {
    id: 'subconscious-agent',
    title: 'The agent that Claude Subconscious uses',
    stores: ['claude-subconscious-config'],
    proves: 'The plugin imported this agent, which receives sessions by default.',
    does_not_prove: ['That this agent received a given session: LETTA_AGENT_ID overrides it.'],
    citation: ['letta-stores 7', 'claude-subconscious 365e7e6 scripts/agent_config.ts:40-44'],
  },
  {
    id: 'session-relayed',
    title: 'A route from a chat to a conversation',
    stores: ['channels'],
    proves: 'Messages of this chat were to go to this agent and conversation, from the time at which the route was made.',
    does_not_prove: [
      ROUTE_ONLY,
      'That the route was in use all the time: enabled is its last state.',
      'At a file time: when the route was made.',
      DEFAULT_CONVERSATION,
    ],
    citation: ['letta-stores 4.12', 'observed 0.32.18'],
  },
  {
    id: 'scheduled-task',
    title: 'A scheduled task',
    stores: ['crons'],
    proves: 'A task with this prompt stood in the schedule when the file was last written; created_at says since when.',
    does_not_prove: [
      'That it ran: it runs only while a scheduler runs. outcome=queued means that the prompt was put in the queue, not that the turn was done.',
      'That there were no others: one that was fired once, missed or cancelled disappears a day later, a deleted one at once. Its run log stays.',
      'Which conversation it ran in, when that is new: each run starts a fresh one.',
      DEFAULT_CONVERSATION,
    ],
    citation: ['letta-stores 4.10', 'observed 0.32.18'],
  },
  {
    id: 'scheduled-task-run',
    title: 'The scheduler handled a task that came due',
    stores: ['runs'],
    proves: 'The scheduler handled this task at this time, and how: queued, missed, skipped or failed.',
    does_not_prove: [
      'That anything was executed: status=ok and outcome=queued say that the prompt was put in the queue. A recorded task for a conversation that does not exist was logged the same way.',
      'That the task still exists: the log outlives it.',
      'Which conversation the run made, when that is new.',
      DEFAULT_CONVERSATION,
    ],
    citation: ['letta-stores 4.10', 'observed 0.32.18'],
  },
  {
    id: 'interrupted-turn',
    title: 'A turn of the listener that did not end in order',
    stores: ['listener-state'],
    proves: 'A turn was started for this agent and conversation and had not ended in order when the file was last written.',
    does_not_prove: [
      'Why: the leftover means an error, a crash, or a turn that was still running when the evidence was taken.',
      FILE_TIME,
      'That no tool ran where results=0: nothing had been recorded yet.',
      DEFAULT_CONVERSATION,
    ],
    citation: ['letta-stores 4.11', 'observed 0.32.18'],
  },
  {
    id: 'compaction',
    title: 'Earlier messages were summed up',
    stores: ['messages', 'messages-backup'],
    proves: 'At this point the program replaced earlier messages, as far as the model sees them, by this summary.',
    does_not_prove: [
      'That anything was deleted: a compaction removes nothing from the file. A change of model after it does.',
      'That the summary is right: a model wrote it.',
    ],
    citation: ['letta-stores 4.4', 'letta-stores 5.4', 'observed 0.32.18'],
  },
  {
    id: 'error',
    title: 'A provider call that ended in an error or was aborted',
    stores: ['messages', 'messages-backup'],
    proves: 'The stored answer says that the call ended in this error, or was aborted.',
    does_not_prove: ['That other turns had no error: a turn that fails altogether leaves its prompt only.'],
    citation: ['letta-stores 4.4', 'letta-stores 5.6'],
  },
  {
    id: 'parser',
    title: 'Something that could not be read',
    stores: ['any'],
    proves:
      'The named file or line holds bytes that this program could not read as the record it knows. What could be read of it has rows of its own.',
    does_not_prove: [
      'That someone damaged it: a crash, a full disk or a copy of a running program leave torn lines too.',
      'That nothing is in it: look at the bytes (explain --row FILE:LINE).',
    ],
    citation: ['rows, What could not be read'],
  },
]

/** Texts of the sibling agents. */
const siblings: Meaning[] = [
  {
    id: 'conversation-compacted',
    title: 'Earlier messages were summed up',
    stores: ['claude-code/projects', 'claude-code/subagents'],
    proves: 'At this point the conversation was compacted, by command or by itself (trigger), when it had this many tokens.',
    does_not_prove: ['That anything was deleted: the earlier lines stay in the file.'],
    citation: ['pi-and-claude-code 2'],
  },
  {
    id: 'permission-outcome',
    title: 'A call was allowed or refused',
    stores: ['claude-code/projects', 'claude-code/subagents'],
    proves: 'The record of the result says that the call was allowed or refused, and by whom or what (source).',
    does_not_prove: ['That calls without such a row were allowed by a person: rules and modes allow without asking.'],
    citation: ['pi-and-claude-code 2'],
  },
  {
    id: 'session-summary',
    title: 'A summary of earlier turns',
    stores: ['claude-code/projects', 'claude-code/subagents'],
    proves: 'The program put this summary in the place of earlier turns, as far as the model sees them.',
    does_not_prove: ['That the summary is right: a model wrote it.', 'That a person typed it, although it stands as a user message.'],
    citation: ['pi-and-claude-code 2'],
  },
  {
    id: 'interrupted',
    title: 'The user interrupted a turn',
    stores: ['claude-code/projects', 'claude-code/subagents'],
    proves: 'The program noted that the turn was interrupted at this point.',
    does_not_prove: ['That a call which had begun had no effect.'],
    citation: ['pi-and-claude-code 2'],
  },
  {
    id: 'local-output',
    title: 'Output of a command of the program',
    stores: ['claude-code/projects', 'claude-code/subagents'],
    proves: 'The program showed this as the output of a slash command or shell command of the user.',
    does_not_prove: ['That the model asked for it.'],
    citation: ['pi-and-claude-code 2'],
  },
  {
    id: 'notice',
    title: 'A notice of the program',
    stores: ['claude-code/projects', 'claude-code/subagents'],
    proves: 'The program recorded this notice (details.subtype says of what kind).',
    does_not_prove: ['That the model or the user saw it.'],
    citation: ['pi-and-claude-code 2'],
  },
  {
    id: 'custom-message',
    title: 'A text that an extension put into the conversation',
    stores: ['pi/sessions'],
    proves: 'Code of an extension sent this text to the model (details.custom_type names its kind).',
    does_not_prove: ['That a person wrote or saw it.'],
    citation: ['pi-and-claude-code 1.4'],
  },
  {
    id: 'session-name',
    title: 'The session was given a name',
    stores: ['pi/sessions', 'claude-code/projects', 'claude-code/custom-titles'],
    proves: 'The record holds this name for the session.',
    does_not_prove: ['That a person chose it: programs name sessions too.', 'That it is the last one, where a session has several.'],
    citation: ['pi-and-claude-code 1.4', 'pi-and-claude-code 2'],
  },
  {
    id: 'label',
    title: 'An entry was bookmarked',
    stores: ['pi/sessions'],
    proves: 'The entry that is named was given this label, or lost it (-).',
    does_not_prove: ['Anything about what the entry says.'],
    citation: ['pi-and-claude-code 1.4'],
  },
  {
    id: 'thinking-level',
    title: 'How much the model was to think',
    stores: ['pi/sessions'],
    proves: 'From here on the program asked for this level of thinking.',
    does_not_prove: ['That a person changed it: it is written at the start of a session too.', 'That the provider kept to it.'],
    citation: ['pi-and-claude-code 1.4'],
  },
  {
    id: 'context-edit',
    title: 'An entry was hidden from the model, or replaced for it',
    stores: ['pi/sessions'],
    proves: 'From here on the model no longer saw the entry as it was recorded.',
    does_not_prove: ['That the entry was deleted: it stays in the file.', 'What the model had seen of it before.'],
    citation: ['pi-and-claude-code 1.4'],
  },
  {
    id: 'branch-summary',
    title: 'A branch of the session was left, with a summary of it',
    stores: ['pi/sessions'],
    proves: 'The session went on from an earlier entry; the branch that was left stays in the file.',
    does_not_prove: [
      'That the summary is right: a model wrote it.',
      'Which entry was left, in releases in which from names the entry that was branched from.',
    ],
    citation: ['pi-and-claude-code 1.4'],
  },
  {
    id: 'system-prompt',
    title: 'The instructions of the model were set or changed',
    stores: ['pi/sessions'],
    proves: 'These parts of the instructions, and these tools, were given to the model from here on. The record holds them whole.',
    does_not_prove: ['That a tool was used.', 'That the instructions were followed.'],
    citation: ['pi-and-claude-code 1.5'],
  },
]

/** Small texts that stand in the place of something that is not text. */
const placeholders: Meaning[] = [
  {
    id: 'redacted-thinking',
    title: 'Reasoning that the provider withheld',
    stores: ['messages', 'messages-backup'],
    proves: 'The record holds reasoning in a form that only the provider can read.',
    does_not_prove: ['What was thought.'],
    citation: ['letta-stores 4.4'],
  },
  {
    id: 'image',
    title: 'An image in a message',
    stores: ['messages', 'messages-backup'],
    proves: 'The record holds an image of this type in this place; its bytes are in the record.',
    does_not_prove: ['What it shows: open the record (explain --row FILE:LINE).', 'That a person chose it: tools return images too.'],
    citation: ['letta-stores 4.4', 'rows, messages.jsonl'],
  },
  {
    id: 'tool-return-error',
    title: 'A call of an unfinished turn that returned an error',
    stores: ['listener-state'],
    proves: 'The record of the unfinished turn holds this as the result of the call, with the status error.',
    does_not_prove: [FILE_TIME, 'That the call had no effect before it failed.'],
    citation: ['letta-stores 4.11', 'rows, listener-state'],
  },
]

/** Every kind of row and what it proves: quoted by `explain` and the report. */
export const meanings: readonly Meaning[] = [...turns, ...texts, ...siblings, ...placeholders]

export function meaning(id: string): Meaning | undefined {
  return meanings.find((one) => one.id === id)
}

/** Which rows files of an agent's store give; rows of some stores go by another store's name. */
export function meaningsOf(agent: string, store: string): Meaning[] {
  const named = ROWS_SAY[store] ?? store
  const qualified = agent === LETTA ? named : `${agent}/${named}`
  return meanings.filter(({ stores }) => stores.includes(qualified))
}

/** Stores without an agent before them are those of Letta Code. */
const LETTA = 'letta'

/** Stores whose rows carry another store's id: the same file in another place. */
const ROWS_SAY: Readonly<Record<string, string>> = {
  'project-settings': 'settings',
  'claude-subconscious-home': 'claude-subconscious',
}
