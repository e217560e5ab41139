import type { Client, ClientOptions } from '@muster/core'
import type { Clock } from '@muster/core/clock'
import type { LimitStore } from '@muster/core/http'
import type {
  GroupStore,
  Locate,
  Matchmaker,
  MatchmakerOptions,
  Observed,
  Store,
  TicketService,
} from '@muster/matchmaker'
import type { LobbyStore } from '@muster/relay'
import { type Config, withKeys } from '../../config/index.js'
import type { OpenEvents } from '../../console/index.js'
import type { Log } from '../../telemetry/log.js'
import type { ReadinessCheck } from '../readiness.js'
import type { OpenSources } from '../sources.js'

/** The role of a process among several that share tickets. */
interface Membership {
  /** True if this process is the leader. */
  readonly leads: boolean
  /** Name of the present or last leader; undefined before the first. */
  readonly leader: string | undefined
  /** Number of times that this process became the leader. */
  readonly takeovers: number
  /** Milliseconds by which the clock of Redis is ahead of this process's clock. */
  readonly clockOffsetMs: number
  /** Number of times that this process noticed the loss of the records in Redis. */
  readonly timesVanished: number
}

/** A ticket that its changed queue refuses. */
export interface RefusedTicket {
  readonly queue: string
  readonly ticketId: string
  readonly reason: string
}

/** The matchmaker in the form that the program uses: of this process only, or shared by several. */
export interface Matching {
  readonly service: TicketService
  /** The matchmaker itself, if it is of this process only. */
  readonly matchmaker?: Matchmaker | undefined
  /** The events of the matchmaker while it runs in this process. */
  readonly on: Matchmaker['on']
  /** The counts of this process: all 0 while another process leads. */
  readonly observed: Observed
  /** Refreshes the data of `observed.inspect` if reading it is slow. */
  readonly beforeScrape?: (() => Promise<void>) | undefined
  readonly webhook: (request: Request) => Promise<Response>
  readonly start: () => void
  /** The role of this process; undefined if it is the only one. */
  readonly membership?: (() => Membership) | undefined
  /** What this process does not see, in words. */
  readonly unseen?: (() => readonly string[]) | undefined
  readonly checks: readonly ReadinessCheck[]
  /**
   * Replaces queues and pools. Returns an empty list if another process has the tickets and reports refused ones by its
   * events.
   * @throws {InvalidQueue}; {InvalidInput} for a pool. Nothing changes then.
   */
  readonly reconfigure: (config: Pick<Config, 'queues' | 'pools'>) => readonly RefusedTicket[]
  /** Leaves tickets, matches and servers to the next process, as far as the store allows. */
  readonly close: (timeoutMs: number) => Promise<void>
  /** The store, if tickets outlive the process. It also keeps groups. */
  readonly store?: Store | undefined
  /** Opens the stores of the console's events; undefined if nothing outlives the process. */
  readonly openEvents?: OpenEvents | undefined
  /** Signs stream tokens like the previous process, so that browsers continue after a restart. */
  readonly streamKey?: Uint8Array | undefined
  /** State that several processes share. Undefined fields are this process's own. */
  readonly shared: {
    readonly limitStore?: LimitStore | undefined
    readonly groups?: GroupStore | undefined
    readonly lobbies?: LobbyStore | undefined
  }
}

export interface MatchingOptions {
  readonly log: Pick<Log, 'info'>
  readonly config: Config
  /** Undefined without the deployment service. */
  readonly client: Client | undefined
  readonly sources: OpenSources
  readonly locate: Locate | undefined
  readonly webhookUrl: string | undefined
  readonly clock: Clock
  /** Called with problems that were handled. */
  readonly onProblem: (during: string, error: unknown) => void
}

export type MatchingStoreOptions = Pick<MatchingOptions, 'config' | 'clock' | 'onProblem'>

/** The storage of the program. */
export interface MatchingStore {
  /** Limiters of the service's limits that processes share. */
  readonly limiter?: ClientOptions['limiter'] | undefined
  readonly openMatching: (options: MatchingOptions) => Promise<Matching>
  /** Called last, after the client of the service was closed. */
  readonly close: () => Promise<void>
}

/** The matchmaker's options from the configuration. */
export function matchmakerOptions(options: MatchingOptions): MatchmakerOptions & { name: string } {
  const { config, client, sources, locate, webhookUrl, clock } = options
  const { pricePerMinute: _, currency: __, ...spending } = config.spending
  return {
    ...config.matching,
    ...spending,
    name: config.name,
    queues: config.queues,
    pools: withKeys(config.pools),
    sources,
    results: config.results && { url: config.results.url, secret: config.results.secret.reveal() },
    joinTokens: config.joinTokens,
    browser: config.browser,
    serverSecret: config.servers?.secret.reveal(),
    deployments: client?.deployments,
    locations: client?.locations,
    locate,
    webhookUrl,
    apiUrl: config.listen.publicUrl,
    clock,
  }
}
