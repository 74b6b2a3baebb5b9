/**
 * Whether this is the one-file executable (docs/standalone.md), which may run on the suspect's machine: it writes nothing that was not
 * asked for, not even a temporary file. Node says so since 20.16, and nothing older can build it.
 */
export const standalone = process.getBuiltinModule?.('node:sea').isSea() ?? false
