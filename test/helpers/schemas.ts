import { Ajv2020 } from 'ajv/dist/2020.js'
import type { z } from 'zod'
import { jsonSchemaOf } from '../../src/schemas.js'

/** Checks a value, as it leaves the program, against the JSON Schema that is published for it. Gives the errors. */
export function validator(schema: z.ZodType): (value: unknown) => string[] {
  const check = new Ajv2020({ strict: false, allErrors: true }).compile(jsonSchemaOf(schema))
  return (value) => {
    check(JSON.parse(JSON.stringify(value)))
    return (check.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`)
  }
}
