import fs from 'node:fs'

/** Beside the program, not compiled: what a browser runs. `assets/` stands at the same depth below `src` and `dist`. */
const ASSETS = new URL('../../assets/report/', import.meta.url)

/** The text of a file of the page. The standalone executable has these texts built in: its build puts another module in this one's place. */
export function asset(name: string): string {
  return fs.readFileSync(new URL(name, ASSETS), 'utf8').trim()
}
