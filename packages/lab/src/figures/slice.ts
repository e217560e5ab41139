// pure: what happened to some of the players
import type { RunOutcome } from '../run/outcome.js'
import { rounded, spreadOf } from '../statistics/spread.js'
import type { End, Slice } from './figures.js'
import type { Groups, Measure, Seats } from './seats.js'
import { curveOf } from './wait-points.js'

/** Decimals that are kept: less than anybody could tell apart. */
const DECIMALS = { waitMs: 0, distanceKm: 1, latencyMs: 1, skillSpread: 3, teamGap: 3, winChance: 4 } as const

/**
 * @param members indexes of seats.
 * @param queue the queue that is told of: who was matched in another ends as `otherQueue`. Default: all queues.
 */
export function sliceOf(members: Int32Array, seats: Seats, outcome: RunOutcome, queue?: string): Slice {
  const counts = new Map<End, number>()
  const matched = members.filter((seat) => {
    const end = endOf(seats.ticket[seat] as number, outcome, queue)
    counts.set(end, (counts.get(end) ?? 0) + 1)
    return end === 'assigned'
  })
  const share = (end: End) => (members.length === 0 ? 0 : rounded((counts.get(end) ?? 0) / members.length, 6))
  const known = (measure: Measure) => knownOf(seats.measures[measure], matched)
  const spread = (measure: Measure) => spreadOf(known(measure), DECIMALS[measure])
  return {
    players: members.length,
    matched: share('assigned'),
    gaveUp: share('gaveUp'),
    ends: Object.fromEntries([...counts.keys()].toSorted().map((end) => [end, share(end)])),
    waitMs: spread('waitMs'),
    waitCurve: curveOf(known('waitMs').toSorted(), members.length),
    distanceKm: spread('distanceKm'),
    latencyMs: spread('latencyMs'),
    skillSpread: spread('skillSpread'),
    teamGap: spread('teamGap'),
    winChance: spread('winChance'),
  }
}

function endOf(ticket: number, { tickets, matches }: RunOutcome, queue: string | undefined): End {
  const { end = 'waiting', match = -1 } = tickets[ticket] ?? {}
  return end === 'assigned' && queue !== undefined && matches[match]?.queue !== queue ? 'otherQueue' : end
}

function knownOf(column: Float64Array, seats: Int32Array): Float64Array {
  const values = new Float64Array(seats.length)
  let count = 0
  for (const seat of seats) {
    const value = column[seat] as number
    if (Number.isNaN(value)) continue
    values[count] = value
    count += 1
  }
  return values.subarray(0, count)
}

/** The slice of each group that has players. */
export function slicesOf({ names, of }: Groups, seats: Seats, outcome: RunOutcome): Readonly<Record<string, Slice>> {
  const members = names.map((): number[] => [])
  for (const [seat, group] of of.entries()) members[group]?.push(seat)
  return Object.fromEntries(
    names.flatMap((name, group) => {
      const some = members[group] ?? []
      return some.length === 0 ? [] : [[name, sliceOf(Int32Array.from(some), seats, outcome)]]
    }),
  )
}
