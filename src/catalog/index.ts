export * from './schema.js'
export { letta } from './letta.js'
