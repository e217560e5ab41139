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

/** The role of this process among those that share the tickets. */
interface Membership {
  /** True if this process is the leader. */
  readonly leads: boolean
  /** Name of the present or last leader; undefined before the first leader. */
  readonly leader: string | undefined
  /** Number of times that this process has become the leader. */
  readonly takeovers: number
  /** Milliseconds by which the clock of Redis is ahead of this process's clock. */
  readonly clockOffsetMs: number
  /** Number of times that this process has noticed the loss of the records in Redis. */
  readonly timesVanished: number
}

/** A ticket that does not fit its changed queue. */
export interface RefusedTicket {
  readonly queue: string
  readonly ticketId: string
  readonly reason: string
}

/** The matchmaker as the program uses it. One process has it alone, or several share it. */
export interface Matching {
  readonly service: TicketService
  /** The matchmaker itself; undefined if several processes share it. */
  readonly matchmaker?: Matchmaker | undefined
  /** Listens to the events of the matchmaker while it runs in this process. */
  readonly on: Matchmaker['on']
  /**
   * Calls the listener whenever this process has taken over the matches of another process, which may have ended before
   * its events had an effect. Undefined if the matchmaker is in this process only.
   */
  readonly onTakeover?: ((listener: () => void) => void) | undefined
  /** The counts of this process. All are 0 while another process leads. */
  readonly observed: Observed
  /** Refreshes the data of `observed.inspect`, if it is too slow to read during a scrape. */
  readonly beforeScrape?: (() => Promise<void>) | undefined
  readonly webhook: (request: Request) => Promise<Response>
  readonly start: () => void
  /** Returns the role of this process; undefined if it is the only one. */
  readonly membership?: (() => Membership) | undefined
  /** Returns sentences about what this process does not see. */
  readonly unseen?: (() => readonly string[]) | undefined
  readonly checks: readonly ReadinessCheck[]
  /**
   * Replaces queues and pools, and returns the tickets that no longer fit. If another process has the tickets, returns
   * an empty list, and events report those tickets.
   * @throws {InvalidQueue} or, for a pool, {InvalidInput}. Nothing has changed then.
   */
  readonly reconfigure: (config: Pick<Config, 'queues' | 'pools'>) => readonly RefusedTicket[]
  /** Ends the matchmaker. Tickets, matches and servers are left to the next process, as far as the store allows. */
  readonly close: (timeoutMs: number) => Promise<void>
  /** The store, if tickets outlive the process. It stores groups too. */
  readonly store?: Store | undefined
  /** Opens the stores of the console's events; undefined if nothing outlives the process. */
  readonly openEvents?: OpenEvents | undefined
  /** Signs stream tokens. The previous process used the same key, so that browsers continue after a restart. */
  readonly streamKey?: Uint8Array | undefined
  /** State that several processes share. If a field is undefined, each process has its own. */
  readonly shared: {
    readonly limitStore?: LimitStore | undefined
    readonly groups?: GroupStore | undefined
    readonly lobbies?: LobbyStore | undefined
  }
}

export interface MatchingOptions {
  readonly log: Pick<Log, 'info'>
  readonly config: Config
  /** The client; undefined without the deployment service. */
  readonly client: Client | undefined
  readonly sources: OpenSources
  readonly locate: Locate | undefined
  readonly webhookUrl: string | undefined
  readonly clock: Clock
  /** Called with each problem that was handled, and the activity during which it occurred. */
  readonly onProblem: (during: string, error: unknown) => void
}

export type MatchingStoreOptions = Pick<MatchingOptions, 'config' | 'clock' | 'onProblem'>

/** The storage of the program: memory, a folder or Redis. */
export interface MatchingStore {
  /** Creates limiters for the service's rate limits that all processes share. */
  readonly limiter?: ClientOptions['limiter'] | undefined
  readonly openMatching: (options: MatchingOptions) => Promise<Matching>
  /** Closes the storage. Called after the client of the service was closed. */
  readonly close: () => Promise<void>
}

/**
 * Returns a clock with the times of the matchmaker. With a store, they continue those of the previous process. With
 * Redis, all processes agree on them, whatever their machines' clocks show: by its own clock, a process ahead of the
 * others would count every member of a lobby as away.
 */
export const serviceClock = ({ dateOf }: Pick<TicketService, 'dateOf'>, { sleep }: Clock): Clock => ({
  now: () => dateOf() - dateOf(0),
  wallStepMs: () => dateOf(0),
  sleep,
})

/** Returns the options of the matchmaker, from the configuration. */
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
