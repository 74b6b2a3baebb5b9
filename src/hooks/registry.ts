import type { Config } from '@oclif/core'
import { CatalogEntry } from '../catalog/index.js'
import { Registry, type Registration } from '../parsers/index.js'
import { REGISTER_HOOK } from './contract.js'

/** The name of this package: its own registrations step back before others'. */
const OWN_PLUGIN = '@agent-forensics/plugin-letta'

/** Asks every plugin of the host which agents it reads. A plugin that fails is noted, never fatal. */
export async function gatherRegistry(config: Config): Promise<Registry> {
  const registry = new Registry()
  const answers = await config.runHook(REGISTER_HOOK, {}, undefined, true)
  for (const { plugin, error } of answers.failures) registry.failed(registrant(plugin), error)
  for (const { plugin, result } of answers.successes) {
    for (const registration of result as readonly Registration[]) {
      try {
        registry.add({ ...registration, entry: CatalogEntry.parse(registration.entry) }, registrant(plugin))
      } catch (error) {
        registry.failed(registrant(plugin), error)
      }
    }
  }
  return registry
}

function registrant({ name, version }: { readonly name: string; readonly version: string }) {
  return { name, version, bundled: name === OWN_PLUGIN }
}
