/**
 * Measures speed as ratios: each of our commands in turn with a bare reference on the same files, medians of several rounds in one run.
 * `npm run bench [-- --megabytes 100 --rounds 3]`; the figures and the machine go to bench/results/<time>.json.
 */
import { spawn } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { generateHome } from './generate.js'

const here = path.dirname(fileURLToPath(import.meta.url))
const { values } = parseArgs({ options: { megabytes: { type: 'string', default: '100' }, rounds: { type: 'string', default: '3' } } })
const megabytes = Number(values.megabytes)
const rounds = Number(values.rounds)

const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'agent-forensics-bench-'))
process.on('exit', () => fs.rmSync(scratch, { recursive: true, force: true }))

const home = (name, options) => {
  const directory = path.join(scratch, name)
  generateHome(directory, options)
  return directory
}
const messagesOf = (directory) => {
  const conversations = path.join(directory, '.letta/lc-local-backend/conversations')
  return fs.readdirSync(conversations).map((name) => path.join(conversations, name, 'messages.jsonl'))
}
const bytesOf = (files) => files.reduce((sum, file) => sum + fs.statSync(file).size, 0)

const small = home('small', { megabytes: megabytes / 4 })
const large = home('large', { megabytes })
const many = home('many', { megabytes: 40, conversations: 20_000 })
const one = home('one', { megabytes: bytesOf(messagesOf(many)) / 1e6 })

const node = (...args) => [process.execPath, ...args]
const ours = (directory, ...args) => node(path.join(here, '../bin/run.js'), 'letta', 'parse', '--home', directory, ...args)
const out = (ending) => ['--output', path.join(scratch, `rows.${ending}`), '--force']
const floor = (directory) => node(path.join(here, 'floor.js'), ...messagesOf(directory))

const pairs = [
  { name: 'parse to CSV file / floor', a: ours(large, ...out('csv')), b: floor(large), limit: 4 },
  { name: 'parse to JSONL file / floor', a: ours(large, ...out('jsonl')), b: floor(large), limit: 4 },
  { name: 'parse to CSV pipe / floor', a: ours(large, '--format', 'csv'), b: floor(large), limit: 4 },
  { name: '20,000 conversations / one file of the same bytes', a: ours(many, ...out('csv')), b: ours(one, ...out('csv')), limit: 4 },
  {
    name: `memory: ${megabytes} MB / ${megabytes / 4} MB`,
    a: ours(large, ...out('csv')),
    b: ours(small, ...out('csv')),
    memory: true,
    limit: 1.25,
  },
  { name: 'letta --help / node -e 0', a: node(path.join(here, '../bin/run.js'), 'letta', '--help'), b: node('-e', '0'), limit: 4 },
]

const results = []
for (const pair of pairs) {
  const measured = await measure(pair)
  results.push(measured)
  console.log(
    `${measured.name}: ${measured.ratio.toFixed(2)} (limit ${measured.limit}); wall ${measured.seconds.toFixed(2)} s, peak ${measured.peak_mb.toFixed(0)} MB`,
  )
}

const machine = { node: process.version, platform: process.platform, arch: process.arch, cpu: os.cpus()[0]?.model, cores: os.cpus().length }
const record = { taken: new Date().toISOString(), megabytes, rounds, machine, results }
fs.mkdirSync(path.join(here, 'results'), { recursive: true })
fs.writeFileSync(path.join(here, 'results', `${record.taken.replaceAll(':', '-')}.json`), `${JSON.stringify(record, null, 2)}\n`)

/** A and B in turn, after a warm-up each. */
async function measure({ name, a, b, memory = false, limit }) {
  await time(a)
  await time(b)
  const runs = []
  for (let round = 0; round < rounds; round++) runs.push([await time(a), await time(b)])
  const ratio = median(runs.map(([x, y]) => (memory ? x.peak / y.peak : x.seconds / y.seconds)))
  return {
    name,
    ratio,
    limit,
    within: ratio <= limit,
    seconds: median(runs.map(([x]) => x.seconds)),
    peak_mb: Math.max(...runs.map(([x]) => x.peak)) / 1024,
  }
}

/** Wall seconds, and the highest resident size in KB that a look every 20 ms saw (Linux; elsewhere 0). */
function time([command, ...args]) {
  return new Promise((resolve, reject) => {
    const started = process.hrtime.bigint()
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'ignore'] })
    let peak = 0
    const watch = setInterval(() => (peak = Math.max(peak, residentPeak(child.pid))), 20)
    child.stdout.resume()
    child.on('close', (status) => {
      clearInterval(watch)
      if (status === 0) resolve({ seconds: Number(process.hrtime.bigint() - started) / 1e9, peak })
      else reject(new Error(`${[command, ...args].join(' ')} ended with ${status}`))
    })
  })
}

function residentPeak(pid) {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0)
  } catch {
    return 0
  }
}

function median(numbers) {
  return numbers.sort((x, y) => x - y)[numbers.length >> 1]
}
