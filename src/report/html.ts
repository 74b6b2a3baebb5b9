import { createHash } from 'node:crypto'
import { TurnType } from '../rows/index.js'
import { asset } from './assets.js'
import { OUTCOMES } from './outcome.js'
import type { Entry } from './entry.js'
import type { Triage } from './model.js'
import { GROUPS } from './words.js'

/** In the order in which they build on one another. */
const SCRIPTS = ['dom.js', 'data.js', 'charts.js', 'reader.js', 'rows.js', 'page.js']

/** Rows of one data block: no string of the file, nor of the program that reads it, has to hold them all. */
const ROWS_PER_BLOCK = 2_000
/** Characters of all rows together that a browser opens without trouble; beyond, long texts are cut. */
const MOST_CHARACTERS = 256_000_000
const CUT_TEXT = 4_000

/**
 * The report as one self-contained file, in pieces. Evidence stands in it as JSON only, in blocks that no browser runs, and the one script
 * shows it as text nodes only. The policy allows that script and style by their hashes and nothing else: no request can leave the page.
 */
export function* htmlReport(given: Triage): Generator<string> {
  const script = `'use strict';(() => {\n${SCRIPTS.map(module).join('\n')}\n})()`
  const style = asset('page.css')
  const policy = [
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    `style-src ${hashOf(style)}`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ')
  yield `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>Triage report</title>
<style>${style}</style>
</head>
<body>
<noscript><p>This report shows its data with the script that it contains, and loads nothing. To read it without: <code>report --format markdown</code>.</p></noscript>
<div id="report" aria-busy="true"></div>
`
  yield* block('report-data', { ...given.report, groups: GROUPS, outcomes: OUTCOMES, turn_types_order: TurnType.options })
  yield* rowBlocks(given)
  yield `<script>${script}</script>\n</body>\n</html>\n`
}

/** A module of the page without its imports and exports: in one function, in order, each finds what those before it declare. */
function module(name: string): string {
  return asset(name)
    .replace(/^import \{[^}]*\} from '[^']*'\n/gm, '')
    .replace(/^export (?=function|const)/gm, '')
}

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`
}

function* block(name: string, data: unknown): Generator<string> {
  yield `<script type="application/json" data-block="${name}">${inert(JSON.stringify(data))}</script>\n`
}

/** JSON in which nothing can end its element or begin another: no `<` is left, nor a separator that old parsers take for a line's end. */
function inert(json: string): string {
  return json.replace(/[<\u2028\u2029]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** What the page shows of a row, by position: times in milliseconds, repeated strings by their number in `strings`. */
function* rowBlocks({ evidence, sessionKeys, findingRows }: Triage): Generator<string> {
  const strings = new Strings()
  const sessions = new Map(sessionKeys.map((key, i) => [key, i]))
  const limit = textLimit(evidence.entries)
  const line = ({ row, index, session, locator }: Entry) => {
    const call = evidence.callAt.get(index)
    const mate = call?.use.index === index ? call.result?.index : call?.use.index
    return [
      row.timestamp_utc === '' ? null : Date.parse(row.timestamp_utc),
      TurnType.options.indexOf(row.turn_type),
      sessions.get(session) ?? -1,
      strings.number(row.session_id),
      strings.number(row.user),
      strings.number(row.project_path),
      strings.number(row.model),
      strings.number(row.tool_name),
      strings.number(row.source_line === null ? locator : locator.slice(0, locator.length - String(row.source_line).length - 1)),
      row.source_line ?? 0,
      mate ?? -1,
      call ? OUTCOMES.indexOf(call.outcome) : -1,
      strings.number(row.details.kind ?? row.details.origin ?? ''),
      strings.number(copyText(row.details.copied_from)),
      strings.number(row.tool_use_id),
      row.text.length > limit
        ? `${row.text.slice(0, limit).toWellFormed()}… (${row.text.length} characters; cut here, whole in its row)`
        : row.text,
    ]
  }
  for (let at = 0; at < evidence.entries.length; at += ROWS_PER_BLOCK) {
    yield* block('rows', evidence.entries.slice(at, at + ROWS_PER_BLOCK).map(line))
  }
  yield* block(
    'findings',
    findingRows.map((rows) => rows.map(({ index }) => index)),
  )
  yield* block('strings', strings.all)
}

function textLimit(entries: readonly Entry[]): number {
  const all = entries.reduce((sum, { row }) => sum + row.text.length, 0)
  return all > MOST_CHARACTERS ? CUT_TEXT : Infinity
}

function copyText(from: Entry['row']['details']['copied_from']): string {
  return from === undefined ? '' : `${from.source_file}:${from.source_line}`
}

class Strings {
  readonly all: string[] = ['']
  readonly #numbers = new Map<string, number>([['', 0]])

  number(text: string): number {
    let number = this.#numbers.get(text)
    if (number === undefined) {
      number = this.all.push(text) - 1
      this.#numbers.set(text, number)
    }
    return number
  }
}
