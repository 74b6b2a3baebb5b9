import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import zlib from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { ZipFile } from 'yazl'
import { Evidence, type EvidenceOptions } from '../../../src/evidence/index.js'
import { cli } from '../../helpers/cli.js'
import { jsonLines, parse } from '../../helpers/fixtures.js'

const SESSION = jsonLines({ session_id: 's1', agent_id: 'agent-1', timestamp: 1796060000000, exit_reason: 'exit', message_count: 1 })
const PLANTED = jsonLines({ session_id: 'planted', agent_id: 'agent-x', timestamp: 1796060000000, exit_reason: 'exit', message_count: 1 })
const AT = 'home/alice/.letta/sessions.jsonl'

let scratch: string
let count = 0
beforeAll(() => {
  scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'agent-forensics-hostile-'))
})
afterAll(() => fs.rmSync(scratch, { recursive: true, force: true }))

interface TarEntry {
  readonly name: string
  readonly content?: string | Buffer
  readonly type?: string
  readonly link?: string
}

/** A ustar archive with whatever names it is given: no tool that packs would write these. */
function tarOf(...entries: readonly TarEntry[]): Buffer {
  const blocks = entries.flatMap(({ name, content = '', type = '0', link = '' }) => {
    const body = Buffer.from(content)
    const header = Buffer.alloc(512)
    header.write(name, 0, 100, 'latin1')
    header.write('0000644\0', 100)
    header.write(`${body.length.toString(8).padStart(11, '0')}\0`, 124)
    header.write(`${(1796060000).toString(8).padStart(11, '0')}\0`, 136)
    header.write('        ', 148)
    header.write(type, 156)
    header.write(link, 157, 100, 'latin1')
    header.write('ustar\x0000', 257)
    const sum = header.reduce((total, byte) => total + byte, 0)
    header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
    return [header, body, Buffer.alloc((512 - (body.length % 512)) % 512)]
  })
  return Buffer.concat([...blocks, Buffer.alloc(1024)])
}

/** A zip by yazl, its entries then renamed in its bytes: yazl itself refuses such names. */
async function zipOf(entries: readonly { readonly name: string; readonly content: Buffer | string }[]): Promise<Buffer> {
  const zip = new ZipFile()
  entries.forEach(({ name, content }, i) => zip.addBuffer(Buffer.from(content), placeholder(name, i), { mtime: new Date(1796060000000) }))
  zip.end()
  const parts: Buffer[] = []
  for await (const part of zip.outputStream) parts.push(part as Buffer)
  let text = Buffer.concat(parts).toString('latin1')
  entries.forEach(({ name }, i) => (text = text.replaceAll(placeholder(name, i), name)))
  return Buffer.from(text, 'latin1')
}

function placeholder(name: string, i: number): string {
  return `${String(i).padStart(2, '0')}${'p'.repeat(name.length - 2)}`
}

function save(ending: string, bytes: Buffer): string {
  const file = path.join(scratch, `${count++}${ending}`)
  fs.writeFileSync(file, bytes)
  return file
}

async function textsOf(options: EvidenceOptions): Promise<string[]> {
  return (await parse(options)).rows.map(({ text }) => text)
}

const HOSTILE: readonly { readonly name: string; readonly problem: string }[] = [
  { name: '../../home/alice/.letta/sessions.jsonl', problem: 'points out of the archive (..)' },
  { name: 'home/alice/../alice/.letta/sessions.jsonl', problem: 'points out of the archive (..)' },
  { name: '/home/alice/.letta/sessions.jsonl', problem: 'has an absolute path' },
  { name: '..\\..\\home\\alice\\.letta\\sessions.jsonl', problem: 'points out of the archive (..)' },
  { name: 'C:\\Users\\alice\\.letta\\sessions.jsonl', problem: 'has an absolute Windows path' },
  { name: '\\\\host\\share\\.letta\\sessions.jsonl', problem: 'has an absolute Windows path' },
]

describe.each(HOSTILE)('an entry named $name', ({ name, problem }) => {
  test('in a tar is refused by name, and what stands beside it is read', async () => {
    const file = save('.tar', tarOf({ name: AT, content: SESSION }, { name, content: PLANTED }))
    const texts = await textsOf({ packages: [file] })
    expect(texts.filter((text) => text.startsWith('parser:'))).toEqual([`parser: ${path.basename(file)}/${name} ${problem}`])
    expect(texts.filter((text) => text.startsWith('letta session end: agent=agent-1'))).toHaveLength(1)
    expect(texts.join('\n')).not.toContain('agent-x')
  })

  test('in a zip is refused by name, and what stands beside it is read', async () => {
    const file = save(
      '.zip',
      await zipOf([
        { name: AT, content: SESSION },
        { name, content: PLANTED },
      ]),
    )
    const texts = await textsOf({ packages: [file] })
    expect(texts.filter((text) => text.startsWith('parser:'))).toHaveLength(1)
    expect(texts.find((text) => text.startsWith('parser:'))).toMatch(
      new RegExp(`^parser: ${path.basename(file)}/.*(points out of|absolute)`),
    )
    expect(texts.join('\n')).not.toContain('agent-x')
  })
})

describe('entries that change what others mean', () => {
  test('a link is not followed, and a file written through it is refused', async () => {
    const secret = path.join(scratch, 'outside')
    fs.mkdirSync(path.join(secret, '.letta'), { recursive: true })
    fs.writeFileSync(path.join(secret, '.letta/sessions.jsonl'), PLANTED)
    const file = save(
      '.tar',
      tarOf(
        { name: 'home/alice/.config', content: '', type: '5' },
        { name: 'home/alice/.letta', type: '2', link: path.join(secret, '.letta') },
        { name: AT, content: PLANTED },
      ),
    )
    const texts = await textsOf({ packages: [file] })
    expect(texts.sort()).toEqual([
      'parser: .letta is a symbolic link, which is not followed',
      `parser: ${path.basename(file)}/${AT} lies behind a symbolic link, which is not followed`,
    ])
  })

  test('of two entries with one name the first is read and the second is named', async () => {
    for (const [ending, bytes] of [
      ['.tar', tarOf({ name: AT, content: SESSION }, { name: `./${AT}`, content: PLANTED })],
      [
        '.zip',
        await zipOf([
          { name: AT, content: SESSION },
          { name: AT, content: PLANTED },
        ]),
      ],
    ] as const) {
      const file = save(ending, bytes)
      const texts = await textsOf({ packages: [file] })
      expect(texts.join('\n')).not.toContain('agent-x')
      expect(texts).toContain(`parser: ${path.basename(file)}/${AT} stands in the archive twice; the first is read`)
    }
  })

  test('a hard link is read from the entry that it names; one to a path outside is refused', async () => {
    const file = save(
      '.tar',
      tarOf(
        { name: 'home/alice/copy', content: SESSION },
        { name: AT, type: '1', link: 'home/alice/copy' },
        { name: 'home/alice/.letta/crons.json', type: '1', link: '/etc/passwd' },
      ),
    )
    const texts = await textsOf({ packages: [file] })
    expect(texts.filter((text) => text.startsWith('letta session end: agent=agent-1'))).toHaveLength(1)
    expect(texts).toContain(
      `parser: ${path.basename(file)}/home/alice/.letta/crons.json is a hard link to something that is not in the archive before it`,
    )
  })

  test('a name with a NUL, and one of a thousand folders, are refused', async () => {
    const deep = `${'d/'.repeat(1000)}x`
    const file = save(
      '.zip',
      await zipOf([
        { name: AT, content: SESSION },
        { name: 'ab\0cd', content: '' },
        { name: deep, content: '' },
      ]),
    )
    const problems = (await textsOf({ packages: [file] })).filter((text) => text.startsWith('parser:'))
    expect(problems.map((text) => text.slice(-30))).toEqual(
      expect.arrayContaining([expect.stringContaining('has a NUL in its name'), expect.stringContaining('250 folders deep')]),
    )
  })
})

describe('bombs', () => {
  const zeros = Buffer.alloc(1 << 20)
  const limits = { ratioFrom: 1 << 16 }

  test('a zip entry that grows too much is refused by name; the others are read', async () => {
    const file = save(
      '.zip',
      await zipOf([
        { name: AT, content: SESSION },
        { name: 'home/alice/.letta/crons.json', content: zeros },
      ]),
    )
    const texts = await textsOf({ packages: [file], archiveLimits: limits })
    expect(texts.find((text) => text.startsWith('parser:'))).toMatch(/crons\.json would unpack to 1048576 bytes from \d+$/)
    expect(texts.filter((text) => text.startsWith('letta session end'))).toHaveLength(1)
  })

  test('a zip whose entries come to too much together is read up to there', async () => {
    const file = save(
      '.zip',
      await zipOf([
        { name: AT, content: SESSION },
        { name: 'home/alice/.letta/crons.json', content: zeros },
      ]),
    )
    const texts = await textsOf({ packages: [file], archiveLimits: { total: 1 << 19 } })
    expect(texts).toContain(`parser: ${path.basename(file)}/home/alice/.letta/crons.json would take the archive over 524288 bytes`)
  })

  test('a tar.gz that grows too much is unpacked no further, and says so', async () => {
    const tar = tarOf({ name: AT, content: SESSION }, { name: 'home/alice/zeros', content: zeros })
    for (const archiveLimits of [limits, { total: 1 << 19 }]) {
      const file = save('.tar.gz', zlib.gzipSync(tar))
      const texts = await textsOf({ packages: [file], archiveLimits })
      expect(texts.find((text) => text.startsWith('parser:'))).toMatch(/\.tar\.gz was unpacked no further than \d+ bytes/)
      expect(texts.filter((text) => text.startsWith('letta session end'))).toHaveLength(1)
    }
  })

  test('entries that share their bytes are refused', async () => {
    const whole = await zipOf([
      { name: AT, content: SESSION },
      { name: 'home/alice/.letta/crons.json', content: '{"tasks":[]}' },
    ])
    const central = whole.indexOf('PK\x01\x02', 0, 'latin1')
    const second = whole.indexOf('PK\x01\x02', central + 4, 'latin1')
    whole.writeUInt32LE(whole.readUInt32LE(central + 42), second + 42)
    const texts = await textsOf({ packages: [save('.zip', whole)] })
    expect(texts.some((text) => text.endsWith('overlaps another entry'))).toBe(true)
  })
})

describe('a sparse file that GNU tar packed as such', () => {
  test.each(['gnu', 'posix'])('in format %s is named, and what follows it is read', async (format) => {
    const root = fs.mkdtempSync(path.join(scratch, 'sparse-'))
    fs.mkdirSync(path.join(root, 'home/alice/.letta/runs'), { recursive: true })
    const fd = fs.openSync(path.join(root, 'home/alice/.letta/runs/holes.jsonl'), 'w')
    for (let i = 1; i <= 60; i++) fs.writeSync(fd, 'x'.repeat(4096), i * (1 << 20))
    fs.closeSync(fd)
    fs.writeFileSync(path.join(root, AT), SESSION)
    const file = path.join(scratch, `sparse-${format}.tar`)
    const ran = spawnSync('tar', ['-S', `--format=${format}`, '--sort=name', '-cf', file, '-C', root, 'home'])
    expect(ran.status).toBe(0)
    const texts = await textsOf({ packages: [file] })
    expect(texts.filter((text) => text.startsWith('letta session end'))).toHaveLength(1)
    expect(texts.filter((text) => text.startsWith('parser:'))).toEqual([expect.stringContaining('holes.jsonl is not a regular file')])
  })
})

describe('damage', () => {
  test('a tar.gz that breaks off gives what came before, and the break is named with exit 3', () => {
    const tar = tarOf({ name: AT, content: SESSION }, { name: 'home/alice/noise', content: Buffer.from(noise(200_000)) })
    const packed = zlib.gzipSync(tar)
    const file = save('.tar.gz', packed.subarray(0, packed.length - 1000))
    const ran = cli(['letta', 'parse', '--package', file, '--format', 'jsonl'])
    expect(ran.status).toBe(3)
    expect(ran.stdout).toContain('letta session end: agent=agent-1')
    expect(ran.stdout).toContain('.tar.gz breaks off after')
  })

  test('a bit that flipped in a stored zip entry is named, and the rows stay', async () => {
    const bytes = await storedZip(AT, SESSION)
    bytes[bytes.indexOf('agent-1') + 6]! ^= 1
    const texts = await textsOf({ packages: [save('.zip', bytes)] })
    expect(texts).toContain('parser: .letta/sessions.jsonl does not have the CRC-32 that the archive records')
    expect(texts.filter((text) => text.startsWith('letta session end'))).toHaveLength(1)
  })

  test('a zip without its directory is named with exit 3', async () => {
    const bytes = await zipOf([{ name: AT, content: SESSION }])
    const ran = cli(['letta', 'parse', '--package', save('.zip', bytes.subarray(0, 100)), '--format', 'jsonl'])
    expect(ran.status).toBe(3)
    expect(ran.stdout).toContain('cannot be read as a zip')
  })

  test('a file that is no archive is wrong usage', () => {
    const ran = cli(['letta', 'parse', '--package', save('.zip', Buffer.from('not an archive'))])
    expect([ran.status, ran.stderr]).toEqual([2, expect.stringContaining('neither a folder nor a zip')])
  })
})

describe('a compressed tar too large for memory', () => {
  const bytes = () =>
    zlib.gzipSync(tarOf({ name: AT, content: SESSION }, { name: 'home/alice/noise', content: Buffer.from(noise(300_000)) }))

  test('gives the same rows, and its temp directory is empty even while it is open', async () => {
    const tempDir = fs.mkdtempSync(path.join(scratch, 'temp-'))
    const file = save('.tar.gz', bytes())
    const open = await Evidence.open({ packages: [file], archiveLimits: { memory: 1000 }, tempDir })
    expect(fs.readdirSync(tempDir)).toEqual([])
    open.close()
    const spilled = await textsOf({ packages: [file], archiveLimits: { memory: 1000 }, tempDir })
    expect(spilled).toEqual(await textsOf({ packages: [file] }))
    expect(spilled.filter((text) => text.startsWith('letta session end'))).toHaveLength(1)
    expect(fs.readdirSync(tempDir)).toEqual([])
  })
})

test('nothing is written to a package, and no file of it is unpacked to a path', () => {
  const file = save('.tar', tarOf({ name: AT, content: SESSION }, { name: '../evil', content: 'x' }))
  const trace = path.join(scratch, 'trace')
  const ran = spawnSync(
    'strace',
    [
      '-f',
      '-e',
      'trace=openat,open,creat,rename,unlink,chmod,utimensat,mkdir',
      '-o',
      trace,
      process.execPath,
      'bin/run.js',
      'letta',
      'parse',
      '--package',
      file,
      '--format',
      'jsonl',
    ],
    {
      encoding: 'utf8',
      env: { ...process.env, NODE_OPTIONS: '' },
    },
  )
  if (ran.error) return console.warn('SKIPPED: strace is not there; writes were not watched')
  expect(ran.stdout).toContain('letta session end')
  const writes = fs
    .readFileSync(trace, 'utf8')
    .split('\n')
    .filter((line) => line.includes(scratch) && /O_WRONLY|O_RDWR|O_CREAT|creat|rename|unlink|chmod|utimensat|mkdir/.test(line))
  expect(writes).toEqual([])
})

/** Bytes that do not compress, the same each time. */
function noise(length: number): string {
  let state = 1
  return Array.from({ length }, () => String.fromCharCode(32 + ((state = (state * 48271) % 2147483647) % 95))).join('')
}

async function storedZip(name: string, content: string): Promise<Buffer> {
  const zip = new ZipFile()
  zip.addBuffer(Buffer.from(content), name, { compress: false, mtime: new Date(1796060000000) })
  zip.end()
  const parts: Buffer[] = []
  for await (const part of zip.outputStream) parts.push(part as Buffer)
  return Buffer.concat(parts)
}
