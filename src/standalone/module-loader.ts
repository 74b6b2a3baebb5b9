import path from 'node:path'

/** What a module exports. */
export type Module = Readonly<Record<string, unknown>>

/** Modules built into the executable, by their path in the package as package.json names it (`./dist/hooks/register.js`). */
export type Modules = Readonly<Record<string, Module>>

let modules: Modules = {}

/** Says which modules there are; before that there are none. */
export function embed(all: Modules): void {
  modules = all
}

/**
 * What follows stands in for oclif's own module loader (`@oclif/core/lib/module-loader.js`, 4.14) when the executable is bundled: whatever
 * oclif wants to load comes from the table, so that no file of the machine is ever looked up, let alone run.
 */
export async function load(plugin: { readonly root: string }, file: string): Promise<Module> {
  const name = `./${path.relative(plugin.root, file).split(path.sep).join('/')}`
  const module = modules[name]
  if (!module) throw new Error(`${name} is not built into this executable`)
  return module
}

export async function loadWithData(plugin: { readonly root: string }, file: string): Promise<LoadedModule> {
  return { filePath: file, isESM: true, module: await load(plugin, file) }
}

export async function loadWithDataFromManifest({ relativePath }: { readonly relativePath: string[] }, root: string): Promise<LoadedModule> {
  return loadWithData({ root }, path.join(root, ...relativePath))
}

export function isPathModule(): boolean {
  return true
}

interface LoadedModule {
  readonly filePath: string
  readonly isESM: boolean
  readonly module: Module
}
