import { figuresOf } from '../figures/figures-of.js'
import { type Figures, type LabResult, RESULT_FORMAT } from '../figures/figures.js'
import { crowdOf, outcomeOf, queueOf } from '../figures/outcome.fixture.js'

/** The figures of one duel between two regions. */
const duel = figuresOf(
  crowdOf([
    [{ truth: 1, region: 'Europe', latencies: { a: 20 } }],
    [{ truth: 2, region: 'Asia', latencies: { a: 40 } }],
  ]),
  outcomeOf(['one', 'two'].map((team) => ({ match: 0, team, waitMs: 1000 }))),
  { queues: [queueOf()] },
)

/** Some figures of a run. The figures that this type lacks are those of one duel. */
export interface Had {
  readonly matched?: number
  readonly p50?: number
  readonly p90?: number
  readonly spread?: number
  readonly favourite?: number
  readonly unevenRegion?: number
  readonly hours?: number
  /** Share of the players whom the rules refused. */
  readonly refused?: number
  /** Maximum number of create requests in one second. */
  readonly busiest?: number
  /** Share of the matches in the pool `arena` that found a warm server. Set only for a run with pools. */
  readonly warm?: number
}

function figuresWith({ matched = 1, p50 = 1000, p90 = 2000, spread = 100, ...had }: Had): Figures {
  const { favourite = 0.6, unevenRegion = 0.1, hours = 1, warm, refused, busiest } = had
  const { all, matches, fairness, servers, requests } = duel
  return {
    ...duel,
    all: {
      ...all,
      matched,
      ends: { ...all.ends, ...(refused !== undefined && { refused }) },
      waitMs: { ...all.waitMs, p50, p90 },
      skillSpread: { ...all.skillSpread, mean: spread },
    },
    matches: { ...matches, favourite: { ...matches.favourite, mean: favourite } },
    fairness: { ...fairness, by: { ...fairness.by, region: { ...fairness.by.region, uneven: unevenRegion } } },
    servers: { ...servers, hours },
    requests: busiest === undefined ? requests : { create: { total: busiest, busiest, limit: 40, windowMs: 1000 } },
    pools: warm === undefined ? {} : { arena: { ...servers, hours, matches: 4, warm, toPlayMs: all.waitMs } },
  }
}

/** A result of variants by name, with the values of each of their runs. */
export const resultOf = (variants: Readonly<Record<string, readonly Had[]>>): LabResult => ({
  format: RESULT_FORMAT,
  crowd: { name: 'crowd.ndjson', players: 2, parties: 2, startsAt: 0, durationMs: 3_600_000 },
  seeds: Object.values(variants)[0]?.map((_, index) => index + 1) ?? [],
  variants: Object.entries(variants).map(([name, runs]) => ({
    name,
    queues: [{ name: 'queue', sentences: ['A match has two players.'] }],
    pools: [{ name: 'arena', sentences: ['A server serves 20 matches.'] }],
    runs: runs.map((had) => ({ figures: figuresWith(had) })),
  })),
})
