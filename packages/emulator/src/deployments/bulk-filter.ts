// pure: the deployments that a bulk stop selects
import type { Filter } from '@muster/core/api'
import { filterBy, type FilterFields } from './filters.js'
import type { Problem } from './problem.js'

export interface Stoppable {
  readonly requestId: string
  readonly tags: readonly string[]
}

/** The names of the fields are public facts. */
const fields: FilterFields<Stoppable> = {
  request_id: ({ requestId }) => [requestId],
  deployment_tags: ({ tags }) => tags,
}

export const bulkFilter = (filters: readonly Filter[]): ((deployment: Stoppable) => boolean) | Problem =>
  filterBy(fields, filters)
