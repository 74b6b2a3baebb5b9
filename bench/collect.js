// Wall time of `letta collect` against `cp -a` plus `sha256sum` of the same tree, in one run: `node bench/collect.js [files] [megabytes]`.
// Needs a build. Each is run ROUNDS times in turn, the medians count; the pages of the tree are read once before.
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const [files = 5000, megabytes = 1000] = process.argv.slice(2).map(Number)
const ROUNDS = 3
const BIN = fileURLToPath(new URL('../bin/run.js', import.meta.url))

const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'agent-forensics-bench-'))
process.on('exit', () => fs.rmSync(scratch, { recursive: true, force: true }))
const home = path.join(scratch, 'home/alice')

/** Conversations of one size, as text that compresses like none does: what is measured is reading, hashing and writing. */
function makeTree() {
  const bytes = Math.floor((megabytes * 1e6) / files)
  for (let i = 0; i < files; i++) {
    const directory = path.join(home, '.letta/lc-local-backend/conversations', `conversation-${i}`)
    fs.mkdirSync(directory, { recursive: true })
    const header = `{"type":"session","version":3,"id":"local-conv-${i}","cwd":"/home/alice/p"}\n`
    fs.writeFileSync(path.join(directory, 'messages.jsonl'), header + randomBytes(bytes >> 1).toString('hex'))
  }
}

function seconds(program, args) {
  const start = process.hrtime.bigint()
  execFileSync(program, args, { stdio: ['ignore', 'ignore', 'inherit'], maxBuffer: 1 << 30 })
  return Number(process.hrtime.bigint() - start) / 1e9
}

const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1]

function round(i) {
  const copy = path.join(scratch, `copy-${i}`)
  const output = path.join(scratch, `package-${i}`)
  const cp = seconds('cp', ['-a', home, copy])
  const sums = seconds('sh', ['-c', `find '${home}' -type f -print0 | xargs -0 sha256sum`])
  fs.rmSync(copy, { recursive: true })
  const collect = seconds(process.execPath, [BIN, 'letta', 'collect', '--home', home, '--output', output])
  fs.rmSync(output, { recursive: true })
  return { floor: cp + sums, collect }
}

makeTree()
seconds('sh', ['-c', `find '${home}' -type f -print0 | xargs -0 cat`])
const rounds = Array.from({ length: ROUNDS }, (_, i) => round(i))
const floor = median(rounds.map((one) => one.floor))
const collect = median(rounds.map((one) => one.collect))
console.log(JSON.stringify({ files, megabytes, floor, collect, ratio: collect / floor, limit: 2.0 }))
process.exitCode = collect / floor <= 2.0 ? 0 : 1
