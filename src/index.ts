export * from './catalog/index.js'
export * from './evidence/index.js'
export * from './hooks/contract.js'
export * from './parsers/index.js'
export * from './rows/index.js'
/** The zod that record shapes are declared with: one copy, so that shapes of a plugin and of this package are the same to each other. */
export { z } from 'zod'
