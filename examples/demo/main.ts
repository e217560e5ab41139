import { systemClock } from '@muster/core/clock'
import { INTERRUPTED, onInterrupt } from './interrupt.js'
import { runDemo } from './job.js'
import { sizeOf, wrap } from './layout.js'
import { readOptions, usage, type DemoOptions } from './options.js'
import { processesDemo } from './processes/run.js'
import { relayDemo } from './relay/run.js'
import { demoQueues } from './queues.js'
import { isGood, type DemoResult } from './result.js'
import { createScreen } from './screen.js'
import { SPEED } from './service.js'
import { summary } from './summary.js'
import { warmDemo } from './warm/run.js'

async function main(args: readonly string[]): Promise<number> {
  let options: DemoOptions | undefined
  try {
    options = readOptions(args)
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${usage}`)
    return 2
  }
  if (options === undefined) {
    console.log(usage)
    return 0
  }
  const interrupted = onInterrupt()
  if (options.warm) return warmDemo(options, interrupted)
  if (options.relay) return relayDemo(options, interrupted)
  if (options.processes > 0) return processesDemo(options, interrupted)
  if (options.json) {
    const result = await runDemo(options, () => {}, interrupted)
    console.log(JSON.stringify(result))
    return exitCode(result)
  }
  const names = demoQueues(options.queueSize)
    .map(({ title }) => title)
    .join(', ')
  const { columns } = sizeOf(process.stdout)
  const heading = [
    `${options.players} players in ${names}; servers from an emulator that starts them ${SPEED}× faster than life.`,
    'Addresses and coordinates: IP Geolocation by DB-IP (https://db-ip.com).',
  ]
  console.log(heading.flatMap((line) => wrap(line, columns - 1)).join('\n'))
  const screen = createScreen(process.stdout, systemClock.now)
  const result = await runDemo(options, screen.show, interrupted)
  screen.done()
  console.log(summary(result, sizeOf(process.stdout)))
  return exitCode(result)
}

function exitCode(result: DemoResult): number {
  if (result.interrupted !== undefined) return INTERRUPTED
  return isGood(result) ? 0 : 1
}

process.exitCode = await main(process.argv.slice(2))
