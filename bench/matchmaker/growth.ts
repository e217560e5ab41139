import { atMost, median, type Figures } from '../figure.js'
import { roundsOf } from './kernel-contender.js'
import { takeTurns } from './kernel-turns.js'
import type { Task } from './kernel-workload.js'

const RUNS = 3
const SIZES = [10_000, 30_000, 100_000, 300_000, 1_000_000] as const
/** Maximum exponent of the growth. 1 means linear. */
const MOST_EXPONENT = 1.1

/** A point of a curve: a number of tickets and the milliseconds that they cost. */
type Point = readonly [tickets: number, ms: number]

/**
 * Measures how the cost of a round grows with its tickets: the exponent of the power law that fits several sizes best.
 */
export async function growthFigures(task: Task): Promise<Figures> {
  const costs: (readonly [tickets: number, ms: readonly number[]])[] = []
  for (const tickets of SIZES) {
    const { ours } = await takeTurns(['ours'], task, tickets, { runs: RUNS, rounds: roundsOf(tickets) / 2 })
    costs.push([tickets, ours.ms])
  }
  const exponents = Array.from({ length: RUNS }, (_, run) =>
    exponentOf(costs.map(([tickets, ms]) => [tickets, ms[run] as number])),
  )
  const name = `kernel: growth of the cost of ${task}, from ${labelOf(SIZES[0])} to ${labelOf(SIZES[4])} tickets`
  const medians = costs.map(([tickets, ms]) => [`${labelOf(tickets)} tickets`, Number(median(ms).toPrecision(3))])
  return {
    figures: [atMost(name, exponents, MOST_EXPONENT, 'as exponent')],
    peers: { [`${name}: ms of CPU`]: Object.fromEntries(medians) },
  }
}

const labelOf = (tickets: number) => tickets.toLocaleString('en')

/** Returns the slope of the straight line that fits the logarithms best, by least squares. */
export function exponentOf(points: readonly Point[]): number {
  const logs = points.map(([tickets, ms]) => [Math.log(tickets), Math.log(ms)] as const)
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  const [across, up] = [mean(logs.map(([x]) => x)), mean(logs.map(([, y]) => y))]
  const together = logs.reduce((sum, [x, y]) => sum + (x - across) * (y - up), 0)
  return together / logs.reduce((sum, [x]) => sum + (x - across) ** 2, 0)
}
