import { parseTree, type Node } from 'jsonc-parser'
import { isSecretKey, type CatalogEntry, type ScopeName } from '../../catalog/index.js'
import { Rules } from '../../catalog/index.js'
import type { EvidenceFile } from '../../evidence/index.js'
import { masked, Secrets } from '../../report/secrets.js'
import { compactJson } from '../../rows/index.js'

/** A text in which secret values are replaced, and how many were. */
export interface Masked {
  readonly text: string
  readonly count: number
}

/** Takes secrets out of what is shown: values under the catalog's credential keys, and secrets inside texts. */
export interface Masks {
  text(text: string): Masked
  /** A JSON text of a file: by keys first. */
  json(text: string, file: EvidenceFile): Masked
}

/** For `--show-secrets`. */
export const noMasks: Masks = { text: (text) => ({ text, count: 0 }), json: (text) => ({ text, count: 0 }) }

export async function masksFor(entries: readonly CatalogEntry[]): Promise<Masks> {
  const secrets = await Secrets.load()
  const rules = new Rules(entries)
  const text = (given: string): Masked => {
    const found = secrets.find(given)
    return { text: masked(given, found), count: found.length }
  }
  return {
    text,
    json(given, file) {
      const keyed = maskKeys(given, keysOf(file, rules))
      const rest = text(keyed.text)
      return { text: rest.text, count: keyed.count + rest.count }
    },
  }
}

function keysOf(file: EvidenceFile, rules: Rules): string[] {
  const scope: ScopeName = file.project === '' ? 'home' : 'project'
  return rules.of(file.shortPath, scope).flatMap(({ kind, rule }) => (kind === 'credential' ? rule.keys : []))
}

/** Replaces the values under secret keys in a JSON text and leaves every other byte as it is. */
export function maskKeys(text: string, keys: readonly string[]): Masked {
  const tree = keys.length === 0 ? undefined : parseTree(text)
  if (!tree) return { text, count: 0 }
  const found = secretNodes(tree, [], keys)
  const result = found.reduceRight((rest, { offset, length }) => rest.slice(0, offset) + maskOf(length) + rest.slice(offset + length), text)
  return { text: result, count: found.length }
}

/** The mask is a JSON string, so that what was JSON stays JSON. */
function maskOf(length: number): string {
  return compactJson(`[masked: ${length} characters]`)
}

function secretNodes(node: Node, path: readonly string[], keys: readonly string[]): Node[] {
  if (node.type === 'object' || node.type === 'array') {
    return (node.children ?? []).flatMap((child, i) => {
      if (child.type !== 'property') return secretNodes(child, [...path, String(i)], keys)
      const [key, value] = child.children ?? []
      return key && value ? secretNodes(value, [...path, String(key.value)], keys) : []
    })
  }
  return node.type !== 'null' && isSecretKey(path, keys) ? [node] : []
}
