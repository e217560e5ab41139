import { z } from 'zod'
import type {
  RelaxingLimit,
  Checked,
  RuleBase,
  Facts,
  Refuse,
  RuleChecks,
  RuleContext,
  RuleTicket,
  TeamMembers,
} from '../rule-parts/index.js'
import * as parts from '../rule-parts/index.js'

/**
 * There is a beacon to which every player has a round trip of at most `maxMs`. The players' round trips to it differ by
 * at most `maxDifferenceMs`.
 */
export interface LatencyRule extends RuleBase {
  readonly kind: 'latency'
  /** Maximum round trip in milliseconds. At least one of `maxMs` and `maxDifferenceMs` is given. */
  readonly maxMs?: RelaxingLimit | undefined
  /** Maximum difference in milliseconds between the round trips of any two players to the beacon. */
  readonly maxDifferenceMs?: RelaxingLimit | undefined
  /**
   * What happens with players without any measured latency. `refuse` (default): their tickets are refused when created.
   * `any`: the rule ignores these players.
   */
  readonly missing?: 'refuse' | 'any' | undefined
}

export const latencySchema = z
  .strictObject({
    kind: z.literal('latency'),
    ...parts.base,
    maxMs: parts.relaxing(parts.finite.positive(), 'rises').optional(),
    maxDifferenceMs: parts.relaxing(parts.notNegative, 'rises').optional(),
    missing: z.enum(['refuse', 'any']).optional(),
  })
  .refine(
    (rule) => rule.maxMs !== undefined || rule.maxDifferenceMs !== undefined,
    'must have maxMs, maxDifferenceMs or both',
  )

/** Best and worst round trip of a ticket's players to each beacon that all of them have measured, in milliseconds. */
interface RoundTrips {
  /** Names of the beacons, sorted. */
  readonly beacons: readonly string[]
  readonly best: readonly number[]
  readonly worst: readonly number[]
}

export function compileLatency(rule: Checked<LatencyRule>, { index, levels }: RuleContext): RuleChecks {
  const { maxMs = Infinity, maxDifferenceMs = Infinity, missing = 'refuse' } = rule
  const most = parts.tableOf(levels, maxMs, Infinity, rule)
  const mostDifference = parts.tableOf(levels, maxDifferenceMs, Infinity, rule)
  // A limit of Infinity at every level may mean that no limit was given. So a separate table says where the rule
  // applies.
  const counts = parts.tableOf(levels, 1, 0, rule)
  const timing = parts.timingOf(rule, levels, parts.isSteady(levels, most, mostDifference, counts))
  const share = shareBeacons()

  const allows = (teams: TeamMembers, level: number) =>
    counts[level] === 0 || haveBeacon(teams, index, most[level] ?? Infinity, mostDifference[level] ?? Infinity)

  const factOf = (ticket: RuleTicket, refuse: Refuse): RoundTrips | undefined => {
    const trips = roundTripsOf(ticket, missing, share, (player) =>
      refuse(`players.${player}.latencies`, `must be given: rule ${JSON.stringify(rule.name)} requires a beacon`),
    )
    const [limit, difference] = [most[levels.last] ?? Infinity, mostDifference[levels.last] ?? Infinity]
    if (trips === undefined || counts[levels.last] === 0 || anyFits(trips, limit, difference)) return trips
    throw refuse(
      'players',
      `no beacon satisfies rule ${JSON.stringify(rule.name)} for all of them, even at its loosest`,
    )
  }

  return {
    factOf,
    saysOf: (teams) => firstWith(teams, index) !== undefined,
    pair: ({ of: some }, { of: others }, level) => {
      const at = timing.ofPair(level)
      const [a, b] = [some[index] as RoundTrips | undefined, others[index] as RoundTrips | undefined]
      if (counts[at] === 0) return true
      const [limit, difference] = [most[at] ?? Infinity, mostDifference[at] ?? Infinity]
      if (a !== undefined && b !== undefined) return pairFits(a, b, limit, difference)
      const one = a ?? b
      return one === undefined || anyFits(one, limit, difference)
    },
    measure: (one, other) => {
      const [a, b] = [one.of[index] as RoundTrips | undefined, other.of[index] as RoundTrips | undefined]
      return rule.maxMs === undefined || a === undefined || b === undefined ? undefined : bestWorst(a, b)
    },
    part: (teams, _, match) => allows(teams, timing.ofPart(match)),
    whole: (teams, match) => allows(teams, timing.ofMatch(match)),
  }
}

/**
 * Creates the function that returns one shared list for equal lists of beacons. Most tickets know the same beacons, and
 * comparing shared lists is quick.
 */
function shareBeacons(): (beacons: string[]) => readonly string[] {
  const known = new Map<string, readonly string[]>()
  return (beacons) => {
    const key = JSON.stringify(beacons)
    const same = known.get(key)
    if (same !== undefined) return same
    if (known.size >= 256) known.clear()
    known.set(key, beacons)
    return beacons
  }
}

function roundTripsOf(
  { players }: RuleTicket,
  missing: 'refuse' | 'any',
  share: (beacons: string[]) => readonly string[],
  without: (player: number) => Error,
): RoundTrips | undefined {
  const known = players.filter(({ latencies }, index) => {
    if (Object.keys(latencies).length > 0) return true
    if (missing === 'refuse') throw without(index)
    return false
  })
  const [first, ...others] = known
  if (first === undefined) return undefined
  const inAll = (beacon: string) => others.every(({ latencies }) => Object.hasOwn(latencies, beacon))
  const common = Object.keys(first.latencies).filter(inAll)
  const beacons = share(common.toSorted())
  const over = (of: (...values: number[]) => number) =>
    beacons.map((beacon) =>
      known.reduce((ms, { latencies }) => of(ms, latencies[beacon] ?? 0), first.latencies[beacon] ?? 0),
    )
  const best = over(Math.min)
  return { beacons, best, worst: others.length === 0 ? best : over(Math.max) }
}

const anyFits = ({ best, worst }: RoundTrips, most: number, difference: number): boolean =>
  worst.some((ms, at) => ms <= most && ms - (best[at] ?? 0) <= difference)

/**
 * Finds the beacon at index `at` of `other` among the beacons of `trips`. Returns its index there; -1 if it is missing.
 */
const placeOf = (trips: RoundTrips, other: RoundTrips, at: number): number =>
  trips.beacons === other.beacons ? at : trips.beacons.indexOf(other.beacons[at] ?? '')

function pairFits(a: RoundTrips, b: RoundTrips, most: number, difference: number): boolean {
  for (let at = 0; at < a.worst.length; at += 1) {
    if ((a.worst[at] as number) > most) continue
    const there = placeOf(b, a, at)
    if (there < 0 || (b.worst[there] as number) > most) continue
    const worst = Math.max(a.worst[at] as number, b.worst[there] as number)
    if (worst - Math.min(a.best[at] as number, b.best[there] as number) <= difference) return true
  }
  return false
}

/** Returns the worst round trip to the best common beacon of two tickets; undefined if they have no common beacon. */
function bestWorst(a: RoundTrips, b: RoundTrips): number | undefined {
  let best: number | undefined
  for (let at = 0; at < a.worst.length; at += 1) {
    const there = placeOf(b, a, at)
    if (there < 0) continue
    const worst = Math.max(a.worst[at] as number, b.worst[there] as number)
    if (best === undefined || worst < best) best = worst
  }
  return best
}

/** True if one beacon suits all tickets that have measured any beacon. */
function haveBeacon(teams: TeamMembers, index: number, most: number, difference: number): boolean {
  const first = firstWith(teams, index)
  if (first === undefined) return true
  for (let at = 0; at < first.worst.length; at += 1) {
    if ((first.worst[at] as number) <= most && suitsAll(teams, index, first, at, most, difference)) return true
  }
  return false
}

function firstWith(teams: TeamMembers, index: number): RoundTrips | undefined {
  for (const team of teams) for (const { of } of team) if (of[index] !== undefined) return of[index] as RoundTrips
  return undefined
}

function suitsAll(
  teams: TeamMembers,
  index: number,
  first: RoundTrips,
  at: number,
  most: number,
  difference: number,
): boolean {
  let [best, worst] = [Infinity, 0]
  for (const team of teams) {
    for (const facts of team as readonly Facts[]) {
      const trips = facts.of[index] as RoundTrips | undefined
      if (trips === undefined) continue
      const there = placeOf(trips, first, at)
      if (there < 0) return false
      best = Math.min(best, trips.best[there] as number)
      worst = Math.max(worst, trips.worst[there] as number)
      if (worst > most || worst - best > difference) return false
    }
  }
  return true
}

const ms = (limit: number) => `${parts.digits(limit)} ms`

export function latencyWords({ maxMs, maxDifferenceMs, missing }: LatencyRule): string {
  const most = { lead: 'a round trip of at most', show: ms, free: 'any', freeAtFirst: 'a round trip of any length' }
  const apart = {
    lead: 'round trips that differ by at most',
    show: ms,
    free: 'any time',
    freeAtFirst: 'any round trips',
  }
  const wanted = [
    ...(maxMs === undefined ? [] : [parts.limitWords(maxMs, most)]),
    ...(maxDifferenceMs === undefined ? [] : [parts.limitWords(maxDifferenceMs, apart)]),
  ]
  const unmeasured = missing === 'any' ? '; players who have measured none are free of it' : ''
  return `all players have a beacon in common with ${wanted.join(', and with ')}${unmeasured}`
}
