/** Makes the one executable file: `npm run dist [-- DIRECTORY]`. */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundle } from './bundle.js'
import { silence } from './carrier.js'
import { prove } from './proof.js'

/** Where Node looks whether it carries an application, and by which names it finds it (nodejs.org, Single executable applications). */
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2'
const RESOURCE = 'NODE_SEA_BLOB'
const SEGMENT = 'NODE_SEA'
const APPLICATION = 'application.blob'

const postject = createRequire(import.meta.url).resolve('postject/dist/cli.js')
const root = fileURLToPath(new URL('../..', import.meta.url))
const target = path.resolve(process.argv[2] ?? path.join(root, 'dist-bin'))
const name = `agent-forensics-${process.platform}-${process.arch}${process.platform === 'win32' ? '.exe' : ''}`
const workshop = mkdtempSync(path.join(os.tmpdir(), 'agent-forensics-dist-'))

try {
  const binary = path.join(workshop, name)
  const silenced = carrier(binary)
  await application()
  node(postject, name, RESOURCE, APPLICATION, '--sentinel-fuse', FUSE, '--macho-segment-name', SEGMENT)
  if (process.platform === 'darwin') execFileSync('codesign', ['--sign', '-', binary])
  prove(binary, workshop)
  publish(binary)
  console.log(`${path.join(target, name)}: node ${process.versions.node}, deaf to ${silenced.join(', ')}`)
} finally {
  rmSync(workshop, { recursive: true, force: true })
}

/** This Node, silenced. */
function carrier(binary) {
  copyFileSync(process.execPath, binary)
  chmodSync(binary, 0o755)
  if (process.platform === 'darwin') execFileSync('codesign', ['--remove-signature', binary])
  const bytes = readFileSync(binary)
  if (!process.getBuiltinModule || !bytes.includes(FUSE))
    throw new Error(`${process.execPath} cannot carry an application: build with Node 20.16 or later from nodejs.org`)
  const silenced = silence(bytes)
  writeFileSync(binary, bytes)
  return silenced
}

/** The program as Node wants it. Names are relative, so that the same sources give the same bytes wherever they are built. */
async function application() {
  writeFileSync(path.join(workshop, 'main.cjs'), await bundle(root))
  const config = {
    main: 'main.cjs',
    output: APPLICATION,
    disableExperimentalSEAWarning: true,
    execArgvExtension: 'none',
  }
  writeFileSync(path.join(workshop, 'config.json'), JSON.stringify(config))
  node('--experimental-sea-config', 'config.json')
}

/** Runs Node in the workshop; what it says matters only when it fails. */
function node(...args) {
  execFileSync(process.execPath, args, { cwd: workshop, env: { ...process.env, NODE_OPTIONS: '' }, stdio: ['ignore', 'ignore', 'pipe'] })
}

/** Beside the file goes its SHA-256, in the form that `sha256sum -c` reads. */
function publish(binary) {
  mkdirSync(target, { recursive: true })
  copyFileSync(binary, path.join(target, name))
  const hash = createHash('sha256').update(readFileSync(binary)).digest('hex')
  writeFileSync(path.join(target, `${name}.sha256`), `${hash}  ${name}\n`)
}
