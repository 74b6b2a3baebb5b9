import './environment.js'
import { Errors, execute, Plugin, settings, type Command, type Interfaces } from '@oclif/core'
import { embed, type Modules } from './module-loader.js'

/** What the bundle brings with it, since there is no package beside the executable to read it from. */
export interface Embedded {
  readonly pjson: Interfaces.PJSON
  /** Every command class by its id (`letta:parse`). */
  readonly commands: Readonly<Record<string, Command.Class>>
  /** The modules of the hooks, by the paths that package.json gives them. */
  readonly hooks: Modules
}

/** No directory: what oclif finds under it is in the table of embedded modules, and nowhere else. */
const ROOT = '/agent-forensics.embedded'
const COMMANDS = './commands'

/** The command line of the executable: oclif as in bin/run.js, with one plugin, which is built in. */
export async function main(embedded: Embedded): Promise<void> {
  // Sources in TypeScript are not looked for, whatever NODE_ENV says.
  settings.enableAutoTranspile = false
  embed({ ...embedded.hooks, [COMMANDS]: { commands: embedded.commands } })
  const plugin = new Plugin({ isRoot: true, ignoreManifest: true, root: ROOT, pjson: withTable(embedded.pjson) })
  try {
    await plugin.load()
  } catch (error) {
    return Errors.handle(error as Error)
  }
  await execute({ loadOptions: { root: ROOT, plugins: new Map([[plugin.name, plugin]]), userPlugins: false, devPlugins: false } })
}

/** Commands are a table instead of files in a directory. */
function withTable(pjson: Interfaces.PJSON): Interfaces.PJSON {
  return { ...pjson, oclif: { ...pjson.oclif, commands: { strategy: 'explicit', target: COMMANDS, identifier: 'commands' } } }
}
