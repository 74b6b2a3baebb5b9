import { letta } from '../catalog/index.js'
import type { RegisterHook } from './contract.js'

/** Registers the agents of this package, by the hook that any plugin uses. */
const hook: RegisterHook = () => [
  {
    entry: letta,
    module: new URL('../parsers/letta/index.js', import.meta.url).href,
    load: () => import('../parsers/letta/index.js'),
    export: 'LettaParser',
  },
]

export default hook
