import { seededRandom, systemClock } from '@muster/core/clock'
import { createMatchmaker } from '@muster/matchmaker'
import { createBreather } from './breathe.js'
import { ARRIVE_MS, gather } from './crowd.js'
import type { DemoOptions } from './options.js'
import { startPressureMeter } from './pressure.js'
import type { Progress } from './progress.js'
import { demoQueues, EXPIRE_MS } from './queues.js'
import { beaconsOf, measured } from './latencies.js'
import { resultOf } from './result-of.js'
import type { DemoResult } from './result.js'
import type { Screen } from './screen.js'
import { running, startService } from './service.js'
import { liveSocially } from './social-life.js'
import { createUnmatched } from './unmatched.js'
import { watchDemo } from './watch.js'

/**
 * Maximum milliseconds for which the demo waits for players. Players who have no result by then count as lost, which
 * the result shows.
 */
const LONGEST_MS = 60_000
const LOOK_MS = 100

/**
 * Runs the demo from start to end: an emulator on a port, a client, a matchmaker and a crowd.
 * @param interrupted ends the demo early.
 */
export async function runDemo(
  options: DemoOptions,
  show: Screen['show'],
  interrupted: AbortSignal,
): Promise<DemoResult> {
  const { seed, queueSize } = options
  const queues = demoQueues(queueSize)
  const crowd = gather(options, ARRIVE_MS)
  const placeOf = (ip: string) => crowd.places.get(ip)
  const { emulator, client } = await startService(options, placeOf)
  const arrivals = measured(crowd.arrivals, queues, placeOf, await beaconsOf(client), seed)

  const matchmaker = createMatchmaker({
    deployments: client.deployments,
    beacons: () => client.locations.beacons.all(),
    locate: placeOf,
    queues: queues.map(({ definition }) => definition),
  })
  const watch = watchDemo(matchmaker, client, queues, arrivals)
  const unmatched = createUnmatched(matchmaker, EXPIRE_MS, systemClock)
  const meter = startPressureMeter(matchmaker, client, systemClock)
  const breathe = createBreather(systemClock.now)
  const ending = new AbortController()
  const left = new Set<string>()
  liveSocially({
    service: matchmaker,
    onAssigned: (listener) => matchmaker.on('serverAssigned', listener),
    queue: 'social',
    clock: systemClock,
    random: seededRandom(seed + 1),
    signal: ending.signal,
    left: (playerIds) => {
      for (const id of playerIds) left.add(id)
    },
  })
  const startedAt = systemClock.now()
  const report = (phase: Progress['phase']) => show(phase, () => watch.progress(phase))

  /** Waits, or returns at once if the demo was interrupted. */
  const pause = (ms: number) => systemClock.sleep(ms, interrupted).catch(() => {})

  matchmaker.start()
  for (const { afterMs, ticket } of arrivals) {
    const wait = startedAt + afterMs - systemClock.now()
    if (wait > 0) {
      report('matching')
      await pause(wait)
    }
    if (interrupted.aborted) break
    watch.came(matchmaker.createTicket(ticket))
    await unmatched.look()
    await breathe()
  }
  while (!interrupted.aborted && !watch.allEnded() && systemClock.now() < startedAt + LONGEST_MS) {
    await pause(LOOK_MS)
    await unmatched.look()
    report('matching')
  }
  const pressure = meter.read()
  const ended = watch.tickets()
  const interruptedWith = interrupted.aborted ? running(emulator).length : undefined

  ending.abort()
  report('stopping')
  await matchmaker.close({ stopServers: true })
  while (running(emulator).length > 0 && systemClock.now() < startedAt + LONGEST_MS) {
    await systemClock.sleep(LOOK_MS)
    report('stopping')
  }
  report('done')
  await client.close()

  const tookMs = systemClock.now() - startedAt
  const { joined, placed } = watch
  const result = resultOf({
    options,
    queues,
    arrivals,
    placeOf,
    ended,
    why: unmatched.why,
    emulator,
    limits: watch.limits(),
    pressure,
    joined,
    placed,
    left,
    tookMs,
    interruptedWith,
  })
  await emulator.close()
  return result
}
