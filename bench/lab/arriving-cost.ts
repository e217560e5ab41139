import { boundOf, CROWD_FORMAT, runCrowd, type Bound, type Crowd } from '@muster/lab'
import { defineQueue } from '@muster/matchmaker'
import { atMost, type Figures } from '../figure.js'
import { rules } from '../matchmaker/kernel-workload.js'
import { createSampler } from '../matchmaker/workload.js'

/** Number of players who come per minute, and the seconds for which they come. */
const PER_MINUTE = 5000
export const SECONDS = 45

/** Maximum cost of matches, as a multiple of the least possible cost at equal wait. */
const goals = [
  { name: 'pairs', size: 2, goal: 1.3 },
  { name: 'matches of 10', size: 10, goal: 1.45 },
] as const

/**
 * Compares the cost of the matchmaker's matches for an arriving crowd with a lower bound: the least cost within the
 * rules if no player waits longer (see `boundOf`).
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

/** Returns a crowd of single players around the world. Each waits for at most a minute. */
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
