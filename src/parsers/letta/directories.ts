import { z } from 'zod'
import { keyed } from '../shapes.js'
import { jsonStore } from '../store.js'
import type { Knowledge } from './knowledge.js'

/**
 * remote-settings.json and, before 0.19.0, cwd-cache.json: which conversation ran in which directory (letta-stores 4.8). Maps for other
 * rows, no rows of their own.
 */
const RemoteSettings = z.looseObject({
  cwdMap: keyed.nullish(),
  permissionModeMap: keyed.nullish(),
  cwdRepairJournalIds: z.array(z.unknown()).nullish(),
})

export const remoteSettings = (knowledge: Knowledge) =>
  jsonStore({
    id: 'remote-settings',
    record: RemoteSettings,
    rows({ record }, rows) {
      rows.tally.headers++
      note(record.cwdMap ?? {}, 'remote-settings.json', knowledge)
      return []
    },
  })

export const cwdCache = (knowledge: Knowledge) =>
  jsonStore({
    id: 'cwd-cache',
    record: keyed,
    rows({ record }, rows) {
      rows.tally.headers++
      note(record, 'cwd-cache.json', knowledge)
      return []
    },
  })

function note(map: Record<string, unknown>, from: 'remote-settings.json' | 'cwd-cache.json', knowledge: Knowledge): void {
  for (const [scope, directory] of Object.entries(map)) if (typeof directory === 'string') knowledge.noteDirectory(scope, directory, from)
}
