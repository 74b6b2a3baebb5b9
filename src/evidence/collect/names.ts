import { createHash } from 'node:crypto'
import { isUtf8 } from 'node:buffer'
import type { TreePath } from '../tree.js'

/** What no Windows file name may hold, what a terminal obeys, and what is invisible. */
const NOT_PORTABLE = /[<>:"|?*\\/\u0000-\u001f\u007f]|[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}]/gu
/** Names that Windows gives to devices, whatever their ending (Microsoft, Naming Files, Paths, and Namespaces). */
const DEVICE = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])(?:\..*)?$/i
const LONGEST_NAME = 200
const LONGEST_PATH = 240

/** A file name that every usual system and archive can hold. Bytes that cannot stay are written `%XX`. */
export function portableName(name: TreePath): string {
  const text = textOf(name).replace(NOT_PORTABLE, percent)
  const ended = text.replace(/[. ]$/, percent)
  const free = DEVICE.test(ended) ? `_${ended}` : ended
  return shortened(free === '' ? '_' : free, name)
}

/** UTF-8 where the bytes are; else each byte above 0x7f written out. */
function textOf(name: TreePath): string {
  const bytes = Buffer.from(name, 'latin1')
  if (process.platform === 'win32') return name
  return isUtf8(bytes) ? bytes.toString('utf8') : name.replace(/[\x80-\xff]/g, (byte) => `%${hex(byte.charCodeAt(0))}`)
}

function percent(characters: string): string {
  return [...Buffer.from(characters)].map((byte) => `%${hex(byte)}`).join('')
}

function hex(byte: number): string {
  return byte.toString(16).toUpperCase().padStart(2, '0')
}

function shortened(name: string, original: string): string {
  if (Buffer.byteLength(name) <= LONGEST_NAME) return name
  const ending = /\.[A-Za-z0-9]{1,8}$/.exec(name)?.[0] ?? ''
  let head = ''
  for (const character of name) {
    if (Buffer.byteLength(head + character) > LONGEST_NAME - 40) break
    head += character
  }
  return `${head}~${digest(original)}${ending}`
}

function digest(text: string): string {
  return createHash('sha256').update(text, 'latin1').digest('hex').slice(0, 16)
}

/** Stored paths of one package: the same original always gives the same, two originals never do, whatever the case of a file system. */
export class StoredNames {
  readonly #folders = new Map<string, string>()
  readonly #taken = new Set<string>()

  /** A folder of its own below `parent` for a user. */
  folder(parent: string, name: string): string {
    return this.#free(parent, portableName(Buffer.from(name).toString('latin1')))
  }

  /** Where the file at `at` below a place is stored: `<root>/<portable path>`. */
  path(root: string, at: TreePath): string {
    const cut = at.lastIndexOf('/')
    const parent = cut === -1 ? root : this.#folder(root, at.slice(0, cut))
    const stored = this.#free(parent, portableName(at.slice(cut + 1)))
    if (stored.length <= LONGEST_PATH) return stored
    return this.#free(`${root}/long-paths`, portableName(`${digest(at)}-${at.slice(cut + 1)}`))
  }

  #folder(root: string, at: TreePath): string {
    const key = `${root}\0${at}`
    const known = this.#folders.get(key)
    if (known !== undefined) return known
    const cut = at.lastIndexOf('/')
    const parent = cut === -1 ? root : this.#folder(root, at.slice(0, cut))
    const stored = this.#free(parent, portableName(at.slice(cut + 1)))
    this.#folders.set(key, stored)
    return stored
  }

  #free(parent: string, name: string): string {
    for (let number = 1; ; number++) {
      const stored = `${parent}/${number === 1 ? name : numbered(name, number)}`
      const key = stored.normalize('NFC').toLowerCase()
      if (this.#taken.has(key)) continue
      this.#taken.add(key)
      return stored
    }
  }
}

/** `name~2.ext`: the ending stays. */
function numbered(name: string, number: number): string {
  const cut = name.lastIndexOf('.')
  return cut > 0 ? `${name.slice(0, cut)}~${number}${name.slice(cut)}` : `${name}~${number}`
}
