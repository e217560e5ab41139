import type { InCommon, Order } from '@muster/servers'
import type { Match, TicketRecord } from '../tickets/records.js'
import { inCommon } from './in-common.js'
import type { FindPlacements } from './placing.js'

export interface OrderParts {
  /** For each seated ticket the index of its team. */
  readonly teamOf: readonly number[]
  readonly placements: FindPlacements | undefined
  /** Of a match of an earlier process; undefined: not drawn yet. */
  readonly secret?: string | undefined
}

/** What a match asks the allocator for. There is one for each match: a class needs no closure for each. */
class MatchOrder implements Order {
  readonly tickets: readonly TicketRecord[]
  readonly teams: Order['teams']
  readonly teamOf: readonly number[]
  readonly expansionMs: number
  readonly placements: FindPlacements | undefined
  secret: string | undefined
  readonly deploy: Order['deploy']
  readonly #rules: Match['queue']['rules']

  constructor({ queue, teams, seated, expansionMs }: Match, { teamOf, placements, secret }: OrderParts) {
    this.deploy = queue.deploy
    this.tickets = seated
    this.teams = teams
    this.teamOf = teamOf
    this.expansionMs = expansionMs
    this.placements = placements
    this.secret = secret
    this.#rules = queue.rules
  }

  inCommon(): InCommon {
    return inCommon(this.#rules, this.tickets)
  }
}

export const orderOf = (match: Match, parts: OrderParts): Order => new MatchOrder(match, parts)

export const teamsOf = (records: readonly TicketRecord[]): readonly number[] =>
  records.map(({ seat }) => seat?.team ?? 0)
