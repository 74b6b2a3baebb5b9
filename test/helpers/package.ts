import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import type { CollectionRecord, ManifestLine } from '../../src/evidence/index.js'

const sha256 = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest('hex')

/**
 * A package of a home's `.letta` and `.config`, written from the schema of the manifest alone and not by `collect`: stored names are
 * numbers, so that nothing can be told from them, and the copies' own times are wrong.
 */
export function writePackage(home: string, to: string, change: (line: ManifestLine) => ManifestLine = (line) => line): void {
  const user = path.basename(home)
  const files = fs
    .readdirSync(home, { recursive: true, encoding: 'utf8' })
    .filter((name) => fs.lstatSync(path.join(home, name)).isFile())
    .sort()
  const lines = files.map((name, i) => change(store(home, user, name, `evidence/${user}/home/${i}`, to)))
  const manifest = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
  fs.writeFileSync(path.join(to, 'manifest.jsonl'), manifest)
  fs.writeFileSync(path.join(to, 'collection.json'), JSON.stringify(record(home, user, manifest, lines)))
}

function store(home: string, user: string, name: string, stored: string, to: string): ManifestLine {
  const from = path.join(home, name)
  const bytes = fs.readFileSync(from)
  const stat = fs.statSync(from, { bigint: true })
  fs.mkdirSync(path.dirname(path.join(to, stored)), { recursive: true })
  fs.writeFileSync(path.join(to, stored), bytes)
  return {
    action: 'copied',
    agent: 'letta',
    rule: 'messages',
    rule_kind: 'store',
    store: 'messages',
    reason: '',
    user,
    scope: 'home',
    place: `${user}/home`,
    source_file: name,
    short_path: name,
    project: '',
    original_path: from,
    kind: 'file',
    size: bytes.length,
    allocated: null,
    mtime_ns: String(stat.mtimeNs),
    atime_ns: null,
    ctime_ns: null,
    birthtime_ns: null,
    mtime_from: 'filesystem',
    mode: null,
    uid: null,
    gid: null,
    inode: null,
    device: null,
    links: null,
    stored_path: stored,
    sha256: sha256(bytes),
    stored_size: bytes.length,
    stored_sha256: sha256(bytes),
    credentials: [],
    contains_credentials: false,
    masked: null,
  }
}

function record(home: string, user: string, manifest: string, lines: readonly ManifestLine[]): CollectionRecord {
  return {
    format: 'agent-forensics collection',
    format_version: 1,
    case: '',
    examiner: '',
    host: '',
    collected_on: { host: '', platform: 'linux', release: '', arch: '', user: '' },
    tool: { name: 'test', version: '0', node: '' },
    catalogs: [],
    arguments: [],
    started: '',
    ended: '',
    live: false,
    includes_credentials: false,
    includes_databases: true,
    homes: [
      {
        user,
        folder: user,
        host: '',
        directory: home,
        stood: [`/home/${user}`],
        projects: [],
        moved: [],
        projects_not_found: [],
        projects_refused: [],
      },
    ],
    temp: [],
    counts: { copied: lines.length, redacted: 0, withheld: 0, excluded: 0, link: 0, special: 0, changed: 0, failed: 0, 'too-large': 0 },
    files: lines.length,
    bytes: 0,
    manifest_sha256: sha256(manifest),
  }
}
