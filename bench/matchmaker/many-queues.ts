import { atMost, type Figures } from '../figure.js'
import { measuredBy } from '../forked.js'
import type { QueueCosts } from './many-queues-process.js'

const PROGRAM = new URL('./many-queues-process.js', import.meta.url)
const RUNS = 3

/**
 * Measures what queues cost by themselves: the same tickets in one queue and in twenty. Each run has a process of its
 * own.
 */
export async function manyQueueFigures(): Promise<Figures> {
  const runs: QueueCosts[] = []
  for (let run = 0; run < RUNS; run += 1) runs.push(await measuredBy<QueueCosts>(PROGRAM))
  const ratios = (of: (costs: QueueCosts) => number) => runs.map(of)
  return {
    figures: [
      atMost(
        'queues: the same tickets divided among 20',
        ratios(({ divided }) => divided),
        1.25,
        'x one queue',
      ),
      atMost(
        'queues: 19 empty ones beside one',
        ratios(({ besideEmpty }) => besideEmpty),
        1.02,
        'x one queue',
      ),
    ],
    peers: { queues: runs.map(({ found }) => found) },
  }
}
