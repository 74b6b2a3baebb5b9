import type { CatalogEntry, Credential, Exclusion, Meaning, Store } from '../../catalog/index.js'
import { printed } from '../../rows/index.js'
import type { ExplainedCatalog } from './catalog.js'
import type { ConversationTurn, ExplainedConversation } from './conversation.js'
import type { Page } from './page.js'
import type { ExplainedPath, ExplainedPaths } from './paths.js'
import type { ExplainedRow } from './row.js'
import type { ExplainedText } from './text.js'

/** Each result as a person would read it. */

export function catalogView({ agents, rows }: ExplainedCatalog, page: Page): void {
  for (const { entry, plugin, plugin_version } of agents) {
    entryView(entry, page)
    page.field('parser', `${plugin} ${plugin_version}`)
  }
  page.heading('Rows: what each kind proves')
  for (const row of rows) meaningView(row, page)
}

function entryView(entry: CatalogEntry, page: Page): void {
  page.heading(`${entry.title} (${entry.agent}), catalog ${entry.version}`).paragraph(entry.summary)
  page.title('Reviewed').items(entry.reviewed.map(({ release, how, note }) => `${release}: ${how}${note === undefined ? '' : `; ${note}`}`))
  page.title('Caveats').items(entry.caveats)
  const { capabilities } = entry
  page
    .title('Capabilities')
    .field('records relays to chats', yesOrNo(capabilities.records_relay))
    .field('records deletions', `${yesOrNo(capabilities.records_deletions)}. ${capabilities.deletions}`)
    .field('source hosts', capabilities.source_hosts.join(', ') || 'none')
  page.heading(`${entry.title}: stores`)
  for (const store of entry.stores) storeView(store, page)
  page.heading(`${entry.title}: left out`)
  for (const exclusion of entry.exclusions) exclusionView(exclusion, page)
  page.heading(`${entry.title}: credentials`)
  for (const credential of entry.credentials) credentialView(credential, page)
  page.heading(`${entry.title}: directories in which the agent works itself`)
  page.items(entry.scratch.map(({ title, scope, globs }) => `${title} (${scope}): ${globs.join(', ')}`))
  page.heading(`${entry.title}: environment`)
  for (const { variable, flag, effect } of entry.environment) page.field(flag === undefined ? variable : `${variable} (--${flag})`, effect)
}

function storeView(store: Store, page: Page): void {
  const rows = store.parsed ? 'parsed into rows' : 'collected, not parsed'
  page
    .title(`${store.id}: ${store.title}`)
    .field(store.scope, store.globs.join(', '))
    .field('proves', store.proves)
    .field('time', store.time_source)
    .field('read', `${store.format}, ${rows}${store.volatile ? '; volatile' : ''}${store.may_hold_secrets ? '; may hold secrets' : ''}`)
    .field('releases', [store.since && `since ${store.since}`, store.until && `until ${store.until}`].filter(Boolean).join(', '))
    .field('confidence', `${store.confidence} (${store.citation.join('; ')})`)
  for (const caveat of store.caveats) page.item(caveat, 4)
}

function exclusionView({ scope, globs, reason, when }: Exclusion, page: Page): void {
  page.item(`${globs.join(', ')} (${scope}${when === 'always' ? '' : ', only when large'}): ${reason}`)
}

function credentialView({ id, title, scope, globs, class: kind, keys, notes }: Credential, page: Page): void {
  page
    .title(`${id}: ${title}`)
    .field(scope, globs.join(', '))
    .field('class', kind)
    .field('keys', keys.join(', '))
    .field('notes', notes ?? '')
}

function meaningView({ id, title, proves, does_not_prove }: Meaning, page: Page): void {
  page.title(`${id}: ${title}`).field('proves', proves)
  if (does_not_prove.length > 0) page.paragraph('does not prove:', 2).items(does_not_prove, 4)
}

export function pathsView({ paths, not_walked }: ExplainedPaths, page: Page): void {
  const told = new Set<string>()
  for (const path of paths) pathView(path, told, page)
  if (not_walked.length > 0) page.heading('Not entered').items(not_walked)
}

/** What a rule says is told at the first path that falls under it, and its name at the others. */
function pathView({ path, verdict, why, root, assumed, rules, rows }: ExplainedPath, told: Set<string>, page: Page): void {
  page.title(path).field(verdict, why)
  if (assumed && root !== null) page.field('if', root === '' ? 'the path begins at a home or project' : `${root} is a home or project`)
  for (const rule of rules) {
    const name = `${rule.kind} ${rule.id} (${rule.agent}, ${rule.scope})`
    if (told.has(name)) page.item(`${name}: ${rule.title}, as above`)
    else ruleView(name, rule, page)
    told.add(name)
  }
  if (rows.length > 0) page.field('rows', rows.map(({ title }) => title).join('; '))
}

function ruleView(name: string, { title, says, caveats, citation, confidence }: ExplainedPath['rules'][number], page: Page): void {
  page.item(`${name}: ${title}. ${says}`).items(caveats, 6)
  page.field('source', `${citation.join('; ')}${confidence === null ? '' : ` (${confidence})`}`, 4)
}

export function textView({ readings, advice, more }: ExplainedText, page: Page): void {
  readings.forEach((reading, i) => {
    page.heading(readings.length === 1 ? `${reading.id}: ${reading.title}` : `Reading ${i + 1}: ${reading.id}, ${reading.title}`)
    page
      .field('text', reading.template)
      .fields(Object.fromEntries(Object.entries(reading.values).map(([name, value]) => [name, value === '' ? '(empty)' : value])), 4)
    page.field('proves', reading.proves).paragraph('does not prove:', 2).items(reading.does_not_prove, 4)
    if (reading.notes.length > 0) page.paragraph('of these values:', 2).items(reading.notes, 4)
    page.field('source', reading.citation.join('; '))
  })
  if (advice !== null) page.gap().paragraph(advice)
  if (more) page.paragraph('There are more readings than these.')
}

export function rowView(explained: ExplainedRow, page: Page): void {
  const { source, store, record, unreadable, rows, other_rows, fields_not_known, notes } = explained
  page.heading(`${source.user}: ${source.file}${source.line === null ? '' : `:${source.line}`}`).fields({
    host: source.host,
    file: `${source.size} bytes, modified ${source.mtime || 'at an unknown time'} (${source.mtime_from})`,
    'file SHA-256': source.sha256 ?? 'not read to its end',
  })
  if (store)
    page
      .field('store', `${store.id}: ${store.title}`)
      .field('proves', store.proves)
      .field('time', store.time_source)
      .items(store.caveats, 4)
  page.heading('Record')
  if (record) recordView(record, page)
  else page.paragraph(unreadable ?? '', 2)
  for (const row of rows) tracedView(row, page)
  page.gap().items(notes, 0)
  if (other_rows > 0) page.paragraph(`Other records of this file give ${other_rows} more rows.`)
  if (fields_not_known.length > 0)
    page.field('fields not known', fields_not_known.map(({ field, count }) => `${field} (${count})`).join(', '), 0)
}

function recordView(record: NonNullable<ExplainedRow['record']>, page: Page): void {
  page
    .field('bytes', `${record.length} from offset ${record.offset}`)
    .field('SHA-256', record.sha256)
    .field('masked', record.masked === 0 ? '' : `${record.masked} secret values (--show-secrets shows them)`)
  if (record.fault !== null) page.field('around the fault', '').verbatim(record.fault, 4)
  else page.verbatim(record.text, 4)
  if (record.cut) page.paragraph('... and more: the record is longer than what is shown.', 4)
}

function tracedView({ row, status, repeats, columns, meaning }: ExplainedRow['rows'][number], page: Page): void {
  page.heading(`Row: ${row.turn_type}${row.details.kind === undefined ? '' : ` (${row.details.kind})`}, ${status}`)
  if (status === 'dropped')
    page.paragraph(
      repeats
        ? `Repeats ${repeats.source_file}${repeats.source_line === null ? '' : `:${repeats.source_line}`}`
        : 'Which row it repeats cannot be told.',
      2,
    )
  for (const { column, value, rule, citation, confidence } of columns) {
    page.field(column, value === '' || value === null ? '(empty)' : column === 'details' ? printed(value) : String(value))
    page.paragraph(`${rule} [${confidence}: ${citation.join('; ')}]`, 6)
  }
  if (meaning) meaningView(meaning, page)
}

export function conversationView(explained: ExplainedConversation, page: Page): void {
  const { conversation, user, host, agent, agent_id, project_paths, sources, turns, notes } = explained
  page.heading(`Conversation ${conversation}`).fields({ user, host, agent, 'agent id': agent_id, project: project_paths.join(', ') })
  page.items(sources.map(({ store, source_file, turns: count }) => `${source_file} (${store}): ${count} rows`))
  for (const turn of turns) turnView(turn, page)
  page.gap().items(notes, 0)
}

function turnView(turn: ConversationTurn, page: Page): void {
  const { timestamp_utc, turn_type, kind, tool_name, source_file, source_line, text, result } = turn
  const place = `${source_file.split('/').at(-1)}${source_line === null ? '' : `:${source_line}`}`
  page.title(
    `${timestamp_utc || 'no time'}  ${turn_type}${kind === null ? '' : ` ${kind}`}${tool_name === '' ? '' : ` ${tool_name}`}  (${place})`,
  )
  page.verbatim(text)
  if (result) {
    const flags = [result.is_error === true && 'denied, cancelled or interrupted', result.result_ok === false && 'not ok']
      .filter(Boolean)
      .join(', ')
    page.paragraph(`result${flags === '' ? '' : ` (${flags})`}:`, 2).verbatim(result.full?.text ?? result.text, 4)
    if (result.full?.problem) page.paragraph(`whole output: ${result.full.recorded}: ${result.full.problem}`, 2)
    else if (result.full) page.paragraph(`whole output from ${result.full.source_file}`, 2)
  }
}

function yesOrNo(value: boolean): string {
  return value ? 'yes' : 'no'
}
