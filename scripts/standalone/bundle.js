/** The program as one CommonJS script: all that a single-executable application of Node 20 can hold. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { build } from 'esbuild'
import glob from 'fast-glob'

const OCLIF_LOADER = /@oclif[\\/]core[\\/]lib[\\/]module-loader\.js$/
const ASSETS_MODULE = /src[\\/]report[\\/]assets\.ts$/
const OUR_LOADER = 'src/standalone/module-loader.ts'

/** Commands of an agent, and those without one. */
const COMMAND_FOLDERS = ['src/commands', 'src/cli']

/** @param {string} root the package's directory @returns {Promise<string>} the script's text */
export async function bundle(root) {
  const replaced = new Set()
  const { outputFiles } = await build({
    absWorkingDir: root,
    stdin: { contents: entry(root), resolveDir: root, sourcefile: 'entry.js' },
    bundle: true,
    write: false,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    // An import() becomes a require(), and that of a single-executable application knows Node's own modules and nothing else.
    supported: { 'dynamic-import': false },
    define: {
      'import.meta.url': JSON.stringify('embedded:///agent-forensics.js'),
      // oclif looks for TypeScript sources in development, and reads its package.json to warn of an old Node.
      'process.env.NODE_ENV': '"production"',
      'process.env.OCLIF_DISABLE_ENGINE_WARNING': '"1"',
    },
    // Its main file asks for its parts through a function that no bundler sees through.
    alias: { 'jsonc-parser': 'jsonc-parser/lib/esm/main.js' },
    // Development only: oclif asks for it where it is installed.
    external: ['typescript'],
    plugins: [replaceLoader(root, replaced), embedAssets(root)],
    logLevel: 'warning',
  })
  if (replaced.size !== 1) throw new Error(`oclif's module loader is not where it was: ${replaced.size} files match ${OCLIF_LOADER}`)
  return outputFiles[0].text
}

/** Imports every command and hook by name, and hands them to the program. */
function entry(root) {
  const pjson = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'))
  const { name, version, description, type, oclif } = pjson
  const commands = COMMAND_FOLDERS.flatMap((folder) => glob.sync(`${folder}/**/*.ts`, { cwd: root }).sort())
  const hooks = Object.values(oclif.hooks).flat()
  return [
    `import { main } from './src/standalone/main.ts'`,
    ...commands.map((file, at) => `import command${at} from './${file}'`),
    ...hooks.map((file, at) => `import * as hook${at} from '${file.replace('./dist/', './src/').replace(/\.js$/, '.ts')}'`),
    `void main({`,
    `  pjson: ${JSON.stringify({ name, version, description, type, oclif })},`,
    `  commands: { ${commands.map((file, at) => `${JSON.stringify(commandId(file))}: command${at}`).join(', ')} },`,
    `  hooks: { ${hooks.map((file, at) => `${JSON.stringify(file)}: hook${at}`).join(', ')} },`,
    `})`,
  ].join('\n')
}

/** `commands/letta/parse.ts` is `letta:parse`, `cli/parse.ts` is `parse`: as oclif names what it finds in a directory. */
function commandId(file) {
  return file
    .replace(/^src\/(commands|cli)\//, '')
    .replace(/\.ts$/, '')
    .split('/')
    .filter((part, at, all) => part !== 'index' || at < all.length - 1)
    .join(':')
}

/** The files of the report's page, as texts in the program. */
function embedAssets(root) {
  const folder = path.join(root, 'assets/report')
  const texts = Object.fromEntries(
    glob.sync('*.{js,css}', { cwd: folder }).map((name) => [name, readFileSync(path.join(folder, name), 'utf8').trim()]),
  )
  return {
    name: 'assets of the report',
    setup(esbuild) {
      esbuild.onLoad({ filter: ASSETS_MODULE }, () => ({
        contents: `const texts = ${JSON.stringify(texts)}\nexport const asset = (name) => texts[name]`,
      }))
    },
  }
}

function replaceLoader(root, replaced) {
  return {
    name: 'module loader',
    setup(esbuild) {
      esbuild.onLoad({ filter: OCLIF_LOADER }, ({ path: file }) => {
        replaced.add(file)
        return { contents: `export * from ${JSON.stringify(path.join(root, OUR_LOADER))}`, resolveDir: root }
      })
    },
  }
}
