import { systemClock } from '@muster/core/clock'
import { findRedisServer, howToGetRedis } from '@muster/redis-server'
import { INTERRUPTED } from '../interrupt.js'
import { row, sizeOf, wrap } from '../layout.js'
import type { DemoOptions } from '../options.js'
import { createScreen } from '../screen.js'
import { summary } from '../summary.js'
import { runInProcesses } from './job.js'
import { isGoodInProcesses, type ProcessesDemoResult } from './result.js'

/** Runs the demo with several processes. @returns the exit code. */
export async function processesDemo(options: DemoOptions, interrupted: AbortSignal): Promise<number> {
  if (findRedisServer() === undefined) {
    console.error(`There is no redis-server on this machine: ${howToGetRedis}`)
    return 2
  }
  if (options.json) {
    const result = await runInProcesses(options, () => {}, interrupted)
    console.log(JSON.stringify(result))
    return exitCode(result)
  }
  const { columns } = sizeOf(process.stdout)
  const heading =
    `${options.players} players, ${options.processes} processes of the ticket API on one Redis; ` +
    'one process is killed on the way, and later the one that leads.'
  console.log(wrap(heading, columns - 1).join('\n'))
  const screen = createScreen(process.stdout, systemClock.now)
  const result = await runInProcesses(options, screen.show, interrupted)
  screen.done()
  console.log(summary(result, sizeOf(process.stdout)))
  console.log(ofProcesses(result, columns))
  return exitCode(result)
}

function ofProcesses({ several }: ProcessesDemoResult, columns: number): string {
  const { takeoverSeconds, ticketsLost, matchesWithTwoServers, repeated } = several
  const takeovers = takeoverSeconds.map((seconds) => `${seconds.toFixed(2)} s`).join(', ')
  return [
    ...row('takeover', takeovers === '' ? 'none' : `${takeovers} after the leader was killed`, columns),
    ...row('asked again', `${repeated} requests, of another process`, columns),
    ...row('tickets lost', String(ticketsLost), columns),
    ...row('two servers', `${matchesWithTwoServers} matches`, columns),
    '',
  ].join('\n')
}

function exitCode(result: ProcessesDemoResult): number {
  if (result.interrupted !== undefined) return INTERRUPTED
  return isGoodInProcesses(result) ? 0 : 1
}
