import { z } from 'zod'
import { isAbsent, printed } from '../../rows/index.js'
import { jsonStore } from '../store.js'

/**
 * settings.json of the user or a project (pi-and-claude-code 1.2; seen in 0.73.1, 1.6.0): preferences, no rules, so no rows. But where it
 * moves the sessions, those are not at their usual place, and nobody should take that for none.
 */
const SettingsFile = z.record(z.string(), z.unknown())

export const settings = jsonStore({
  id: 'settings',
  record: SettingsFile,
  rows({ record, complain }, rows) {
    rows.tally.headers++
    if (!isAbsent(record.sessionDir)) complain(`keeps sessions in ${printed(record.sessionDir)}: --pi-session-dir reads them from there`)
    return []
  },
})
