import type { Clock } from '../clock.js'
import { parentEnded } from './watch-parents.js'

const signals = ['SIGINT', 'SIGTERM'] as const
/**
 * A second signal within this many milliseconds is a duplicate of the first: the terminal sends one and `npx` forwards
 * another.
 */
const SAME_SIGNAL_MS = 500

/**
 * Resolves when this process should end: at SIGINT or SIGTERM, or when one of the parents is gone, such as the `npx`
 * that started it. A further signal ends the process at once, with exit code 1. To be called once.
 * @param parents of `parentsNow`, called when the process began.
 */
export function toldToEnd(parents: ReadonlySet<number>, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    let toldAt: number | undefined
    const told = () => {
      toldAt ??= clock.now()
      if (clock.now() - toldAt > SAME_SIGNAL_MS) process.exit(1)
      resolve()
    }
    for (const signal of signals) process.on(signal, told)
    // It may go while this process ends, which is no reason to hurry.
    void parentEnded(parents, clock).then(resolve)
  })
}
