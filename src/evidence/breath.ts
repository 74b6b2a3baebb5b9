import { setImmediate } from 'node:timers/promises'

/** Milliseconds of work between two breaths. */
const WORK = 50
let last = 0

/**
 * Lets signals and output through now and then: a loop of synchronous reads, even one that awaits each, would keep Ctrl-C waiting to
 * its end.
 */
export async function breath(): Promise<void> {
  const now = performance.now()
  if (now - last < WORK) return
  await setImmediate()
  last = performance.now()
}
