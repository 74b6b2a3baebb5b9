import type { Home } from '../evidence/index.js'
import type { ParserRun } from './parser.js'

/** The working directories that records name: each is looked up in the evidence once, and counted when it is not there. */
export class Projects {
  readonly #named = new Set<string>()

  constructor(
    readonly home: Home,
    readonly run: ParserRun,
  ) {}

  name(recorded: string): void {
    if (recorded === '' || this.#named.has(recorded)) return
    this.#named.add(recorded)
    const outcome = this.home.nameProject(recorded)
    if (outcome === 'not-found') this.run.projectsNotFound.add(recorded)
    if (outcome === 'refused') this.run.projectsRefused.add(recorded)
  }
}
