import { median, atMost, type Figures } from '../figure.js'
import { measuredBy } from '../forked.js'
import { runsOf } from '../runs.js'
import type { WaitCost } from './wait-cost-process.js'

const PROGRAM = new URL('./wait-cost-process.js', import.meta.url)
const RUNS = 3

/**
 * Measures the cost of estimated waits in a queue with 204 kinds of tickets and 400 tickets per second. Each waiting
 * player requests an estimate once a second. With `MUSTER_BESIDE`, the URL of another build's matchmaker, that build is
 * measured too.
 */
export async function waitCostFigures(): Promise<Figures> {
  const { MUSTER_BESIDE: beside } = process.env
  const own = await runsOf(RUNS, () => measuredBy<WaitCost>(PROGRAM))
  const figures = [
    atMost(
      'waits: answers, 204 kinds and 400 players a second',
      own.map(({ share }) => share),
      10,
      '% of the matchmaker alone, without HTTP',
    ),
    atMost(
      'the same answers, of all that a core can do',
      own.map(({ askedMs }) => askedMs / 10),
      2,
      '% of a core',
    ),
  ]
  if (beside === undefined) return { figures, peers: { 'wait-cost': own } }
  const others = await runsOf(RUNS, () => measuredBy<WaitCost>(PROGRAM, [beside]))
  const cost = median(others.map(({ share }) => share / (100 - share)))
  figures.push(
    atMost(
      'waits: answers, beside the other build',
      own.map(({ share }) => share / (100 - share) / cost),
      0.5,
      'x its cost',
    ),
  )
  return { figures, peers: { 'wait-cost': own, 'wait-cost of the other build': others } }
}
