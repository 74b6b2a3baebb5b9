import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { execute, Plugin } from '@oclif/core'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** A plugin folder is named by this flag, anywhere on the command line of our own bin. */
const PLUGIN_FLAG = '--plugin'
const USAGE = 2

/**
 * Starts our own bin: the commands of this package, those without an agent, which no host gets, and the plugins that were asked for. A home
 * that is evidence could hold an oclif user plugin: none is ever loaded from there.
 */
export async function start(args: readonly string[]): Promise<void> {
  // oclif would take its colours from a file in the home directory: on a live machine that is evidence.
  process.env.AGENT_FORENSICS_DISABLE_THEME = '1'
  const { rest, directories } = takePlugins(args)
  try {
    const own = await loaded(new Plugin({ isRoot: true, root: ROOT }))
    const every = namesTopic(rest, own) ? [] : [await loaded(withoutAgent(own))]
    const all = [own, ...every, ...(await Promise.all(directories.map(loadFrom)))]
    const plugins = new Map(all.map((plugin) => [plugin.name, plugin]))
    await execute({ args: rest, loadOptions: { root: own.root, userPlugins: false, devPlugins: false, plugins } })
  } catch (error) {
    if (!(error instanceof PluginUsageError)) throw error
    process.stderr.write(`agent-forensics: ${error.message}\n`)
    process.exitCode = USAGE
  }
}

class PluginUsageError extends Error {}

async function loaded(plugin: Plugin): Promise<Plugin> {
  await plugin.load()
  return plugin
}

/** Whether the command line begins with an agent of ours: the verbs without one, which have no manifest, then need not be loaded. */
function namesTopic([first]: readonly string[], { commandIDs }: Plugin): boolean {
  return first !== undefined && commandIDs.some((id) => id.startsWith(`${first}:`))
}

/** The verbs that run over every agent, as a plugin of their own, so that the package as a plugin of a host does not bring them. */
function withoutAgent(own: Plugin): Plugin {
  const oclif = { commands: { strategy: 'pattern' as const, target: './dist/cli' } }
  const pjson = { ...own.pjson, name: 'agent-forensics', oclif }
  return new Plugin({ isRoot: true, ignoreManifest: true, root: own.root, pjson })
}

async function loadFrom(directory: string): Promise<Plugin> {
  const plugin = new Plugin({ root: path.resolve(directory), type: 'link', name: undefined })
  try {
    await plugin.load()
  } catch (error) {
    throw new PluginUsageError(`${PLUGIN_FLAG} ${directory}: no plugin could be loaded from there (${(error as Error).message})`)
  }
  if (!plugin.valid) throw new PluginUsageError(`${PLUGIN_FLAG} ${directory}: this is not an oclif plugin`)
  return plugin
}

function takePlugins(args: readonly string[]): { rest: string[]; directories: string[] } {
  const rest: string[] = []
  const directories: string[] = []
  for (let i = 0; i < args.length; i++) {
    const arg = args[i]!
    if (arg === '--') return { rest: [...rest, ...args.slice(i)], directories }
    if (arg === PLUGIN_FLAG) directories.push(args[++i] ?? '')
    else if (arg.startsWith(`${PLUGIN_FLAG}=`)) directories.push(arg.slice(PLUGIN_FLAG.length + 1))
    else rest.push(arg)
  }
  return { rest, directories }
}
