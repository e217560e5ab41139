import { boundOf, CROWD_FORMAT, runCrowd, type Bound, type Crowd } from '@muster/lab'
import { defineQueue } from '@muster/matchmaker'
import { atMost, type Figures } from '../figure.js'
import { rules } from '../matchmaker/kernel-workload.js'
import { createSampler } from '../matchmaker/workload.js'

/** Players who come in a minute, and for how many seconds they come. */
const PER_MINUTE = 5000
export const SECONDS = 45

/** What matches may cost, as a multiple of the least possible at equal wait. */
const goals = [
  { name: 'pairs', size: 2, goal: 1.3 },
  { name: 'matches of 10', size: 10, goal: 1.45 },
] as const

/**
 * What the matches of the whole matchmaker cost over a crowd that arrives, against what was possible within the rules
 * had nobody waited longer than he did: see `boundOf`.
 */
export async function arrivingCostFigures(): Promise<Figures> {
  const crowd = arriving()
  const results: { readonly name: string; readonly goal: number; readonly bound: Bound | undefined }[] = []
  for (const { name, size, goal } of goals) {
    const deploy = { application: 'game', version: '1' }
    const queue = defineQueue({ name: 'queue', matchSize: size, rules, deploy })
    const bound = boundOf(crowd, await runCrowd(crowd, [queue]), queue)
    results.push({ name: `matchmaker: cost of ${name} against the least possible, players arriving`, goal, bound })
  }
  return {
    figures: results.map(({ name, goal, bound }) => atMost(name, bound?.ratio ?? Infinity, goal, '×')),
    peers: Object.fromEntries(results.map(({ name, bound }) => [name, bound])),
  }
}

/** Single players around the world, who wait for a minute at most. */
export function arriving(): Crowd {
  const sample = createSampler(1)
  const count = (PER_MINUTE * SECONDS) / 60
  return {
    header: { format: CROWD_FORMAT, startsAt: 0, durationMs: 1000 * SECONDS },
    parties: Array.from({ length: count }, (_, index) => {
      const { latitude, longitude, skill } = sample()
      return {
        id: `party-${index}`,
        at: Math.floor((1000 * SECONDS * index) / count),
        players: [{ id: `player-${index}`, coordinates: { latitude, longitude }, attributes: { skill } }],
        visits: [{ patienceMs: 60_000, playMs: 60_000 }],
      }
    }),
  }
}
