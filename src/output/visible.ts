export { visible } from '../rows/index.js'
