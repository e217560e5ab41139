import { systemClock } from '@muster/core/clock'
import type { DemoOptions } from '../options.js'
import { runRelayDemo } from './job.js'
import { isGood } from './result.js'
import { createRelayScreen } from './screen.js'
import { summary } from './summary.js'

/** @returns the exit code. */
export async function relayDemo(options: DemoOptions): Promise<number> {
  if (options.json) {
    const result = await runRelayDemo(options, () => {})
    console.log(JSON.stringify(result))
    return isGood(result) ? 0 : 1
  }
  console.log(`${options.lobbies} lobbies, real UDP packets through the relay of an emulator in this process.`)
  const screen = createRelayScreen(process.stdout, systemClock.now)
  const result = await runRelayDemo(options, screen.show)
  screen.done()
  console.log(summary(result))
  return isGood(result) ? 0 : 1
}
