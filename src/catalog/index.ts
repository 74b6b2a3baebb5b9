export * from './schema.js'
export { claudeCode } from './claude-code.js'
export { letta } from './letta.js'
export { pi } from './pi.js'
