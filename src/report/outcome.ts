import type { Row } from '../rows/index.js'

/** What became of a tool call, as far as its result says. */
export const OUTCOMES = ['ran', 'failed', 'denied', 'cancelled', 'interrupted', 'closed', 'not recorded'] as const
export type Outcome = (typeof OUTCOMES)[number]

/** Results that the programs write themselves (letta-stores 5.6; seen in 0.25.9 to 0.32.18), and what they mean. */
const WRITTEN: readonly { readonly text: RegExp; readonly outcome: Outcome }[] = [
  { text: /^User cancelled the approval|^(?:Approval )?[Cc]ancelled$/, outcome: 'cancelled' },
  { text: /^Interrupted by user|^\[Request interrupted by user|^Stream error$/, outcome: 'interrupted' },
  { text: /^Auto-denied: stale approval|^The agent harness automatically closed this stale pending tool call/, outcome: 'closed' },
  { text: /^Permission denied: \S{1,80} tool missing required parameter/, outcome: 'failed' },
  {
    text: /^Error: request to call tool denied|^Tool execution denied|^The user doesn't want to proceed with this tool use/,
    outcome: 'denied',
  },
]

/** A local store says only of calls that did not run that they are errors; one that ran and failed shows it in its text (letta-stores 5.6). */
const FAILED_TEXT = /^(?:Exit code: [1-9]|Error[: ]|File does not exist\b|Tool not found: |\[error\])/

export function outcomeOf(result: Row): Outcome {
  const { is_error, result_ok, store } = result.details as { is_error?: unknown; result_ok?: unknown; store: string }
  const refused = is_error === true || result_ok === false
  const written = refused ? WRITTEN.find(({ text }) => text.test(result.text)) : undefined
  if (written) return written.outcome
  if (is_error === true) return result.agent === 'letta' && store.startsWith('messages') ? 'denied' : 'failed'
  if (result_ok === false || (result_ok !== true && FAILED_TEXT.test(result.text))) return 'failed'
  return result_ok === null ? 'not recorded' : 'ran'
}

/** Whether a call went as far as being carried out. */
export function wasCarriedOut(outcome: Outcome): boolean {
  return outcome === 'ran' || outcome === 'failed'
}
