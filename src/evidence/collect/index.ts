export * from './collect.js'
export type { Wishes } from './decide.js'
