/** Settles the environment by being imported: before oclif, parts of which ask for these while they load. */
import os from 'node:os'

/** Variables by which the system's own loader puts code or libraries of its choice into every program: ld.so(8), dyld(1). */
const LOADER = /^(LD_(PRELOAD|AUDIT|LIBRARY_PATH)|DYLD_(INSERT_LIBRARIES|LIBRARY_PATH|FRAMEWORK_PATH))$/

/** What oclif would read or start on its own, and need not. */
const QUIET = {
  // a theme in the home directory
  AGENT_FORENSICS_DISABLE_THEME: '1',
  // the user database or, on Windows, a PowerShell, to learn which shell this is
  SHELL: process.env.SHELL ?? 'unknown',
  // nothing: an account may have no home, for which oclif is not prepared
  HOME: process.env.HOME ?? homeOfAccount(),
}

function homeOfAccount(): string {
  try {
    return os.homedir()
  } catch {
    return '/nonexistent'
  }
}

/** The system's loader acts before we do: all that is left is to say so. */
function warnOfForeignCode(): void {
  const set = Object.keys(process.env).filter((name) => LOADER.test(name) && process.env[name] !== '')
  if (set.length === 0) return
  const names = set.sort().join(', ')
  process.stderr.write(`warning: ${names} set in the environment: code that is not ours may run in this process; start it with env -i\n`)
}

warnOfForeignCode()
Object.assign(process.env, QUIET)
