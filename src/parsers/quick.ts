import { z } from 'zod'
import { isObject, type JsonObject } from './json.js'

/** Whether a value is of a schema's shape, without making anything: most records are, and then need no more of zod. */
type Check = (value: unknown) => boolean

const compiled = new WeakMap<z.ZodType, Check>()

/** The check of a record schema; true only where the schema itself would accept. Schemas of records transform nothing. */
export function quickCheck(schema: z.ZodType): Check {
  let check = compiled.get(schema)
  if (!check) compiled.set(schema, (check = compile(schema)))
  return check
}

function compile(schema: z.ZodType): Check {
  if (schema instanceof z.ZodUnknown) return () => true
  if (schema instanceof z.ZodOptional) return orElse((value) => value === undefined, quickCheck(schema.unwrap() as z.ZodType))
  if (schema instanceof z.ZodNullable) return orElse((value) => value === null, quickCheck(schema.unwrap() as z.ZodType))
  if (schema instanceof z.ZodUnion) return (schema.options as z.ZodType[]).map(quickCheck).reduceRight((rest, first) => orElse(first, rest))
  if (schema instanceof z.ZodObject) return objectCheck(schema.shape as Record<string, z.ZodType>)
  if (schema instanceof z.ZodArray) return arrayCheck(schema.element as z.ZodType)
  if (isPlain(schema, z.ZodString)) return (value) => typeof value === 'string'
  if (isPlain(schema, z.ZodNumber)) return Number.isFinite
  if (schema instanceof z.ZodBoolean) return (value) => typeof value === 'boolean'
  return (value) => schema.safeParse(value).success
}

function orElse(first: Check, second: Check): Check {
  return (value) => first(value) || second(value)
}

function objectCheck(shape: Record<string, z.ZodType>): Check {
  const fields = Object.entries(shape).filter(([, schema]) => !(schema instanceof z.ZodOptional && schema.unwrap() instanceof z.ZodUnknown))
  const names = fields.map(([name]) => name)
  const checks = fields.map(([, schema]) => quickCheck(schema))
  return (value) => {
    if (!isObject(value)) return false
    for (let i = 0; i < names.length; i++) if (!checks[i]!((value as JsonObject)[names[i]!])) return false
    return true
  }
}

function arrayCheck(element: z.ZodType): Check {
  if (element instanceof z.ZodUnknown) return Array.isArray
  const check = quickCheck(element)
  return (value) => Array.isArray(value) && value.every(check)
}

/** A type without further checks (a length, a pattern). */
function isPlain(schema: z.ZodType, type: typeof z.ZodString | typeof z.ZodNumber): boolean {
  return schema instanceof type && (schema.def.checks ?? []).length === 0
}
