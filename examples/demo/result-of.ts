import { greatCircleKm } from '@muster/core'
import type { OperationId } from '@muster/core/api'
import type { Emulator } from '@muster/emulator'
import type { LimitUse, Ticket } from '@muster/matchmaker'
import type { Pressure } from './bound.js'
import type { DemoOptions } from './options.js'
import { faultReports } from './fault-report.js'
import { percentiles } from './percentiles.js'
import { playersIn } from './players-in.js'
import type { Player } from './players.js'
import { queueResults, type Played } from './queue-results.js'
import type { DemoResult } from './result.js'
import { running, SPEED } from './service.js'
import { verify } from './verify.js'

export interface Ended extends Omit<Played, 'assigned'> {
  readonly options: DemoOptions
  readonly placeOf: (ip: string) => Player | undefined
  /** All tickets, in their state when the last one had ended. */
  readonly ended: readonly Ticket[]
  /** Why no match was found, by ticket. */
  readonly why: ReadonlyMap<string, string>
  readonly emulator: Emulator
  readonly limits: readonly LimitUse[]
  readonly pressure: Pressure
  readonly tookMs: number
  /** Number of servers at the moment of an interruption; undefined without one. */
  readonly interruptedWith: number | undefined
}

export function resultOf({
  options,
  placeOf,
  ended,
  why,
  emulator,
  limits,
  pressure,
  tookMs,
  interruptedWith,
  ...demo
}: Ended): DemoResult {
  const assigned = ended.filter(({ status }) => status === 'HOST_ASSIGNED')
  const cancelled = ended.filter(({ status }) => status === 'CANCELLED')
  const because = (ticket: Ticket) => ticket.cancelReason ?? ''
  const playerOf = new Map(
    demo.arrivals.flatMap(({ ticket }) => ticket.players.map((player) => [player.id, player] as const)),
  )
  const waits = assigned.flatMap(({ players, createdAt, assignedAt = createdAt }) =>
    players.map(() => assignedAt - createdAt),
  )
  const distances = assigned.flatMap(({ players, assignment }) =>
    players.flatMap(({ id }) => {
      const from = placeOf(playerOf.get(id)?.ip ?? '')
      const { latitude, longitude } = assignment?.location ?? {}
      if (from === undefined || latitude === undefined || longitude === undefined) return []
      return [greatCircleKm(from, { latitude, longitude })]
    }),
  )
  const { p50, p95 } = percentiles(distances)
  const expired = cancelled.filter((ticket) => because(ticket) === 'expired')
  const others = cancelled.filter((ticket) => !expired.includes(ticket))
  const arrived = playersIn(ended)
  const waiting = arrived - playersIn(assigned) - playersIn(cancelled)
  const interrupted =
    interruptedWith === undefined
      ? undefined
      : { notCome: options.players - arrived, waiting, servers: interruptedWith }
  const state = emulator.inspect().deployments
  return {
    players: options.players,
    assigned: playersIn(assigned),
    expired: playersIn(expired),
    unmatched: countBy(expired.flatMap(({ id, players }) => players.map(() => why.get(id) ?? UNSEEN))),
    cancelled: countBy(others.flatMap((ticket) => ticket.players.map(() => because(ticket)))),
    interrupted,
    lost: interrupted === undefined ? options.players - playersIn(assigned) - playersIn(cancelled) : 0,
    matches: new Set(assigned.map(({ matchId }) => matchId)).size,
    queues: queueResults({ ...demo, assigned }),
    broken: verify(assigned, playerOf, demo.left),
    deployments: state.length,
    rejected429: Object.values(emulator.counters.rejected).reduce((sum, count) => sum + count, 0),
    serversLeft: running(emulator).length,
    waitMs: percentiles(waits),
    distanceKm: { p50, p95 },
    seconds: Math.round(tookMs / 100) / 10,
    speed: SPEED,
    seed: options.seed,
    requests: emulator.counters.requests as Record<OperationId, Record<string, number>>,
    limits,
    pressure,
    faults: faultReports(emulator.faults.counts()),
    cities: Object.entries(countBy(state.flatMap(({ location }) => location?.city ?? [])))
      .map(([city, servers]) => ({ city, servers }))
      .toSorted((a, b) => b.servers - a.servers),
  }
}

/** The reason of a ticket that was not examined before it expired. */
const UNSEEN = 'were not looked at in time'

function countBy(values: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1
  return counts
}
