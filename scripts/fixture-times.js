/** Gives the fixtures the file times of the evidence they came from: git does not keep them, MTIMES files do. */
import { existsSync, lutimesSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const fixtures = fileURLToPath(new URL('../fixtures', import.meta.url))

function* timeLists(directory) {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const at = path.join(directory, entry.name)
    if (entry.isDirectory() && entry.name !== 'home') yield* timeLists(at)
    else if (entry.name === 'MTIMES') yield at
  }
}

if (existsSync(fixtures)) {
  for (const list of timeLists(fixtures)) {
    for (const line of readFileSync(list, 'utf8').split('\n')) {
      const [time, file] = line.split('\t')
      if (!file) continue
      const seconds = Date.parse(`${time.slice(0, 19)}Z`) / 1000 + Number(/\.\d+/.exec(time)?.[0] ?? 0)
      lutimesSync(path.join(path.dirname(list), file), seconds, seconds)
    }
  }
}
