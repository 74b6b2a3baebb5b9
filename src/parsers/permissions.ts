import { phrases, recordedKeys, type Row } from '../rows/index.js'
import type { FileRows } from './file-rows.js'

/**
 * The rows of a settings file's `permissions`: one for each element of a list, one for any other value, the keys in the order in which
 * they are shown, any other key after them as recorded (rows.md, Permission settings). The time is the file's last change, not a rule's.
 */
export function permissionRows(permissions: Record<string, unknown>, shownFirst: readonly string[], rows: FileRows): Row[] {
  const recorded = recordedKeys(permissions)
  const keys = [...shownFirst.filter((key) => recorded.includes(key)), ...recorded.filter((key) => !shownFirst.includes(key))]
  return keys.flatMap((key) => {
    const value = permissions[key]
    return (Array.isArray(value) ? value : [value]).map((entry) => permissionRow(key, entry, rows))
  })
}

function permissionRow(key: string, value: unknown, rows: FileRows): Row {
  const values = { key, value, file: rows.file.shortPath }
  return rows.system(rows.atMtime(), 'permission-setting', phrases.permissionSetting.say(values), values, {
    project_path: rows.file.project,
  })
}
