import { greatCircleKm } from '@muster/core'
import type { RuleDefinition } from '@muster/matchmaker'
import { createSampler, limitsBetween, STEPS, type Sample } from './workload.js'

/** Distance and skill, as `STEPS` relax them. */
export const rules: readonly RuleDefinition[] = [
  { kind: 'distance', maxKm: STEPS.map(({ afterS, km }) => ({ afterMs: afterS * 1000, value: km })) },
  {
    kind: 'difference',
    attribute: 'skill',
    max: STEPS.map(({ afterS, skill }) => ({ afterMs: afterS * 1000, value: skill })),
  },
]

export type Task = 'pairs' | 'tens' | 'parties'

/** What a round makes of the tickets. */
export interface Grouping {
  /** CPU of a round. */
  readonly ms: number
  /** Of the players, in a match. */
  readonly percent: number
  /** Pairs of tickets in one match that break a rule. */
  readonly broken: number
  readonly addsPerS?: number | undefined
  readonly bytesPerTicket?: number | undefined
}

/** Epoch milliseconds of a round. */
export const NOW = 1_000_000_000_000

/** A ticket as `entryOf` of a compiled queue takes it. */
export const ruleTicket = ({ latitude, longitude, skill, waitedS, size }: Sample, index: number) => ({
  id: `t${index}`,
  createdAt: NOW - waitedS * 1000,
  priority: 0,
  players: Array.from({ length: size }, (_, player) => ({
    id: `${index}-${player}`,
    attributes: { skill },
    roles: [],
    latencies: {},
    avoid: [],
  })),
  place: { latitude, longitude },
  network: undefined,
})

export function samples(count: number): Sample[] {
  const sample = createSampler(1)
  return Array.from({ length: count }, sample)
}

/** Whether two may be in one match: said as plainly as the rule is, on other formulas than the kernel's. */
function mayMeet(one: Sample, other: Sample): boolean {
  const { skill, km } = limitsBetween(one, other)
  return Math.abs(one.skill - other.skill) <= skill && greatCircleKm(one, other) <= km + 1e-6
}

/** Pairs of a match that may not meet. */
export const brokenPairs = (match: readonly Sample[]): number =>
  match.reduce((sum, one, at) => sum + match.slice(at + 1).filter((other) => !mayMeet(one, other)).length, 0)

export const percentOf = (matches: readonly (readonly Sample[])[], tickets: readonly Sample[]): number =>
  (100 * players(matches.flat())) / players(tickets)
const players = (tickets: readonly Sample[]) => tickets.reduce((sum, { size }) => sum + size, 0)
