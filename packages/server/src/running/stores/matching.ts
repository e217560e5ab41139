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

/** A process among several that share tickets. */
interface Membership {
  /** Whether it is the one that matches. */
  readonly leads: boolean
  /** How people know the process that matches, or did last; undefined before there was one. */
  readonly leader: string | undefined
  /** How often it came to lead. */
  readonly takeovers: number
  /** Milliseconds by which the clock of Redis is ahead of this process'. */
  readonly clockOffsetMs: number
  /** How often this process saw the records vanish from Redis. */
  readonly timesVanished: number
}

/** A ticket that its new queue refuses. */
export interface RefusedTicket {
  readonly queue: string
  readonly ticketId: string
  readonly reason: string
}

/** The matchmaker as the program uses it: of this process alone, or one that several processes share. */
export interface Matching {
  readonly service: TicketService
  /** The same, where it is of this process alone. */
  readonly matchmaker?: Matchmaker | undefined
  /** The events of the matchmaker, while it runs in this process. */
  readonly on: Matchmaker['on']
  /** What this process counts: nothing, while another process leads. */
  readonly observed: Observed
  /** Refreshes the data of `observed.inspect` where reading it is slow. */
  readonly beforeScrape?: (() => Promise<void>) | undefined
  readonly webhook: (request: Request) => Promise<Response>
  readonly start: () => void
  /** Which part this process has among several; undefined where it is alone. */
  readonly membership?: (() => Membership) | undefined
  /** What this process does not see, in words. */
  readonly unseen?: (() => readonly string[]) | undefined
  readonly checks: readonly ReadinessCheck[]
  /**
   * Replaces queues and pools. Empty where the tickets are with another process, which tells of them by its events.
   * @throws {InvalidQueue}; {InvalidInput} for a pool; and nothing changes
   */
  readonly reconfigure: (config: Pick<Config, 'queues' | 'pools'>) => readonly RefusedTicket[]
  /** Leaves tickets, matches and servers to the next process, as far as the store allows. */
  readonly close: (timeoutMs: number) => Promise<void>
  /** Where tickets outlive the process; groups are kept there too. */
  readonly store?: Store | undefined
  /** Opens what keeps events of the console beyond this process; undefined where nothing outlives it. */
  readonly openEvents?: OpenEvents | undefined
  /** Signs tokens of streams as the process before did, so that browsers go on after a restart. */
  readonly streamKey?: Uint8Array | undefined
  /** What several processes share; undefined for what is this process's own. */
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
  /** Told of what went wrong and is dealt with. */
  readonly onProblem: (during: string, error: unknown) => void
}

export type MatchingStoreOptions = Pick<MatchingOptions, 'config' | 'clock' | 'onProblem'>

/** Where the program remembers. */
export interface MatchingStore {
  /** Keeps the service's limits together with other processes. */
  readonly limiter?: ClientOptions['limiter'] | undefined
  readonly openMatching: (options: MatchingOptions) => Promise<Matching>
  /** Called last, when the client of the service is closed. */
  readonly close: () => Promise<void>
}

/** The matchmaker's options, as the configuration states them. */
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
