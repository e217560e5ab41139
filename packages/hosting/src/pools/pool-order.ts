import type { Coordinates } from '@muster/core'
import type { FoundTicket, Order, Placement } from '../records/index.js'
import type { Pool } from './pool-definition.js'

const NOTHING = Object.freeze({})

interface PoolOrderParts {
  /** The tickets near whose players the server is created. */
  readonly near?: readonly FoundTicket[] | undefined
  readonly placements?: Order['placements'] | undefined
  readonly place?: { readonly name: string; readonly coordinates: Coordinates | undefined } | undefined
}

/** Returns the order of a server: at a location of the pool, at the placements that rules choose, or near tickets. */
export function orderOf({ deploy }: Pool, { near, placements, place }: PoolOrderParts): Order {
  const coordinates = place?.coordinates
  const at: Placement | undefined = coordinates && {
    beacon: place?.name ?? '',
    coordinates,
    worstMs: 0,
    meanMs: 0,
    limitMs: undefined,
  }
  return {
    deploy,
    tickets: [],
    near,
    teams: [],
    teamOf: [],
    expansionMs: 0,
    inCommon: () => ({ equality: NOTHING, intersection: NOTHING }),
    placements: at === undefined ? placements : () => [at],
  }
}
