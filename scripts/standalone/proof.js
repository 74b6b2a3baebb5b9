/** An executable that heeds a planted variable is not handed out. */
import { spawnSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import path from 'node:path'

/** @param {string} binary @param {string} directory a place of our own for what is planted */
export function prove(binary, directory) {
  const plant = path.join(directory, 'plant.cjs')
  const trace = path.join(directory, 'trace')
  writeFileSync(plant, `require('node:fs').writeFileSync(${JSON.stringify(trace)}, '')`)
  const env = {
    ...process.env,
    NODE_OPTIONS: `--require ${JSON.stringify(plant)}`,
    NODE_REPL_EXTERNAL_MODULE: plant,
    NODE_V8_COVERAGE: trace,
    NODE_COMPILE_CACHE: trace,
    OPENSSL_CONF: plant,
  }
  const { status, stderr } = spawnSync(binary, ['--version'], { encoding: 'utf8', env })
  if (status !== 0) throw new Error(`the executable does not run: ${stderr}`)
  if (existsSync(trace)) throw new Error('the executable does what the environment says')
}
