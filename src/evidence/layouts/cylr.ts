import { plain } from './plain.js'
import type { Layout } from './layout.js'

/**
 * A CyLR 2.x zip: paths with the drive's colon cut out (`C/Users/...`, `srv/homes/...`), no manifest, no hashes, every entry Zip64, times of
 * the endpoint's own zone, which nothing records (evidence/collectors, CyLR; SharpZipArchive.cs). The zip bears the machine's name. Its log
 * is inside only without raw access.
 */
export const cylr: Layout = {
  id: 'cylr',
  detect: ({ source, tree, base }) => base === '' && (source.everyEntryZip64 || tree.names('').some((name) => LOG.test(name))),
  map: async (place) => {
    const machine = await plain.map(place)
    return { ...machine, host: machine.host || place.source.name.replace(/\.zip$/i, '') }
  },
}

const LOG = /^CyLR_Collection_Log_.*\.log$/
