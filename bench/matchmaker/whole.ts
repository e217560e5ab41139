import { fork } from 'node:child_process'
import { once } from 'node:events'
import { atLeast, atMost, median, type Figures } from '../figure.js'
import type { Measured, Measurement } from './whole-process.js'

const ROUNDS = 3

/**
 * The whole matchmaker through its public API: tickets as objects in, events out, everything in memory, on a clock that is
 * moved by hand. CPU time of the process, all its threads; each measurement in a process of its own, the median of three.
 */
export async function wholeFigures(): Promise<Figures> {
  const pairs = await measured('pairs')
  const parties = await measured('parties')
  const served = await measured('served')
  const standing = await measured('standing')
  const memory = await measured('memory')
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
      'matchmaker: tickets/s of CPU in pairs, from creation to a server that is assigned and stopped again': Math.round(served.value),
      'matchmaker: with 50,000 standing': standing.found,
    },
  }
}

async function measured(measurement: Measurement): Promise<Measured> {
  const all: Measured[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const child = fork(new URL('./whole-process.js', import.meta.url), [measurement], { execArgv: ['--expose-gc'] })
    const [found] = (await once(child, 'message')) as [Measured]
    all.push(found)
    child.disconnect()
  }
  return { value: median(all.map(({ value }) => value)), found: all[0]?.found ?? {} }
}
