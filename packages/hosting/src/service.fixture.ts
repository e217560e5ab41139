import { AlreadyTerminated, ConnectionLost, type Coordinates, NotFound } from '@muster/core'
import type { Deployment, DeploymentFilter } from '@muster/core/api'
import type { Clock } from '@muster/core/clock'
import type { DeploymentService } from './sources/service/deployment-service.js'

type Method = Exclude<keyof DeploymentService, 'logs'>
type CreateInput = Parameters<DeploymentService['create']>[0]
const OSLO = { city: 'Oslo', country: 'Norway', latitude: '59.9', longitude: 10.7 }

/** A simulated failure of a call. */
export interface CallFault {
  /** The error with which the call rejects. Default: a lost connection. */
  readonly error?: Error | undefined
  readonly effect?: boolean | undefined
}

/** What happens to a deployment. Times are milliseconds from its creation. */
export interface Fate {
  readonly readyMs?: number | undefined
  readonly errorMs?: number | undefined
  readonly endMs?: number | undefined
}

export interface ServiceOptions {
  readonly clock: Clock
  /** Network latency in each direction in milliseconds. Default 0. */
  readonly latencyMs?: ((method: Method) => number) | undefined
  /** Milliseconds until the list shows a new deployment. Default 0. */
  readonly listLagMs?: number | undefined
  readonly fault?: ((method: Method, nth: number) => CallFault | undefined) | undefined
  /** Returns the fate of a deployment. Default: READY after 5 s. */
  readonly fate?: ((nth: number) => Fate) | undefined
  /** Returns the location of a deployment. Undefined if the service does not report it. Default: Oslo. */
  readonly location?: ((input: CreateInput) => Coordinates | undefined) | undefined
  readonly pageSize?: number | undefined
  /** The output of containers. Default: the service has no logs. */
  readonly logs?: DeploymentService['logs'] | undefined
  /** True if the list includes ended deployments. Default false. */
  readonly listsEnded?: boolean | undefined
}

interface Deployed {
  readonly requestId: string
  readonly tags: readonly string[]
  readonly createdAt: number
  readonly fate: Fate
  readonly location: Coordinates | typeof OSLO | undefined
  stopAskedAt: number | undefined
}

export const lost = new ConnectionLost('the connection was lost', { sent: true })
const START = Number.POSITIVE_INFINITY

/** Returns a timestamp in the service's format: date and time in UTC, separated by a space. */
export const timestamp = (at: number): `${string} ${string}` => {
  const [date = '', time = ''] = new Date(at).toISOString().split(/[TZ]/)
  return `${date} ${time}`
}

/** Creates a simulated deployment service in memory, with a given clock and given faults. */
export function createTestService({
  clock,
  latencyMs = () => 0,
  listLagMs = 0,
  fault = () => undefined,
  fate: fateOf = () => ({ readyMs: 5000 }),
  location: locationOf = () => OSLO as never,
  pageSize = 100,
  listsEnded = false,
  logs,
}: ServiceOptions) {
  const records: Deployed[] = []
  const calls: { [Each in Method]: Parameters<DeploymentService[Each]>[0][] } = {
    create: [],
    get: [],
    stop: [],
    list: [],
  }

  const settledAt = ({ createdAt, fate }: Deployed) =>
    createdAt + Math.min(fate.readyMs ?? START, fate.errorMs ?? START)
  /** Returns when a deployment ends. A requested stop takes effect once the deployment is READY or ERROR. */
  const endedAt = (record: Deployed) =>
    Math.min(
      record.createdAt + (record.fate.endMs ?? START),
      record.stopAskedAt === undefined ? START : Math.max(record.stopAskedAt, settledAt(record)),
    )
  const statusOf = (record: Deployed): string => {
    const now = clock.now()
    if (now >= endedAt(record)) return 'Status.TERMINATED'
    if (now >= record.createdAt + (record.fate.errorMs ?? START)) return 'Status.ERROR'
    return now >= settledAt(record) ? 'Status.READY' : 'Status.DEPLOYING'
  }
  const find = (requestId: string): Deployed => {
    const record = records.find((one) => one.requestId === requestId)
    if (record === undefined) throw new NotFound('no such deployment')
    return record
  }
  const viewOf = (record: Deployed): Deployment => ({
    request_id: record.requestId,
    current_status: statusOf(record),
    ...(statusOf(record) === 'Status.ERROR' && { error: true, error_detail: 'exit code 1 at 203.0.113.9' }),
    start_time: timestamp(record.createdAt),
    elapsed_time: Math.floor((clock.now() - record.createdAt) / 1000),
    fqdn: `${record.requestId}.example.com`,
    public_ip: '203.0.113.9',
    ports: {
      game: {
        internal: 7777,
        external: 30_000,
        protocol: 'UDP',
        name: 'game',
        link: `${record.requestId}.example.com:30000`,
      },
    },
    ...(record.location !== undefined && { location: record.location as never }),
    tags: [...record.tags],
  })

  const travel = async (method: Method, signal: AbortSignal | undefined): Promise<void> => {
    const ms = latencyMs(method)
    if (ms > 0) await clock.sleep(ms, signal)
  }
  const call = async <Each extends Method, Output>(
    method: Each,
    input: Parameters<DeploymentService[Each]>[0],
    signal: AbortSignal | undefined,
    act: () => Output,
  ): Promise<Output> => {
    calls[method].push(input)
    const wrong = fault(method, calls[method].length)
    await travel(method, signal)
    if (wrong !== undefined && wrong.effect !== true) throw wrong.error ?? lost
    const output = act()
    await travel(method, signal)
    if (wrong !== undefined) throw wrong.error ?? lost
    return output
  }

  const passes = (record: Deployed, { field, value }: DeploymentFilter) =>
    field !== 'tags' || [value].flat().some((tag) => record.tags.includes(String(tag)))

  const deployments: DeploymentService = {
    ...(logs && { logs }),
    create: (input, options) =>
      call('create', input, options?.signal, () => {
        const nth = records.length + 1
        const record = {
          requestId: `r${nth}`,
          tags: input.tags ?? [],
          createdAt: clock.now(),
          fate: fateOf(nth),
          location: locationOf(input),
          stopAskedAt: undefined,
        }
        records.push(record)
        return { request_id: record.requestId }
      }),
    get: (input, options) => call('get', input, options?.signal, () => viewOf(find(input.request_id))),
    stop: (input, options) =>
      call('stop', input, options?.signal, () => {
        const record = find(input.request_id)
        if (clock.now() >= endedAt(record)) throw new AlreadyTerminated('Instance Already terminated')
        record.stopAskedAt ??= clock.now()
        return { message: 'stopping' }
      }),
    list: (input, options) =>
      call('list', input, options?.signal, () => {
        const { page = 1 } = input
        const all = records
          .filter(
            (record) => clock.now() >= record.createdAt + listLagMs && (listsEnded || clock.now() < endedAt(record)),
          )
          .filter((record) => (input.query?.filters ?? []).every((filter) => passes(record, filter)))
          .toReversed()
        const data = all.slice((page - 1) * pageSize, page * pageSize).map((record) => {
          const { current_status, elapsed_time: _, ...entry } = viewOf(record)
          return { ...entry, location: undefined, ready: current_status === 'Status.READY' }
        })
        return { data, total_count: all.length, pagination: { number: page, has_next: page * pageSize < all.length } }
      }),
  }

  return {
    deployments,
    calls,
    records,
    /** Returns the ids of deployments that run and whose stop was not requested. They would cost money for ever. */
    unstopped: () =>
      records
        .filter((record) => record.stopAskedAt === undefined && clock.now() < endedAt(record))
        .map((record) => record.requestId),
    /** Creates a deployment behind the matchmaker's back. */
    add: (tags: readonly string[]) => deployments.create({ application: 'a', version: '1', users: [], tags }),
  }
}
