import { greatCircleKm } from '@muster/core'
import {
  type Attributes,
  type FoundTicket,
  type SharedAttributes,
  type Order,
  type Placement,
  placementOf,
  type Server,
} from '@muster/hosting/internal'
import type { BeaconDirectory, KnownBeacons } from '../beacons.js'
import type { Placed } from '../events.js'
import { bestBeacons, type Rule } from '../queues/index.js'
import type { Match, TicketRecord } from '../tickets/index.js'

export function inCommon(rules: readonly Rule[], tickets: readonly FoundTicket[]): SharedAttributes {
  let equality: Map<string, string | number | boolean> | undefined
  let intersection: Map<string, readonly string[]> | undefined
  for (const rule of rules) {
    if (rule.kind === 'equal' && rule.scope !== 'team') {
      const [value, ...others] = new Set(valuesOf(tickets, rule.attribute))
      // After a rule has relaxed, players of one match can have different values. Then no value is reported.
      if (value !== undefined && others.length === 0 && !isList(value))
        (equality ??= new Map()).set(rule.attribute, value)
    } else if (rule.kind === 'overlap') {
      const [first = [], ...others] = valuesOf(tickets, rule.attribute).filter(isList)
      ;(intersection ??= new Map()).set(
        rule.attribute,
        first.filter((one) => others.every((list) => list.includes(one))),
      )
    }
  }
  return {
    equality: equality === undefined ? NOTHING : Object.fromEntries(equality),
    intersection: intersection === undefined ? NOTHING : Object.fromEntries(intersection),
  }
}

/** One shared object, because most queues have no rule of kind `equal` or `overlap`. */
const NOTHING: Readonly<Record<string, never>> = Object.freeze({})

/** Returns the values of the attribute, without the players who do not have it. */
const valuesOf = (tickets: readonly FoundTicket[], attribute: string): Attributes[string][] =>
  tickets.flatMap(({ players }) =>
    players.flatMap(({ attributes = NOTHING }) =>
      Object.hasOwn(attributes, attribute) ? [attributes[attribute] as Attributes[string]] : [],
    ),
  )

const isList = (value: Attributes[string]): value is readonly string[] => Array.isArray(value)

/** Returns the allocator's order for a match. @param teamOf the index of the team of each seated ticket. */
export const orderOf = (
  { queue: { deploy, pool, rules }, teams, seated, expansionMs }: Match,
  teamOf: readonly number[],
  placements: FindPlacements | undefined,
): Order => ({
  deploy,
  tickets: seated,
  teams,
  teamOf,
  inCommon: () => inCommon(rules, seated),
  expansionMs,
  placements,
  pool,
})

export const teamsOf = (records: readonly TicketRecord[]): readonly number[] =>
  records.map(({ seat }) => seat?.team ?? 0)

/**
 * Returns the places that the latency rule chooses for a server, the best first. If there are none, the server is
 * placed near the players' addresses.
 */
export type FindPlacements = () => readonly Placement[] | Promise<readonly Placement[]>

interface PlacingOptions {
  /** The beacons of the deployment service; undefined if their locations are unknown. */
  readonly beacons: BeaconDirectory | undefined
  /** Called if the locations of a match's beacons are unknown. */
  readonly unplaced: (match: Match, error: Error) => void
}

/**
 * Creates the function that chooses placements for a match's server. It returns undefined if the match's queue has no
 * latency rule.
 */
export function createPlacing({ beacons, unplaced }: PlacingOptions): (match: Match) => FindPlacements | undefined {
  return (match) => {
    const { queue, seated, expansionMs } = match
    if (beacons === undefined || !queue.rules.some(({ kind }) => kind === 'latency')) return undefined
    const players = seated.flatMap((ticket) => ticket.players)

    const placementsIn = (known: KnownBeacons | undefined): readonly Placement[] => {
      const best = bestBeacons(queue.rules, players, expansionMs, queue.targetWaitMs)
      if (known === undefined || best === undefined) return []
      const placements = best.beacons.flatMap(({ name, worstMs, meanMs }) => {
        const coordinates = known.places.get(name)
        return coordinates === undefined ? [] : { beacon: name, coordinates, worstMs, meanMs, limitMs: best.limitMs }
      })
      if (placements.length === 0 && best.beacons.length > 0) {
        const names = best.beacons.map(({ name }) => JSON.stringify(name)).join(', ')
        unplaced(
          match,
          new Error(`the server is placed by player addresses: the location of these beacons is unknown: ${names}`),
        )
      }
      return placements
    }

    return () => {
      const known = beacons.known()
      return known instanceof Promise ? known.then(placementsIn) : placementsIn(known)
    }
  }
}

/** Returns the requested and the actual location of a server that is READY. */
export function placedOf(server: Server): Placed | undefined {
  const placement = placementOf(server)
  if (placement === undefined) return undefined
  const { latitude, longitude } = server.assignment?.location ?? {}
  const isKnown = latitude !== undefined && longitude !== undefined
  return { ...placement, offKm: isKnown ? greatCircleKm(placement.coordinates, { latitude, longitude }) : undefined }
}
