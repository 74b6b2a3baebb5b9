import { compactJson, recordedKeys } from '../../rows/index.js'
import { isObject, parseLossless, type JsonObject } from '../json.js'

/** Keys whose value says what a tool call is about, the most telling first (pi-and-claude-code 3). No tool name is looked at. */
const TELLING_KEYS =
  'file_path notebook_path filePath old_path command cmd pattern query url uri path dir_path include code input skill message subject title description prompt plan explanation label chars taskId task_id shell_id bash_id id action name'.split(
    ' ',
  )

/**
 * The argument summary: one rule for pi, letta and claude-code tools (pi-and-claude-code 3).
 *
 * @param args the arguments as recorded: an object, or the text of one
 * @param lossless the same arguments with recorded digits and key order, asked for only where those would show; undefined when they cannot be told
 */
export function argumentSummary(args: unknown, lossless: () => unknown = () => args): string {
  if (typeof args === 'string') return summaryOfText(args)
  if (!isObject(args)) return args === undefined ? '' : compactJson(lossless() ?? args)
  return telling(args) ?? plainly(exact(lossless(), args))
}

/** The lossless reading, where there is one. */
function exact(lossless: unknown, args: JsonObject): JsonObject {
  return isObject(lossless) ? lossless : args
}

function summaryOfText(text: string): string {
  let value: unknown
  try {
    value = parseLossless(text)
  } catch {
    return text
  }
  return typeof value === 'string' ? value : argumentSummary(value)
}

function telling(args: JsonObject): string | undefined {
  for (const key of TELLING_KEYS) {
    const value = args[key]
    if (typeof value === 'string' && value !== '') return value
    if (Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'string')) return value.join(' ')
  }
  return undefined
}

function plainly(args: JsonObject): string {
  const keys = recordedKeys(args)
  const first = keys.find((key) => typeof args[key] === 'string' && args[key] !== '')
  if (first !== undefined) return args[first] as string
  return keys.length === 0 ? '' : compactJson(args)
}
