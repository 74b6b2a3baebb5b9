import { z } from 'zod'
import { RecordedNumber } from '../rows/index.js'
import { isObject, type JsonObject } from './json.js'

/** Shapes that records share. Absent and null are the same to us: what the programs leave out, later releases may write as null. */
const number = z.union([z.number(), z.instanceof(RecordedNumber)])

export const optionalText = z.string().nullish()
export const optionalNumber = number.nullish()
export const optionalFlag = z.boolean().nullish()
/** A recorded time: ISO text or a number of milliseconds. */
export const optionalTime = z.union([z.string(), number]).nullish()
/** An id: text, though some programs write numbers. */
export const optionalId = z.union([z.string(), number]).nullish()
export const optionalTexts = z.array(z.unknown()).nullish()

/** Keys that are known and give no row. */
export function known(names: string): Record<string, z.ZodOptional<z.ZodUnknown>> {
  return Object.fromEntries(names.split(/\s+/).map((name) => [name, z.unknown().optional()]))
}

/** An object whose keys are data, taken as it is: a copy would lose the key `__proto__` and the recorded order of keys. */
export const keyed = z.custom<JsonObject>(isObject, 'not an object')
