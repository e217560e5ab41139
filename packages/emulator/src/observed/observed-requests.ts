// pure: requests that a public deployment rejects in addition to the specification
import type { OperationId } from '@muster/core/api'

/** The flat input of an operation, as parsed by the description of the API. */
type Input = Readonly<Record<string, unknown>>

/** The path at which a public deployment creates deployments (public fact). All other paths begin with /v1. */
export const OBSERVED_CREATE_PATH = '/v2/deployments'

/** Prefix of the injected variables' names in a public deployment (public fact). */
export const OBSERVED_PREFIX = 'ARBITRIUM'

/** Returns true if a public deployment describes the operation. Fleets and policies are not described (public fact). */
export const isDescribed = (id: OperationId): boolean => !/^(fleets|policies)\./.test(id)

/** Members that a public deployment requires, but that are optional in the specification (public facts). */
const required: Readonly<Partial<Record<OperationId, readonly string[]>>> = {
  'applications.create': ['is_active', 'image'],
  'deployments.deployLegacy': ['version_name'],
}

/**
 * Members and parameters of the specification that a public deployment does not describe (public facts). They are
 * rejected (our choice). Otherwise a caller that relies on one would learn too late that it has no effect.
 */
const unknown: Readonly<Partial<Record<OperationId, readonly string[]>>> = {
  'applications.create': ['is_telemetry_agent_active'],
  'applications.update': ['is_telemetry_agent_active'],
  'versions.create': ['session_config', 'command', 'arguments'],
  'versions.update': ['session_config', 'command', 'arguments'],
  'storages.create': ['container_log_version'],
  'storages.update': ['container_log_version'],
  'deployments.deployLegacy': ['skip_telemetry', 'location', 'ap_sort_strategy'],
  'locations.list': ['type', 'tags'],
}

/** Members of list entries that a public deployment does not describe. */
const unknownOfEntries: Readonly<Partial<Record<OperationId, Readonly<Record<string, readonly string[]>>>>> = {
  'versions.create': { envs: ['is_secret'] },
  'versions.update': { envs: ['is_secret'] },
}

const isGiven = (members: Input, name: string) => members[name] !== undefined
const missing = (where: string) => `${where}: is required`
const surplus = (where: string) => `${where}: is not described by this service`

/**
 * Returns the fault that a public deployment finds in a request that is valid by the specification; undefined if there
 * is none.
 */
export function observedFault(id: OperationId, input: Input): string | undefined {
  const lacking = required[id]?.find((name) => !isGiven(input, name))
  if (lacking !== undefined) return missing(lacking)
  const excess = unknown[id]?.find((name) => isGiven(input, name))
  if (excess !== undefined) return surplus(excess)
  return (
    surplusInEntries(input, unknownOfEntries[id]) ??
    (id === 'deployments.list' ? faultOfQuery(input['query'] as Query | undefined) : undefined)
  )
}

function surplusInEntries(input: Input, lists: Readonly<Record<string, readonly string[]>> = {}): string | undefined {
  for (const [list, names] of Object.entries(lists)) {
    const entries = (input[list] ?? []) as readonly Input[]
    for (const [index, entry] of entries.entries()) {
      const name = names.find((each) => isGiven(entry, each))
      if (name !== undefined) return surplus(`${list}[${index}].${name}`)
    }
  }
  return undefined
}

interface Query {
  readonly filters?: readonly { readonly field: string; readonly operator: string }[]
  readonly order_by?: readonly { readonly field: string }[]
}

/** The operators by which the deployment list compares times of creation, and its sort fields (public facts). */
const TIME_OPERATORS = ['eq', 'gte', 'lte']
const ORDERS = ['created_at', 'available_session_sockets']

function faultOfQuery({ filters = [], order_by = [] }: Query = {}): string | undefined {
  const fields = new Set<string>()
  for (const [index, { field, operator }] of filters.entries()) {
    if (fields.has(field))
      return `query.filters: at most one filter per field, but ${JSON.stringify(field)} has several`
    fields.add(field)
    if (field === 'created_at' && !TIME_OPERATORS.includes(operator))
      return `query.filters[${index}].operator: must be one of ${TIME_OPERATORS.join(', ')} for created_at`
  }
  const index = order_by.findIndex(({ field }) => !ORDERS.includes(field))
  return index === -1 ? undefined : `query.order_by[${index}].field: must be one of ${ORDERS.join(', ')}`
}
