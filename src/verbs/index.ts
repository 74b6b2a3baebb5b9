export { ParseCommand } from './parse.js'
