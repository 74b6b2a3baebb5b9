/**
 * The copy of Node that carries the program, made deaf to the environment.
 *
 * Whoever owned the machine may have set variables that run code in, or write files from, every Node program. NODE_OPTIONS=--require is
 * over before a first line of ours runs, so nothing in our script can help: the names themselves are taken out of the binary. A variable's
 * name becomes the empty one, and no variable has that.
 */

/** A Node in which one of these is not found is refused: it would run code or write files at the environment's word. */
const DANGEROUS = [
  'NODE_OPTIONS', // --require and --import run code; --cpu-prof and the like write files
  'NODE_REPL_EXTERNAL_MODULE', // runs a module
  'OPENSSL_CONF', // names engines and providers, which are code
  'NODE_V8_COVERAGE', // writes coverage to a directory
  'NODE_REDIRECT_WARNINGS', // writes warnings to a file
]

/** Silenced in every Node that knows them: more code, files and directories that the environment could name, or a change of behaviour. */
const UNWANTED = [
  'NODE_COMPILE_CACHE', // writes compiled code to a directory and runs what lies there (Node 22)
  'NODE_COMPILE_CACHE_PORTABLE',
  'NODE_DISABLE_COMPILE_CACHE',
  'OPENSSL_CONF_INCLUDE',
  'OPENSSL_ENGINES',
  'OPENSSL_MODULES',
  'NODE_EXTRA_CA_CERTS',
  'NODE_USE_ENV_PROXY',
  'NODE_USE_SYSTEM_CA',
  'SSL_CERT_DIR',
  'SSL_CERT_FILE',
  'CTLOG_FILE',
  'RANDFILE',
  'NODE_ICU_DATA',
  'ICU_TIMEZONE_FILES_DIR',
  'NODE_PRESERVE_SYMLINKS',
  'NODE_PRESERVE_SYMLINKS_MAIN',
  'NODE_PENDING_DEPRECATION',
  'NODE_DEBUG_NATIVE',
]

/** Begin like the variables of Node and are none. */
const NOT_VARIABLES = /^NODE_(SEA_BLOB|DEBUG_ENABLED|PERFORMANCE_[A-Z0-9_]+)$/

/** The configuration that OpenSSL reads unasked (/etc/ssl/openssl.cnf): another name of the same length, at which there is none. */
const OPENSSL_FILE = ['openssl.cnf', 'no-such.cnf']

/**
 * Silences a node binary, in place.
 *
 * @param {Buffer} binary
 * @returns {string[]} the variables that it no longer heeds
 */
export function silence(binary) {
  const silenced = [...DANGEROUS, ...UNWANTED].filter((name) => blank(binary, name) > 0)
  const heeded = DANGEROUS.filter((name) => !silenced.includes(name))
  if (heeded.length > 0) throw new Error(`this Node cannot be made deaf to ${heeded.join(', ')}: build with one from nodejs.org`)
  const unknown = variables(binary).filter((name) => !NOT_VARIABLES.test(name))
  if (unknown.length > 0)
    throw new Error(`this Node heeds ${unknown.join(', ')}, which nobody has looked at yet: decide in scripts/standalone/carrier.js`)
  for (const at of cStrings(binary, OPENSSL_FILE[0])) binary.write(OPENSSL_FILE[1], at, 'latin1')
  return silenced
}

function blank(binary, name) {
  const found = cStrings(binary, name)
  for (const at of found) binary[at] = 0
  return found.length
}

/** Where a text lies as a whole C string: a zero before it and one behind. */
function cStrings(binary, text) {
  const found = []
  const bytes = Buffer.from(`\0${text}\0`, 'latin1')
  for (let at = binary.indexOf(bytes); at !== -1; at = binary.indexOf(bytes, at + 1))
    if (!isV8String(binary, at + 1, text.length)) found.push(at + 1)
  return found
}

/** V8's snapshot holds texts too, each behind its length, and is guarded by a checksum. */
function isV8String(binary, at, length) {
  return binary.readUInt32LE(at - 4) === length
}

/** Every C string of the binary that looks like a variable of Node. */
function variables(binary) {
  const found = new Set()
  const begin = Buffer.from('\0NODE_', 'latin1')
  for (let at = binary.indexOf(begin); at !== -1; at = binary.indexOf(begin, at + 1)) {
    const name = binary.toString('latin1', at + 1, binary.indexOf(0, at + 1))
    if (/^NODE_[A-Z0-9_]+$/.test(name) && !isV8String(binary, at + 1, name.length)) found.add(name)
  }
  return [...found]
}
