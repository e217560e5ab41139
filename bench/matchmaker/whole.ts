import { atLeast, atMost, median, type Figures } from '../figure.js'
import { GivenUp, measuredBy } from '../forked.js'
import type { Measured, Measurement } from './whole-process.js'

const PROGRAM = new URL('./whole-process.js', import.meta.url)
const RUNS = 3

/**
 * Measures the whole matchmaker through its public API: tickets as objects in, events out, with everything in memory,
 * on a manual clock. The CPU time of all threads of the process counts. Each run has a process of its own.
 */
export async function wholeFigures(): Promise<Figures> {
  const pairs = await measured('pairs', 0)
  const parties = await measured('parties', 0)
  const served = await measured('served', 0)
  const standing = await measured('standing', PATIENCE_S * 100)
  const memory = await measured('memory', Number.MAX_SAFE_INTEGER)
  return {
    figures: [
      atLeast('matchmaker: single players into pairs', pairs.runs, 110_000, 'tickets/s of CPU', sharesOf(pairs)),
      atLeast('matchmaker: parties into 5v5', parties.runs, 95_000, 'tickets/s of CPU', sharesOf(parties)),
      atMost(
        'matchmaker: 5,000 tickets/s into 50,000 standing, a tick each second',
        standing.runs,
        4,
        '% of a core',
        sharesOf(standing),
      ),
      atMost('matchmaker: memory of a waiting ticket', memory.runs, 1.5, 'KB'),
    ],
    peers: {
      'matchmaker: single players into pairs': pairs.found,
      'matchmaker: parties into 5v5': parties.found,
      'matchmaker: pairs, tickets/s of CPU from creation to a server that was assigned and stopped': Math.round(
        median(served.runs),
      ),
      'matchmaker: with 50,000 standing': standing.found,
    },
  }
}

/** Seconds after which a measurement is given up. It then counts as the worst possible result. */
const PATIENCE_S = 90

interface Measurements {
  readonly runs: readonly number[]
  readonly found: Measured['found']
}

async function measured(measurement: Measurement, worst: number): Promise<Measurements> {
  const all: Measured[] = []
  for (let run = 0; run < RUNS; run += 1) {
    const options = { execArgv: ['--expose-gc'], patienceMs: PATIENCE_S * 1000 }
    try {
      all.push(await measuredBy<Measured>(PROGRAM, [measurement], options))
    } catch (error) {
      if (!(error instanceof GivenUp)) throw error
      return { runs: [worst], found: { 'given up after seconds': PATIENCE_S } }
    }
  }
  return { runs: all.map(({ value }) => value), found: all[0]?.found ?? {} }
}

const sharesOf = ({ found }: Measurements): string | undefined => {
  const share = found['share matched']
  return typeof share === 'number' ? `${Number((100 * share).toPrecision(3))} % matched` : undefined
}
