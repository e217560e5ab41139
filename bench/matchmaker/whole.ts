import { fork } from 'node:child_process'
import { once } from 'node:events'
import { atLeast, atMost, median, type Figures } from '../figure.js'
import type { Measured, Measurement } from './whole-process.js'

const ROUNDS = 3

/**
 * The whole matchmaker through its public API: tickets as objects in, events out, everything in memory, on a manual
 * clock. CPU time of all threads of the process; each measurement in its own process, the median of three.
 */
export async function wholeFigures(): Promise<Figures> {
  const pairs = await measured('pairs', 0)
  const parties = await measured('parties', 0)
  const served = await measured('served', 0)
  const standing = await measured('standing', PATIENCE_S * 100)
  const memory = await measured('memory', Number.MAX_SAFE_INTEGER)
  return {
    figures: [
      atLeast('matchmaker: single players into pairs', pairs.value, 150_000, 'tickets/s of CPU'),
      atLeast('matchmaker: parties into 5v5', parties.value, 150_000, 'tickets/s of CPU'),
      atMost('matchmaker: 5,000 tickets/s into 50,000 standing, a tick each second', standing.value, 5, '% of a core'),
      atMost('matchmaker: memory of a waiting ticket', memory.value, 1.5, 'KB'),
    ],
    peers: {
      'matchmaker: single players into pairs': pairs.found,
      'matchmaker: parties into 5v5': parties.found,
      'matchmaker: pairs, tickets/s of CPU from creation to a server that was assigned and stopped': Math.round(
        served.value,
      ),
      'matchmaker: with 50,000 standing': standing.found,
    },
  }
}

/** Seconds after which a measurement is given up: it counts as the worst there is. */
const PATIENCE_S = 90

async function measured(measurement: Measurement, worst: number): Promise<Measured> {
  const all: Measured[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const child = fork(new URL('./whole-process.js', import.meta.url), [measurement], { execArgv: ['--expose-gc'] })
    try {
      const [found] = (await once(child, 'message', { signal: AbortSignal.timeout(PATIENCE_S * 1000) })) as [Measured]
      all.push(found)
    } catch (error) {
      if (!(error instanceof Error && error.name === 'AbortError')) throw error
      return { value: worst, found: { 'given up after seconds': PATIENCE_S } }
    } finally {
      child.kill()
    }
  }
  return { value: median(all.map(({ value }) => value)), found: all[0]?.found ?? {} }
}
