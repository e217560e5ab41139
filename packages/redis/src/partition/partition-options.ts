import { createHash } from 'node:crypto'
import type { MatchmakerOptions, QueueDefinition } from '@muster/matchmaker'
import { readStored, type PartitionStore } from './store/index.js'

export interface PartitionOptions extends Omit<MatchmakerOptions, 'store'> {
  readonly name: string
  /** Allows this process to lead. Default true. */
  readonly canLead?: boolean | undefined
  /**
   * Keeps all tickets loaded while another process leads. Costs their memory and some 10 µs of CPU per ticket. A
   * takeover then takes about two seconds with any number of waiting tickets. Default true.
   */
  readonly standby?: boolean | undefined
  /** Milliseconds without a sign of the leader until another process leads. At least 300; default 1000. */
  readonly leaseMs?: number | undefined
  /** Milliseconds to wait for a reply of the leader. Default 10,000. */
  readonly askTimeoutMs?: number | undefined
}

/** The dependencies of a partition in addition to its options. */
export interface PartitionParts {
  /** Opens the store, once the options are checked. */
  readonly openStore: () => PartitionStore
  /** A random name of this process. */
  readonly owner: string
  /** Name of this process for people. Default: its random name. */
  readonly title?: string | undefined
  readonly newId: () => string
  /** Makes entries that a crash must not lose wait for replicas. Default false. */
  readonly isDurable?: boolean | undefined
  /** Returns an error for each other partition that has servers but no leader. Default: there are none. */
  readonly findAbandoned?: (() => Promise<readonly Error[]>) | undefined
}

/** The queues with which the leader matches. */
export interface QueuesInForce {
  /** Fingerprint of the definitions: equal definitions have equal fingerprints. */
  readonly fingerprint: string
  readonly names: readonly string[]
  /** For each queue with `presence`, by name: its `withinMs`. */
  readonly presence?: Readonly<Record<string, number>> | undefined
  /** Fingerprints of further parts of the leader's configuration, by what they are. Missing from an earlier version. */
  readonly others?: Readonly<Record<string, string>> | undefined
  /** The present or last leader with these queues, named for people: its machine and process id. */
  readonly by: string
  /** Epoch milliseconds, by the clock of Redis. */
  readonly since: number
}

/** Returns a fingerprint of 16 characters. It includes the source code of custom rules. */
export function fingerprintOf(definitions: unknown): string {
  const text = JSON.stringify(definitions, (_key, value: unknown) => {
    if (typeof value === 'function') return String(value)
    if (value === Infinity) return 'Infinity'
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
    return Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
  })
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}

/** The options besides the queues by which the leader alone decides for all processes. */
export type LeaderOptions = Pick<
  MatchmakerOptions,
  | 'pools'
  | 'results'
  | 'serverSecret'
  | 'joinTokens'
  | 'browser'
  | 'sources'
  | 'deployments'
  | 'maxServers'
  | 'maxStarting'
  | 'maxCreatesPerMinute'
  | 'maxMatchesPerPlayer'
  | 'maxServersPerPlayer'
>

export type JoinAlgorithm = NonNullable<MatchmakerOptions['joinTokens']>['alg']

/** The names of `pools`, `browser` and `serverSecret` in a sentence. */
export const POOLS = 'pools'
export const SERVER_BROWSER = 'server browser'
export const SERVER_SECRET = 'secret of game servers'

/** The name of `results` in a sentence. */
export const RESULTS = 'receiver of results'

/** False if, by these fingerprints, a leader sends no results. */
export const hasResults = (others: QueuesInForce['others']): boolean =>
  others?.[RESULTS] !== undefined && others[RESULTS] !== fingerprintOf(null)

const JOIN_TOKENS = 'join tokens'

/** Returns the algorithm of join tokens by these fingerprints; undefined if they do not have it. */
export const joinAlgorithmIn = (others: QueuesInForce['others']): JoinAlgorithm | undefined =>
  (['HS256', 'EdDSA'] as const).find((alg) => others?.[JOIN_TOKENS] === fingerprintOf({ alg }))

/** Returns the fingerprint of each part of these options, by the part's name in a sentence. */
export const fingerprintsOf = (options: LeaderOptions): Readonly<Record<string, string>> => {
  const { pools = [], results, serverSecret, joinTokens, browser = {}, sources = {}, deployments } = options
  const { maxServers, maxStarting, maxCreatesPerMinute, maxMatchesPerPlayer, maxServersPerPlayer } = options
  const limits = { maxServers, maxStarting, maxCreatesPerMinute, maxMatchesPerPlayer, maxServersPerPlayer }
  const parts = {
    [POOLS]: pools,
    [RESULTS]: results ?? null,
    [SERVER_SECRET]: serverSecret ?? null,
    [JOIN_TOKENS]: { alg: joinTokens?.alg ?? 'HS256' },
    [SERVER_BROWSER]: browser,
    'sources of servers': [deployments !== undefined, ...Object.keys(sources).toSorted()],
    'URLs of allocators': Object.fromEntries(Object.entries(sources).map(([name, { url }]) => [name, url])),
    'limits of servers and players': limits,
  }
  return Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, fingerprintOf(part)]))
}

export const inForceText = (queues: readonly QueueDefinition[], options: LeaderOptions, by: string): string =>
  JSON.stringify({
    fingerprint: fingerprintOf(queues),
    names: queues.map(({ name }) => name),
    presence: presenceOf(queues),
    others: fingerprintsOf(options),
    by,
  } satisfies Omit<QueuesInForce, 'since'>)

function presenceOf(queues: readonly QueueDefinition[]): QueuesInForce['presence'] {
  const asking = queues.flatMap(({ name, presence }) => (presence === undefined ? [] : [[name, presence.withinMs]]))
  return asking.length === 0 ? undefined : (Object.fromEntries(asking) as QueuesInForce['presence'])
}

export const readInForce = (text: string, since: number): QueuesInForce => ({
  ...readStored<Omit<QueuesInForce, 'since'>>(text, 'list of queues in force'),
  since,
})
