import { greatCircleKm } from '@muster/core'
import type { RuleDefinition } from '@muster/matchmaker'
import { createSampler, limitsBetween, STEPS, type Sample } from './workload.js'

/** Rules about distance and skill, which relax by `STEPS`. */
export const rules: readonly RuleDefinition[] = [
  { kind: 'distance', maxKm: STEPS.map(({ afterS, km }) => ({ afterMs: afterS * 1000, value: km })) },
  {
    kind: 'difference',
    attribute: 'skill',
    max: STEPS.map(({ afterS, skill }) => ({ afterMs: afterS * 1000, value: skill })),
  },
]

export type Task = 'pairs' | 'tens' | 'parties'

/** The matches of a round, in figures. */
export interface Grouping {
  /** Percentage of the players who are in a match. */
  readonly percent: number
  /** Average distance and difference in skill between two tickets of a match. */
  readonly km: number
  readonly skill: number
  /** Number of pairs of tickets in one match that break a rule. */
  readonly broken: number
}

/** Time of a round, in epoch milliseconds. */
export const NOW = 1_000_000_000_000

/** Converts a sample to a ticket, as `entryOf` of a compiled queue expects it. */
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

/** Returns the tickets of a task: parties, or players who come alone. */
export function samplesOf(task: Task, count: number): Sample[] {
  const sample = createSampler(1)
  return Array.from({ length: count }, () => (task === 'parties' ? sample() : { ...sample(), size: 1 }))
}

/**
 * Returns true if two tickets may be in one match. It is an independent check, with other formulas than the kernel's.
 */
function mayMeet(one: Sample, other: Sample): boolean {
  const { skill, km } = limitsBetween(one, other)
  return Math.abs(one.skill - other.skill) <= skill && greatCircleKm(one, other) <= km + 1e-6
}

export function groupingOf(matches: readonly (readonly Sample[])[], tickets: readonly Sample[]): Grouping {
  let [pairs, km, skill, broken] = [0, 0, 0, 0]
  for (const match of matches)
    for (const [at, one] of match.entries())
      for (let next = at + 1; next < match.length; next++) {
        const other = match[next] as Sample
        pairs += 1
        km += greatCircleKm(one, other)
        skill += Math.abs(one.skill - other.skill)
        if (!mayMeet(one, other)) broken += 1
      }
  const percent = (100 * players(matches.flat())) / players(tickets)
  return { percent, km: km / pairs, skill: skill / pairs, broken }
}

const players = (tickets: readonly Sample[]) => tickets.reduce((sum, { size }) => sum + size, 0)
