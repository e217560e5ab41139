// pure: responses of a public deployment that differ from the specification
import type { OperationId, Pagination } from '@muster/core/api'

/** An object in a response. */
type Body = Readonly<Record<string, unknown>>
type AnswerView = (body: Body) => Body

/** A response before it is sent. `body` is undefined if there is none. */
export interface UnsentAnswer {
  readonly status: number
  readonly body: unknown
}

/** Returns one page of a list. */
export type Paging = (all: readonly unknown[]) => {
  readonly items: readonly unknown[]
  readonly total: number
  readonly pagination: Pagination
}

/** Members that are null in a public deployment if they have no value. All others are then omitted (public fact). */
const NULLABLE = new Set(['next_page_number', 'previous_page_number', 'crash_logs', 'crash_data', 'logs_link'])

/** Returns a value without the members that are null, at any depth. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (typeof value !== 'object' || value === null) return value
  const present = Object.entries(value).filter(([key, inner]) => inner !== null || NULLABLE.has(key))
  return Object.fromEntries(present.map(([key, inner]) => [key, withoutNulls(inner)]))
}

/**
 * Creates a view that keeps only the named members.
 * @param names separated by spaces.
 */
function only(names: string): AnswerView {
  const all = names.split(' ')
  return (body) => Object.fromEntries(all.flatMap((name) => (body[name] === undefined ? [] : [[name, body[name]]])))
}

const without = (body: Body, name: string): Body =>
  Object.fromEntries(Object.entries(body).filter(([key]) => key !== name))

/** Applies a view to a member. Returns nothing if the member is absent. */
const within = (body: Body, name: string, view: AnswerView): Body => {
  const inner = body[name]
  if (inner === undefined) return {}
  return { [name]: Array.isArray(inner) ? (inner as Body[]).map(view) : view(inner as Body) }
}

const byName =
  (view: AnswerView): AnswerView =>
  (body) =>
    Object.fromEntries(Object.entries(body).map(([name, inner]) => [name, view(inner as Body)]))

const application = only('name is_active image create_time last_updated')

/** A hidden value becomes an empty string (our choice), because the member is required in a public deployment. */
const variable: AnswerView = ({ key, value = '', is_secret, is_hidden }) => ({
  key,
  value,
  is_hidden: is_secret === true || is_hidden === true,
})
const versionFields = only(
  'name docker_repository docker_image docker_tag create_time last_updated req_cpu req_memory req_video' +
    ' is_active private_username verify_image force_cache time_to_deploy max_duration restart_policy' +
    ' termination_grace_period_seconds will_deploy_in_mainland_china dns_config ports endpoint_storage',
)
const version: AnswerView = (body) => ({ ...versionFields(body), ...within(body, 'envs', variable) })

const storage = only('name access_key_id endpoint bucket output_format create_time last_updated')

const location = only('city country continent administrative_division timezone latitude longitude')
const listedLocation: AnswerView = (body) => ({
  ...location(body),
  latitude: Number(body['latitude']),
  longitude: Number(body['longitude']),
})
const ports = byName(only('name link internal external protocol tls_upgrade'))
/**
 * The address of a server that has none yet is empty (our choice), because a public deployment requires these strings.
 */
const address: AnswerView = ({ fqdn = '', public_ip = '' }) => ({ fqdn, public_ip })

const statusFields = only(
  'request_id app_name app_version current_status running start_time elapsed_time max_duration' +
    ' removal_time last_status error error_detail tags command arguments',
)
const deployment: AnswerView = (body) => ({
  ...statusFields(body),
  ...address(body),
  ...within(body, 'ports', ports),
  ...within(body, 'location', location),
})
const listEntryFields = only('request_id ready start_time tags')
const listEntry: AnswerView = (body) => ({
  ...listEntryFields(body),
  ...address(body),
  ...within(body, 'ports', ports),
})

const message = only('message')
const stopped: AnswerView = (body) => ({ ...message(body), ...within(body, 'deployment_summary', deployment) })

/**
 * Converts a metric. A public deployment has only whole numbers, so shares of a processor are stated in thousandths.
 */
const series: AnswerView = (body) => {
  const { labels = [], datasets = [] } = body as { readonly labels?: string[]; readonly datasets?: string[] }
  const factor = labels.includes('vCPU') ? 1000 : 1
  const names = labels.map((label) => (label === 'vCPU' ? 'mCPU' : label))
  return { ...body, labels: names, datasets: datasets.map((value) => Math.round(Number(value) * factor)) }
}
const metrics: AnswerView = (body) => ({
  ...body,
  ...within(body, 'total', byName(series)),
  ...within(body, 'cpu', series),
  ...within(body, 'mem', series),
  ...within(body, 'network', byName(series)),
})

const legacyDeployed = only(
  'request_id request_dns request_app request_version request_user_count filters tags container_log_storage',
)
const named = only('name create_time last_updated')

/** The views of responses that are not lists. Responses without a view differ only by their null members. */
const views: Readonly<Partial<Record<OperationId, AnswerView>>> = {
  'applications.create': application,
  'applications.get': application,
  'applications.update': application,
  'versions.create': (body) => ({ ...body, ...within(body, 'version', version) }),
  'versions.get': version,
  'versions.update': only('success'),
  'storages.create': storage,
  'storages.get': storage,
  'storages.update': (body) => without(storage(body), 'name'),
  'pullProfiles.update': (body) => without(body, 'name'),
  'tags.create': named,
  'deployments.get': deployment,
  'deployments.stop': stopped,
  'deployments.metrics': metrics,
  'deployments.deployLegacy': legacyDeployed,
}

/** The lists: the name of the member with the entries, and the view of an entry. */
const lists: Readonly<Partial<Record<OperationId, readonly [key: string, view: AnswerView]>>> = {
  'applications.list': ['applications', application],
  'versions.list': ['versions', version],
  'registry.listTags': ['data', (body) => body],
  'storages.list': ['endpoints', storage],
  'pullProfiles.list': ['pull_profiles', (body) => body],
  'locations.list': ['locations', listedLocation],
  'locations.beacons': ['locations', (body) => ({ ...body, ...within(body, 'location', location) })],
  'deployments.list': ['data', listEntry],
  'tags.list': ['tags', named],
  'relays.list': ['sessions', (body) => body],
}

/** The lists that have pages in a public deployment but not in the specification (public fact). */
const cut: readonly OperationId[] = [
  'applications.list',
  'versions.list',
  'registry.listTags',
  'tags.list',
  'relays.list',
]

/** Converts a list. The member with the entries is absent if the list is empty (public fact). */
function list(
  id: OperationId,
  body: Body,
  [key, view]: readonly [key: string, view: AnswerView],
  paging: Paging,
): Body {
  const all = (body[key] ?? []) as readonly Body[]
  const isCut = cut.includes(id)
  const { items, total, pagination } = isCut ? paging(all) : { items: all, total: undefined, pagination: undefined }
  // The list of tags has `count` in the specification, and `total_count` in a public deployment.
  const rest = isCut ? { total_count: total, pagination } : without(body, key)
  return { ...(items.length > 0 && { [key]: (items as readonly Body[]).map(view) }), ...rest }
}

/** Successful responses of a public deployment whose status differs from the specification. */
const successes: Readonly<Partial<Record<OperationId, number>>> = {
  'applications.delete': 200,
  'deployments.create': 202,
  'deployments.bulkStop': 202,
}

/** Errors of a public deployment whose status differs: for each status of the specification, the observed one. */
const errors: Readonly<Partial<Record<OperationId, Readonly<Record<number, number>>>>> = {
  'deployments.get': { 400: 404 },
  'deployments.selfStop': { 410: 404 },
  'relays.authorizeUser': { 404: 400 },
}

/** Converts a successful response to that of a public deployment. */
export function observedSuccess(id: OperationId, { status: usual, body }: UnsentAnswer, paging: Paging): UnsentAnswer {
  const status = successes[id] ?? usual
  if (body === undefined) return { status, body }
  if (id === 'deployments.selfStop' && status === 200) return { status, body: undefined }
  return { status, body: observedBody(id, status, body as Body, paging) }
}

function observedBody(id: OperationId, status: number, body: Body, paging: Paging): unknown {
  const plain = withoutNulls(body) as Body
  const asList = lists[id]
  if (asList !== undefined) return list(id, plain, asList, paging)
  if (status === 202 && (id === 'deployments.stop' || id === 'deployments.selfStop')) return message(plain)
  return views[id]?.(plain) ?? plain
}

/** Returns the observed status of an error, for the status of a handler. */
export const observedErrorStatus = (id: OperationId, status: number): number => errors[id]?.[status] ?? status

/** Returns the webhook body of a deployment or relay session as a public deployment sends it. */
export const observedWebhook = (body: object): object => {
  const plain = withoutNulls(body) as Body
  return 'request_id' in plain ? deployment(plain) : plain
}
