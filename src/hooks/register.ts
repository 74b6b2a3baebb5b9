import { claudeCode, letta, pi } from '../catalog/index.js'
import type { RegisterHook } from './contract.js'

/** Registers the agents of this package, by the hook that any plugin uses. */
const hook: RegisterHook = () => [
  {
    entry: claudeCode,
    module: new URL('../parsers/claude-code/index.js', import.meta.url).href,
    load: () => import('../parsers/claude-code/index.js'),
    export: 'ClaudeCodeParser',
  },
  {
    entry: letta,
    module: new URL('../parsers/letta/index.js', import.meta.url).href,
    load: () => import('../parsers/letta/index.js'),
    export: 'LettaParser',
  },
  {
    entry: pi,
    module: new URL('../parsers/pi/index.js', import.meta.url).href,
    load: () => import('../parsers/pi/index.js'),
    export: 'PiParser',
  },
]

export default hook
