import { systemClock } from '@muster/core/clock'
import { INTERRUPTED } from '../interrupt.js'
import { sizeOf, wrap } from '../layout.js'
import type { DemoOptions } from '../options.js'
import { runRelayDemo } from './job.js'
import { isGood } from './result.js'
import { createRelayScreen } from './screen.js'
import { summary } from './summary.js'

/** Runs the relay demo. @returns the exit code. */
export async function relayDemo(options: DemoOptions, interrupted: AbortSignal): Promise<number> {
  if (options.json) {
    const result = await runRelayDemo(options, () => {}, interrupted)
    console.log(JSON.stringify(result))
    if (result.interruptedWith !== undefined) process.exit(INTERRUPTED)
    return isGood(result) ? 0 : 1
  }
  const heading = `${options.lobbies} lobbies, real UDP packets through the relay of an emulator in this process.`
  console.log(wrap(heading, sizeOf(process.stdout).columns - 1).join('\n'))
  const screen = createRelayScreen(process.stdout, systemClock.now)
  const result = await runRelayDemo(options, screen.show, interrupted)
  screen.done()
  console.log(summary(result, sizeOf(process.stdout)))
  // Exits explicitly, because calls of players that were interrupted are still pending.
  if (result.interruptedWith !== undefined) process.exit(INTERRUPTED)
  return isGood(result) ? 0 : 1
}
