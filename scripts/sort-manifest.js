/** Puts the commands of oclif.manifest.json in order: oclif lists them as their files happen to load, and the file is checked to be current. */
import { readFileSync, writeFileSync } from 'node:fs'

const file = new URL('../oclif.manifest.json', import.meta.url)
const manifest = JSON.parse(readFileSync(file, 'utf8'))
manifest.commands = Object.fromEntries(Object.entries(manifest.commands).sort(([a], [b]) => (a < b ? -1 : 1)))
writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`)
