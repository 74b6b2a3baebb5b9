import { isAbsent, printed } from '../rows/index.js'

/** A value as a column holds it: as recorded, empty when absent. */
export function columnText(value: unknown): string {
  return isAbsent(value) ? '' : printed(value)
}
