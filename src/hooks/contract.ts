import type { Registration } from '../parsers/index.js'

/** The hook by which a plugin registers agents with agent-forensics; ours uses it too. */
export const REGISTER_HOOK = 'agent-forensics:register'

/**
 * What a plugin's hook returns: for each agent its catalog entry and the module whose export is the parser class.
 *
 * @example
 * const hook: RegisterHook = async () => [{ entry: example, module: new URL('../parser.js', import.meta.url).href }]
 */
export type RegisterHook = () => Promise<readonly Registration[]> | readonly Registration[]
