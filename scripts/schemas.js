/** Writes the JSON Schemas of everything that leaves the program as JSON; with --check, only says whether they are current. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { jsonSchemaOf, published } from '../dist/schemas.js'

const directory = new URL('../schemas/', import.meta.url)
const check = process.argv.includes('--check')
mkdirSync(directory, { recursive: true })

const stale = Object.entries(published).filter(([name, schema]) => {
  const file = new URL(`${name}.schema.json`, directory)
  const text = `${JSON.stringify(jsonSchemaOf(schema), null, 2)}\n`
  if (check) return read(file) !== text
  writeFileSync(file, text)
  return false
})

for (const [name] of stale) console.error(`schemas/${name}.schema.json is not current: run npm run generate`)
process.exitCode = stale.length > 0 ? 1 : 0

function read(file) {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
