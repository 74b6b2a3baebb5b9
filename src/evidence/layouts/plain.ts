import { etcHostname } from '../machine.js'
import type { Layout, MappedMachine, Place } from './layout.js'

/**
 * Files that stand at their own paths: a mounted image, a tar of one, a copy of `/home` or `C:\Users`, a zip of one home, and what CyLR and
 * KAPE leave when their logs are gone (`C/Users/...`). Nothing is renamed; whoever finds homes in it reads drive folders and bare home
 * folders too (`Machine`). The host stands in `etc/hostname` at most (evidence/collectors, Plain copies).
 */
export const plain: Layout = {
  id: 'plain',
  detect: () => true,
  map: async ({ tree }: Place): Promise<MappedMachine> => ({ host: await etcHostname(tree), tree, troubles: [] }),
}
