import type { Order } from '../servers/records/allocation.js'
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

/** What a match asks the allocator for. */
export const orderOf = (
  { queue, teams, seated, expansionMs }: Match,
  { teamOf, placements, secret }: OrderParts,
): Order => ({
  deploy: queue.deploy,
  tickets: seated,
  teams,
  teamOf,
  expansionMs,
  inCommon: () => inCommon(queue.rules, seated),
  placements,
  secret,
})

export const teamsOf = (records: readonly TicketRecord[]): readonly number[] =>
  records.map(({ seat }) => seat?.team ?? 0)
