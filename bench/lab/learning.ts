import { studyLearning } from '@muster/lab/internal'
import type { QueueDefinition } from '@muster/matchmaker'
import { atMost, type Figures } from '../figure.js'

const differenceOfMu = (from: number, to: number) =>
  ({ kind: 'difference', attribute: 'mu', max: { from, to, overMs: 60_000 } }) as const
const favourite = {
  kind: 'balance',
  measure: 'predictedWin',
  mean: 'mu',
  uncertainty: 'sigma',
  max: { from: 0.6, to: 0.9, overMs: 60_000 },
} as const

/** The queues of docs/ratings.md, by name. */
const QUEUES = {
  none: [],
  mu: [differenceOfMu(3, 15)],
  predicted: [differenceOfMu(3, 15), favourite],
  learning: [differenceOfMu(12, 40), favourite],
  'no difference': [favourite],
} satisfies Record<string, QueueDefinition['rules']>

/**
 * Measures how the rules of a queue change what ratings can learn, with 2,000 players and 100 matches of each. It takes
 * some ten minutes of CPU time.
 */
export async function learningFigures(): Promise<Figures> {
  const study = { players: 2000, matches: 100, seed: 1 }
  const found: Record<string, Awaited<ReturnType<typeof studyLearning>>> = {}
  for (const [name, rules] of Object.entries(QUEUES)) {
    found[name] = await studyLearning({ ...study, rules })
    if (name === 'none' || name === 'no difference') continue
    found[`${name}, all new`] = await studyLearning({ ...study, rules, ratings: { newcomers: 1 } })
  }
  const { mu, learning } = found
  const errorOf = (one: typeof mu) => one?.errors[100]?.newcomers ?? Infinity
  return {
    figures: [
      atMost('ratings: error of newcomers after 100 matches', errorOf(learning), 2.5, 'points of mu'),
      atMost('ratings: the same beside a narrow difference of mu', errorOf(learning) / errorOf(mu), 1.1, 'x'),
      atMost('ratings: the favourite, on average', 100 * (learning?.favourite ?? 1), 66, '%'),
    ],
    peers: found,
  }
}
