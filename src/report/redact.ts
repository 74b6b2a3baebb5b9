import type { Row } from '../rows/index.js'
import type { HomeFacts } from './input.js'

/** Where a home directory stands in a text, Unix or Windows, also with doubled separators as JSON writes them. */
const HOME_PATH =
  /((?:\/home|\/Users|\b[A-Za-z]:[\\/]{1,4}(?:Users|Documents and Settings)|\/var\/home)[\\/]{1,4})([^\s\\/"'`:;,<>|()[\]{}*?]{1,64})/g
/** Shared by every machine: they name nobody. */
const NOBODY = new Set(['root', 'public', 'shared', 'default', 'user', 'all users', 'linuxbrew'])

/** Replaces users, hosts and home paths by pseudonyms: the same name always by the same one, numbered in order of name. */
export class Redactor {
  readonly #pseudonyms = new Map<string, string>()
  readonly #words: RegExp | undefined

  constructor(rows: Iterable<Row>, homes: readonly HomeFacts[]) {
    const accounts = new Set(homes.map(({ user }) => user))
    const hosts = new Set(homes.map(({ host }) => host))
    const others = new Set<string>()
    for (const row of rows) {
      accounts.add(row.user)
      hosts.add(row.host)
      for (const text of [row.text, row.project_path, row.source_file]) for (const [, , name] of text.matchAll(HOME_PATH)) others.add(name!)
    }
    this.#number('user', new Set([...accounts, ...others]))
    this.#number('host', hosts)
    const words = [...accounts, ...hosts].filter((name) => this.#pseudonyms.has(name.toLowerCase())).sort((a, b) => b.length - a.length)
    if (words.length > 0) this.#words = new RegExp(`(?<![A-Za-z0-9])(?:${words.map(escaped).join('|')})(?![A-Za-z0-9])`, 'gi')
  }

  readonly redact = (text: string): string => {
    const paths = text.replace(HOME_PATH, (_, before: string, name: string) => before + this.#pseudonym(name))
    return this.#words ? paths.replace(this.#words, (name) => this.#pseudonym(name)) : paths
  }

  #pseudonym(name: string): string {
    return this.#pseudonyms.get(name.toLowerCase()) ?? name
  }

  #number(kind: string, names: ReadonlySet<string>): void {
    const sorted = [...new Set([...names].map((name) => name.toLowerCase()))].filter((name) => name !== '' && !NOBODY.has(name)).sort()
    sorted.forEach((name, i) => {
      if (!this.#pseudonyms.has(name)) this.#pseudonyms.set(name, `${kind}-${i + 1}`)
    })
  }
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}

/** What a redacted report says of itself. */
export const REDACTED =
  'Users, hosts and home paths are replaced by pseudonyms. This does not make the report anonymous: names in prose, addresses, repositories, project folders, prompts, ids and times can still tell who it was.'
