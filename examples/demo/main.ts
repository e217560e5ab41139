import { systemClock } from '@muster/core/clock'
import { runDemo } from './job.js'
import { readOptions, usage, type DemoOptions } from './options.js'
import { relayDemo } from './relay/run.js'
import { demoQueues } from './queues.js'
import { isGood } from './result.js'
import { createScreen } from './screen.js'
import { SPEED } from './service.js'
import { summary } from './summary.js'

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
  if (options.relay) return relayDemo(options)
  if (options.json) {
    const result = await runDemo(options, () => {})
    console.log(JSON.stringify(result))
    return isGood(result) ? 0 : 1
  }
  const names = demoQueues(options.queueSize).map(({ title }) => title).join(', ')
  console.log(
    `${options.players} players in ${names}; servers from an emulator that starts them ${SPEED}× faster than life.\n` +
      'Addresses and coordinates: IP Geolocation by DB-IP (https://db-ip.com).',
  )
  const screen = createScreen(process.stdout, systemClock.now)
  const result = await runDemo(options, screen.show)
  screen.done()
  console.log(summary(result))
  return isGood(result) ? 0 : 1
}

process.exitCode = await main(process.argv.slice(2))
