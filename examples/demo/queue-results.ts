import type { Placed, Ticket } from '@muster/matchmaker'
import type { Arrival } from './crowd.js'
import { groupBy } from './group-by.js'
import { percentiles } from './percentiles.js'
import { playersIn, playersTo } from './players-in.js'
import type { DemoQueue } from './queues.js'
import type { PlacedResult, QueueResult } from './result.js'

export interface Played {
  readonly queues: readonly DemoQueue[]
  readonly arrivals: readonly Arrival[]
  readonly assigned: readonly Ticket[]
  /** `joined`: number of players who joined an existing match, by queue. `left`: ids of players who left a match. */
  readonly joined: ReadonlyMap<string, number>
  readonly left: ReadonlySet<string>
  /** The servers whose location was chosen by latency, by queue. */
  readonly placed: ReadonlyMap<string, readonly Placed[]>
}

export function queueResults({ queues, arrivals, assigned, joined, left, placed }: Played): QueueResult[] {
  const everybody = arrivals.flatMap(({ ticket }) => ticket.players)
  const skillOf = new Map(everybody.map(({ id, attributes = {} }) => [id, Number(attributes['skill'])]))
  const skillsOf = (tickets: readonly Ticket[]) =>
    tickets.flatMap(({ players }) => players.map(({ id }) => skillOf.get(id) ?? 0))
  return queues.map(({ definition: { name }, title }) => {
    const mine = assigned.filter(({ queue }) => queue === name)
    const matches = [...groupBy(mine, ({ matchId = '' }) => matchId).values()]
    const gapOf = (tickets: readonly Ticket[]) => {
      const teams = groupBy(tickets, ({ team = '' }) => team)
      return spread(Array.from(teams.values(), (team) => average(skillsOf(team))))
    }
    const waits = mine.flatMap(({ players, createdAt, assignedAt = createdAt }) =>
      players.map(() => assignedAt - createdAt),
    )
    const { p50, p95 } = percentiles(waits)
    return {
      queue: name,
      title,
      players: playersTo(name, arrivals),
      assigned: playersIn(mine),
      matches: matches.length,
      parties: mine.filter(({ players }) => players.length > 1).length,
      waitMs: { p50, p95 },
      skillSpread: percentiles(matches.map((tickets) => spread(skillsOf(tickets)))).p50,
      teamGap: percentiles(matches.map(gapOf)).p50,
      placed: placedResult(placed.get(name) ?? []),
      joinedLater: joined.get(name) ?? 0,
      left: mine.flatMap(({ players }) => players.filter(({ id }) => left.has(id))).length,
    }
  })
}

function placedResult(placed: readonly Placed[]): PlacedResult | undefined {
  if (placed.length === 0) return undefined
  const worst = percentiles(placed.map(({ worstMs }) => worstMs))
  const off = percentiles(placed.flatMap(({ offKm }) => offKm ?? []))
  const beacons = Array.from(
    groupBy(placed, ({ beacon }) => beacon),
    ([beacon, some]) => ({ beacon, servers: some.length }),
  )
  return {
    beacons: beacons.toSorted((a, b) => b.servers - a.servers),
    limitMs: Math.round(Math.max(...placed.map(({ limitMs = 0 }) => limitMs))),
    worstMs: { p50: worst.p50, p95: worst.p95 },
    offKm: { p50: off.p50, p95: off.p95 },
  }
}

const spread = (values: readonly number[]) => Math.max(...values) - Math.min(...values)
const average = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
