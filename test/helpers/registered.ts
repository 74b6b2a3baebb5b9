import { fileURLToPath } from 'node:url'
import register from '../../src/hooks/register.js'
import type { Parser, ParserClass } from '../../src/parsers/index.js'

/** Every parser that this package registers, as the hook gives it; its module is loaded from the source under test. */
export async function registeredParsers(): Promise<Parser[]> {
  const registrations = await register()
  return Promise.all(
    registrations.map(async ({ entry, module, export: name = 'default' }) => {
      const loaded = (await import(fileURLToPath(module).replace(/\.js$/, '.ts'))) as Record<string, ParserClass>
      return new loaded[name]!(entry)
    }),
  )
}
