import type { Allocation, Intent, Order } from './allocation.js'
import { matchTag } from './tags.js'

const NO_TRIES: Allocation['tries'] = []
export const NOBODY: Allocation['ended'] = []

/**
 * There is one for each match, and most of them wait for their turn to be created: what follows from the order is only
 * worked out when somebody asks.
 */
class MatchAllocation implements Allocation {
  readonly matchId: string
  readonly queue: string
  readonly at: number
  readonly order: Order | undefined
  tries: Allocation['tries'] = NO_TRIES
  placements: Allocation['placements'] = undefined
  phase: Allocation['phase'] = 'creating'
  turn = -1
  requestId: string | undefined = undefined
  knownAt: number
  startedAfter: number
  charged = false
  secret: string | undefined = undefined
  listensAt = Infinity
  lastsMs = Infinity
  endsAt = Infinity
  joinBy = Infinity
  assignment: Allocation['assignment'] = undefined
  registered = false
  unwanted: Allocation['unwanted'] = undefined
  twins: Allocation['twins'] = undefined
  ended: Allocation['ended'] = NOBODY
  /** Undefined: as they follow from the order. */
  #tag: string | undefined
  readonly #ticketIds: readonly string[] | undefined
  #playerIds: readonly string[] | undefined

  constructor({ matchId, queue, at, tag, ticketIds, playerIds }: FoundBy & Partial<Intent>, order: Order | undefined) {
    this.matchId = matchId
    this.queue = queue
    this.at = at
    this.order = order
    this.knownAt = at
    this.startedAfter = at
    this.#tag = tag
    this.#ticketIds = ticketIds
    this.#playerIds = playerIds
  }

  get tag(): string {
    return this.#tag ?? matchTag(this.matchId)
  }
  set tag(tag: string) {
    this.#tag = tag
  }

  get ticketIds(): readonly string[] {
    return this.#ticketIds ?? this.order?.tickets.map(({ id }) => id) ?? []
  }

  get playerIds(): readonly string[] {
    return this.#playerIds ?? this.order?.tickets.flatMap(({ players }) => players.map(({ id }) => id)) ?? []
  }
  set playerIds(playerIds: readonly string[]) {
    this.#playerIds = playerIds
  }
}

/** A match that needs a server. `queue`: the queue's name; `at`: epoch milliseconds. */
export type FoundBy = Pick<Allocation, 'matchId' | 'queue' | 'at'>

/** The record of a match that was found just now. */
export const newAllocation = (match: FoundBy, order: Order): Allocation => new MatchAllocation(match, order)

/** The record of a match of which an earlier process wrote down the intent. */
export const inheritedAllocation = (intent: Intent, order?: Order): Allocation =>
  new MatchAllocation({ ...intent, playerIds: intent.playerIds ?? [] }, order)

/** The journal entry that precedes the create. */
export const intentEntry = ({ matchId, queue, tag, ticketIds, playerIds, at }: Allocation) => ({
  kind: 'intent' as const,
  matchId,
  queue,
  tag,
  ticketIds,
  playerIds,
  at,
})
