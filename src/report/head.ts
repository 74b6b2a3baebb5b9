import { plural } from '../rows/index.js'
import { isCopy, type Evidence } from './entry.js'
import type { HomeFacts, Presence, ReportInput } from './input.js'
import { clip, groupBy, listed } from './quote.js'
import { REDACTED } from './redact.js'

import type { Report } from './schema.js'

type Head = Report['head']
type Statement = Head['not_read'][number]

const MOST_NAMED = 50

export function headOf(input: ReportInput, evidence: Evidence, clean: (text: string) => string): Head {
  const { run, catalog } = input
  const times = evidence.entries.map(({ row }) => row.timestamp_utc).filter((time) => time !== '')
  return {
    case: input.case ?? null,
    examiner: input.examiner ?? null,
    made: run.started,
    tool: { name: run.tool.name, version: run.tool.version },
    arguments: run.arguments.map(clean),
    plugins: run.parsers.map(({ agent, plugin, plugin_version, catalog_version }) => ({
      agent,
      title: catalog.find((entry) => entry.agent === agent)?.title ?? agent,
      plugin,
      version: plugin_version,
      catalog: catalog_version,
    })),
    redacted: input.redactNames === true,
    evidence: run.homes.map((home) => ({
      user: clean(home.user),
      host: clean(home.host),
      directory: clip(clean(home.directory)),
      agent: home.agent,
      files: home.files.length,
      bytes: sum(home, 'bytes'),
      rows: sum(home, 'rows'),
    })),
    packages: (run.packages ?? []).map(({ package: at, manifest_sha256 }) => ({ package: clip(clean(at)), manifest_sha256 })),
    rows: evidence.entries.length,
    rows_without_time: evidence.entries.length - times.length,
    copied_rows: evidence.entries.filter(isCopy).length,
    first: times[0] ?? '',
    last: times.at(-1) ?? '',
    turn_types: Object.fromEntries([...groupBy(evidence.entries, ({ row }) => row.turn_type)].map(([type, rows]) => [type, rows.length])),
    read: readStores(input, clean),
    not_read: notRead(input, clean),
    caveats: [
      ...new Set(catalog.flatMap(({ caveats }) => caveats)),
      'Secrets are masked by their form; a secret of a form that no rule knows stays readable.',
      ...(input.redactNames ? [REDACTED] : []),
    ],
  }
}

function sum(home: HomeFacts, count: 'bytes' | 'rows'): number {
  return Object.values(home.stores).reduce((total, store) => total + store[count], 0)
}

function readStores({ run, catalog }: ReportInput, clean: (text: string) => string): Head['read'] {
  return run.homes.flatMap((home) =>
    Object.entries(home.stores)
      .filter(([, store]) => store.files > 0 || store.rows > 0)
      .map(([id, store]) => {
        const known = catalog.find(({ agent }) => agent === home.agent)?.stores.find((one) => one.id === id)
        return {
          user: clean(home.user),
          agent: home.agent,
          store: id,
          title: known?.title ?? id,
          proves: known?.proves ?? '',
          files: store.files,
          rows: store.rows,
          dropped: store.dropped,
          replaced: store.replaced,
          unreadable: store.bad,
        }
      }),
  )
}

/** A plain statement of what this report does not rest on; an empty list makes none. */
function notRead(input: ReportInput, clean: (text: string) => string): Statement[] {
  const { run, catalog, stores, credentials } = input
  const state = (id: string, items: readonly string[], say: (count: number) => string): Statement[] =>
    items.length === 0
      ? []
      : [
          {
            id,
            statement: say(items.length),
            ...listed(
              items.map((item) => clip(clean(item))),
              MOST_NAMED,
            ),
          },
        ]
  const homes = run.homes
  const unparsed = presentStores(stores, catalog, false)
  const filtered = input.filteredOut ?? 0
  return [
    ...(filtered === 0
      ? []
      : [
          {
            id: 'filtered',
            statement: `${plural(filtered, 'row')} ${filtered === 1 ? 'was' : 'were'} left out by the filters given; nothing is said of what is absent.`,
            items: [],
            more: 0,
          },
        ]),
    ...state(
      'plugins',
      run.plugin_notes.map(({ message }) => message),
      (count) => `${plural(count, 'note')} on plugins: an agent may not have been read.`,
    ),
    ...state(
      'unreadable',
      homes.flatMap((home) => home.not_read.map(({ path, problem }) => `${home.user}: ${path} ${problem}`)),
      (count) => `${plural(count, 'file')} could not be read.`,
    ),
    ...state(
      'not-parsed',
      unparsed,
      (count) =>
        `${plural(count, 'kind')} of evidence files ${count === 1 ? 'is' : 'are'} there and no parser reads ${count === 1 ? 'it' : 'them'}.`,
    ),
    ...state(
      'withheld',
      credentials.map(({ user, path }) => `${user}: ${path}`),
      (count) => `${plural(count, 'file')} can hold credentials: named here by path, their secret values shown nowhere.`,
    ),
    ...state(
      'projects-not-found',
      homes.flatMap((home) => [...home.projects_not_found]),
      (count) => `${plural(count, 'project folder')} that records name ${count === 1 ? 'is' : 'are'} not in the evidence.`,
    ),
    ...state(
      'projects-refused',
      homes.flatMap((home) => [...home.projects_refused]),
      (count) => `${plural(count, 'recorded path')} ${count === 1 ? 'is' : 'are'} never opened (network, device or relative).`,
    ),
    ...state(
      'unknown-fields',
      unknownFields(homes),
      (count) => `${plural(count, 'field')} of records ${count === 1 ? 'is' : 'are'} not known: kept, but not shown.`,
    ),
    ...state(
      'absent',
      absentStores(stores, catalog),
      (count) => `${plural(count, 'kind')} of files that a parser reads ${count === 1 ? 'was' : 'were'} absent.`,
    ),
  ]
}

function presentStores(present: readonly Presence[], catalog: ReportInput['catalog'], parsed: boolean): string[] {
  return [...groupBy(present, ({ agent, rule }) => `${agent} ${rule}`)].flatMap(([key, files]) => {
    const [agent, rule] = key.split(' ')
    const store = catalog.find((entry) => entry.agent === agent)?.stores.find(({ id }) => id === rule)
    return store && store.parsed === parsed ? [`${store.title}: ${plural(files.length, 'file')}, the first ${files[0]!.path}`] : []
  })
}

function absentStores(present: readonly Presence[], catalog: ReportInput['catalog']): string[] {
  const there = new Set(present.map(({ agent, rule }) => `${agent} ${rule}`))
  return catalog.flatMap(({ agent, stores }) =>
    stores.filter(({ id, parsed }) => parsed && !there.has(`${agent} ${id}`)).map(({ title, globs }) => `${title} (${globs[0]})`),
  )
}

function unknownFields(homes: readonly HomeFacts[]): string[] {
  const counts = new Map<string, number>()
  for (const home of homes)
    for (const [store, { unknown_fields }] of Object.entries(home.stores))
      for (const [field, count] of Object.entries(unknown_fields)) {
        const name = `${store} ${field}`
        counts.set(name, (counts.get(name) ?? 0) + count)
      }
  return [...counts].map(([name, count]) => `${name} (${count})`)
}
