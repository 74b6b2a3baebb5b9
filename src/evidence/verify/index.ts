export * from './verify.js'
