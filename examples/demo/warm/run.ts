import { systemClock } from '@muster/core/clock'
import { INTERRUPTED } from '../interrupt.js'
import { sizeOf, wrap } from '../layout.js'
import type { DemoOptions } from '../options.js'
import { createScreen } from '../screen.js'
import { SPEED } from '../service.js'
import { MATCH_SIZE, runWarmDemo } from './job.js'
import { isGood, type WarmResult } from './result.js'
import { summary } from './summary.js'

/** Runs the demo of warm servers. @returns the exit code. */
export async function warmDemo(options: DemoOptions, interrupted: AbortSignal): Promise<number> {
  if (options.json) {
    const result = await runWarmDemo(options, () => {}, interrupted)
    console.log(JSON.stringify(result))
    return exitCode(result)
  }
  const { players, queueSize = MATCH_SIZE } = options
  const { columns } = sizeOf(process.stdout)
  const heading =
    `The same ${players} players, in matches of ${queueSize}, with a server for each match and with a pool of warm ` +
    `servers; from two emulators that start them ${SPEED}× faster than life. They come once the pool is warm.`
  console.log(wrap(heading, columns - 1).join('\n'))
  const screen = createScreen(process.stdout, systemClock.now)
  const result = await runWarmDemo(options, screen.show, interrupted)
  screen.done()
  console.log(summary(result, sizeOf(process.stdout)))
  return exitCode(result)
}

function exitCode(result: WarmResult): number {
  if (result.interruptedWith !== undefined) return INTERRUPTED
  return isGood(result) ? 0 : 1
}
