import { setImmediate } from 'node:timers/promises'

const OFTEN_ENOUGH = 50

/** Lets the program hear signals and draw progress while it works through files without waiting for anything. */
export class Breath {
  #last = performance.now()

  /** Resolves at once, or after the event loop has had a turn when the last is more than 50 ms ago. */
  async take(): Promise<void> {
    if (performance.now() - this.#last < OFTEN_ENOUGH) return
    await setImmediate()
    this.#last = performance.now()
  }
}
