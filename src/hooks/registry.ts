import type { Config } from '@oclif/core'
import { z } from 'zod'
import { CatalogEntry } from '../catalog/index.js'
import { Registry, type Registrant, type Registration } from '../parsers/index.js'
import { REGISTER_HOOK } from './contract.js'

/** The name of this package, and which of its agents step back before another plugin's. */
const OWN_PLUGIN = '@agent-forensics/plugin-letta'
const STEP_BACK = new Set(['claude-code', 'pi'])

/** Asks every plugin of the host which agents it reads. A plugin that fails is noted, never fatal. */
export async function gatherRegistry(config: Config): Promise<Registry> {
  const registry = new Registry()
  const answers = await config.runHook(REGISTER_HOOK, {}, undefined, true)
  for (const { plugin, error } of answers.failures) registry.failed(registrant(plugin), error)
  for (const { plugin, result } of answers.successes) {
    if (!Array.isArray(result)) registry.failed(registrant(plugin), 'its hook returned no list of registrations')
    else for (const registration of result) add(registry, registration as Registration, registrant(plugin))
  }
  return registry
}

function add(registry: Registry, registration: Registration, by: Registrant): void {
  try {
    const entry = CatalogEntry.parse(registration.entry)
    registry.add({ ...registration, entry }, { ...by, bundled: by.bundled && STEP_BACK.has(entry.agent) })
  } catch (error) {
    registry.failed(by, error instanceof z.ZodError ? `its catalog entry is not one:\n${z.prettifyError(error)}` : error)
  }
}

function registrant({ name, version }: { readonly name: string; readonly version: string }) {
  return { name, version, bundled: name === OWN_PLUGIN }
}
