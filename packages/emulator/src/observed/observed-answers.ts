// pure: answers of a public deployment where they differ from those of the specification
import type { OperationId, Pagination } from '@muster/core/api'

/** An object of an answer. */
type Body = Readonly<Record<string, unknown>>
type View = (body: Body) => Body

/** An answer before it is sent. Without a body: undefined. */
export interface Answered {
  readonly status: number
  readonly body: unknown
}

/** Cuts one page out of a list. */
export type Paging = (all: readonly unknown[]) => {
  readonly items: readonly unknown[]
  readonly total: number
  readonly pagination: Pagination
}

/** Members that are null there where they have no value; all others are left out (public fact). */
const NULLABLE = new Set(['next_page_number', 'previous_page_number', 'crash_logs', 'crash_data', 'logs_link'])

/** A value without the members that are null, at any depth. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (typeof value !== 'object' || value === null) return value
  const present = Object.entries(value).filter(([key, inner]) => inner !== null || NULLABLE.has(key))
  return Object.fromEntries(present.map(([key, inner]) => [key, withoutNulls(inner)]))
}

/**
 * Makes a view of the named members; those that are not there stay absent.
 * @param names with spaces between them.
 */
function only(names: string): View {
  const all = names.split(' ')
  return (body) => Object.fromEntries(all.flatMap((name) => (body[name] === undefined ? [] : [[name, body[name]]])))
}

const without = (body: Body, name: string): Body =>
  Object.fromEntries(Object.entries(body).filter(([key]) => key !== name))

/** The view of a member that may be absent. */
const within = (body: Body, name: string, view: View): Body => {
  const inner = body[name]
  if (inner === undefined) return {}
  return { [name]: Array.isArray(inner) ? (inner as Body[]).map(view) : view(inner as Body) }
}

const byName =
  (view: View): View =>
  (body) =>
    Object.fromEntries(Object.entries(body).map(([name, inner]) => [name, view(inner as Body)]))

const application = only('name is_active image create_time last_updated')

/** A value that is hidden is empty (our choice): there the member is required. */
const variable: View = ({ key, value = '', is_secret, is_hidden }) => ({
  key,
  value,
  is_hidden: is_secret === true || is_hidden === true,
})
const versionFields = only(
  'name docker_repository docker_image docker_tag create_time last_updated req_cpu req_memory req_video' +
    ' is_active private_username verify_image force_cache time_to_deploy max_duration restart_policy' +
    ' termination_grace_period_seconds will_deploy_in_mainland_china dns_config ports endpoint_storage',
)
const version: View = (body) => ({ ...versionFields(body), ...within(body, 'envs', variable) })

const storage = only('name access_key_id endpoint bucket output_format create_time last_updated')

const location = only('city country continent administrative_division timezone latitude longitude')
const listedLocation: View = (body) => ({
  ...location(body),
  latitude: Number(body['latitude']),
  longitude: Number(body['longitude']),
})
const ports = byName(only('name link internal external protocol tls_upgrade'))
/** The address of a server is empty until it has one (our choice): there the members are required texts. */
const address: View = ({ fqdn = '', public_ip = '' }) => ({ fqdn, public_ip })

const statusFields = only(
  'request_id app_name app_version current_status running start_time elapsed_time max_duration' +
    ' removal_time last_status error error_detail tags command arguments',
)
const deployment: View = (body) => ({
  ...statusFields(body),
  ...address(body),
  ...within(body, 'ports', ports),
  ...within(body, 'location', location),
})
const listEntryFields = only('request_id ready start_time tags')
const listEntry: View = (body) => ({ ...listEntryFields(body), ...address(body), ...within(body, 'ports', ports) })

const message = only('message')
const stopped: View = (body) => ({ ...message(body), ...within(body, 'deployment_summary', deployment) })

/** Values are whole numbers there, so shares of a processor are thousandths. */
const series: View = (body) => {
  const { labels = [], datasets = [] } = body as { readonly labels?: string[]; readonly datasets?: string[] }
  const factor = labels.includes('vCPU') ? 1000 : 1
  const names = labels.map((label) => (label === 'vCPU' ? 'mCPU' : label))
  return { ...body, labels: names, datasets: datasets.map((value) => Math.round(Number(value) * factor)) }
}
const metrics: View = (body) => ({
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

/** The views of answers that are not lists. Answers that are not named here differ by their nulls alone. */
const views: Readonly<Partial<Record<OperationId, View>>> = {
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

/** The lists: the member that holds the entries, and their view. */
const lists: Readonly<Partial<Record<OperationId, readonly [key: string, view: View]>>> = {
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

/** Lists that come whole by the specification and in pages there (public fact). */
const cut: readonly OperationId[] = [
  'applications.list',
  'versions.list',
  'registry.listTags',
  'tags.list',
  'relays.list',
]

/** A list in its observed form. Without entries, their member is absent (public fact). */
function list(id: OperationId, body: Body, [key, view]: readonly [key: string, view: View], paging: Paging): Body {
  const all = (body[key] ?? []) as readonly Body[]
  const isCut = cut.includes(id)
  const { items, total, pagination } = isCut ? paging(all) : { items: all, total: undefined, pagination: undefined }
  // The list of tags has `count` by the specification, and `total_count` there.
  const rest = isCut ? { total_count: total, pagination } : without(body, key)
  return { ...(items.length > 0 && { [key]: (items as readonly Body[]).map(view) }), ...rest }
}

/** Successes whose status differs. */
const successes: Readonly<Partial<Record<OperationId, number>>> = {
  'applications.delete': 200,
  'deployments.create': 202,
  'deployments.bulkStop': 202,
}

/** Errors whose status differs, since the one of the specification is not described there. */
const errors: Readonly<Partial<Record<OperationId, Readonly<Record<number, number>>>>> = {
  'deployments.get': { 400: 404 },
  'deployments.selfStop': { 410: 404 },
  'relays.authorizeUser': { 404: 400 },
}

/** Turns a success of the specification into what a public deployment answers. */
export function observedSuccess(id: OperationId, { status: usual, body }: Answered, paging: Paging): Answered {
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

/** The status of an error there, of one that a handler answers. */
export const observedErrorStatus = (id: OperationId, status: number): number => errors[id]?.[status] ?? status

/** A deployment or relay session as webhooks carry it there. */
export const observedWebhook = (body: object): object => {
  const plain = withoutNulls(body) as Body
  return 'request_id' in plain ? deployment(plain) : plain
}
