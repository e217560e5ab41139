import type { api } from '@muster/core/api'
import { understand } from '../deployments/deployment-query.js'
import { statusAt } from '../deployments/deployment-record.js'
import { isProblem } from '../deployments/problem.js'
import { listEntry, readListed, type Listed } from '../deployments/listed.js'
import { paged } from '../pages.js'
import { fail, ok, type Handler } from './handler.js'

/**
 * Lists deployments as they were `listLagMs` ago: without terminated ones, and the newest first unless the query gives
 * an order (both our choice).
 */
export const listDeployments: Handler<typeof api.deployments.list> = ({ query = {}, ...wanted }, { world }) => {
  const { listLagMs, refuseRepeatedFilters } = world.deploymentSettings
  const listing = understand(query, readListed, { refuseRepeated: refuseRepeatedFilters })
  if (isProblem(listing)) return fail(400, listing.problem)
  const asOf = world.clock.now() - listLagMs
  const matches: Listed[] = []
  for (const record of world.deployments.all().toReversed()) {
    const status = statusAt(record, asOf)
    if (status === undefined || status === 'TERMINATED') continue
    const listed = { record, status }
    if (listing.keeps(listed)) matches.push(listed)
  }
  const ordered = listing.order === undefined ? matches : matches.toSorted(listing.order)
  const { items, total, pagination } = paged(ordered, wanted, world.pageSizes)
  return ok({
    data: items.map(listEntry),
    total_count: total,
    pagination,
    message: [],
  })
}
