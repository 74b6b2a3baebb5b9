import { phrases, printed } from '../../rows/index.js'
import type { JsonObject } from '../json.js'
import type { Turn } from '../file-rows.js'
import { lookUp } from '../table.js'

/** What the line of a tool's result says of the permission for its call. */
export interface Decided {
  readonly permissionDecision?: JsonObject | null
  readonly toolDenialKind?: string | null
  readonly toolDenialBeforeRun?: boolean | null
}

const DECISIONS: Record<string, string> = { accept: 'approve', reject: 'deny' }
const USER_REJECTED = 'user-rejected'

/**
 * Whether a call was allowed, and by what (pi-and-claude-code 2.3; seen in 2.1.332); undefined where the line does not say. A headless run
 * denies what no rule allows under the name `user-rejected`, though nobody was asked: `details.decided_by` tells the two apart.
 */
export function decisionTurn(line: Decided, file: string): Turn | undefined {
  const { permissionDecision: decided, toolDenialKind: denial } = line
  if (!decided && !denial) return undefined
  const decision = decided ? (lookUp(DECISIONS, decided.decision) ?? printed(decided.decision)) : 'deny'
  const source = decided ? decided.source : denial === USER_REJECTED ? 'user' : undefined
  const values = { decision, reason: decided?.reasonCode ?? denial, source, file }
  const details = {
    kind: 'permission-decision',
    ...values,
    decided_by: decidedBy(line),
    reason_type: decided?.reasonType,
    rule_source: decided?.ruleSource,
    grant_scope: decided?.grantScope,
    denial_kind: denial ?? undefined,
  }
  return { turn_type: 'system', text: phrases.permissionOutcome.say(values), details }
}

function decidedBy({ permissionDecision: decided, toolDenialKind: denial }: Decided): string {
  if (!decided) return denial === USER_REJECTED ? 'user' : 'not-determined'
  if (decided.source === 'user_temporary' || decided.source === 'user_permanent' || decided.source === 'user_reject') return 'user'
  if (decided.source === 'config') return denial === USER_REJECTED ? 'nobody' : 'configuration'
  return 'not-determined'
}
