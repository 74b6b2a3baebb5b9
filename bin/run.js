#!/usr/bin/env node
import { fileURLToPath } from 'node:url'
import { execute } from '@oclif/core'

// A home that is evidence could hold an oclif user plugin: none is ever loaded from there.
await execute({
  dir: import.meta.url,
  loadOptions: { root: fileURLToPath(new URL('..', import.meta.url)), userPlugins: false, devPlugins: false },
})
