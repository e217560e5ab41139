import { InvalidInput } from '@muster/core'
import type { Clock, Random } from '@muster/core/clock'
import type { AddressOf, AttemptLimit, Authenticate, BodyLimits, CorsOptions, LimitStore } from '@muster/core/http'
import { type Awaitable, read } from '@muster/core/internal'
import type { Store } from '@muster/hosting'
import { z } from 'zod'
import type { BeaconSource } from '../beacons.js'
import type { Locate } from '../locate/mmdb-locate.js'
import { callable, having } from '../options.js'
import type { StreamTokenOptions, TicketCaller } from './callers.js'
import type { GroupStore } from './group-store.js'
import { type ProfileOptions, type ProfileResolver, profileSchema } from './player-profiles.js'

export interface TicketApiLimits {
  /** Most requests of one player. Default 50 per 5 seconds; null for no limit. */
  readonly perCaller?: AttemptLimit | null | undefined
  /** Most requests from one IPv4 address or IPv6 /64. Default 250 per 5 seconds; null for no limit. */
  readonly perAddress?: AttemptLimit | null | undefined
  /**
   * Most tickets and groups that one network begins or joins with a token that players share: there a new player costs
   * nothing. Default 60 per minute; null for no limit.
   */
  readonly sharedCreates?: AttemptLimit | null | undefined
  /** Most long polls and event streams that one player may have open. Default 8. */
  readonly waitsPerCaller?: number | undefined
  /** Most long polls and event streams of all players. Default 50,000, which take as many file descriptors. */
  readonly waits?: number | undefined
  /** Most groups at once. Default 100,000. */
  readonly groups?: number | undefined
  /** Largest body in bytes. Default 16 KiB; 2 MiB for bodies that only backends send. */
  readonly bodyBytes?: number | undefined
  readonly backendBodyBytes?: number | undefined
  /** How long reading a body may take, and how many unfinished bodies are allowed, per address and in total. */
  readonly bodies?: BodyLimits | undefined
}

/** A lobby that a player is in. */
export interface LobbyOfPlayer {
  readonly lobbyId: string
  readonly phase: string
}

/** What a backend did to the matchmaker, its servers or its players by the API, for an audit log. */
export interface BackendAct {
  /** The `id` of the caller. */
  readonly who: string
  readonly what:
    | 'stop-match'
    | 'drain-server'
    | 'stop-server'
    | 'revoke-enrolment'
    | 'pause-queue'
    | 'resume-queue'
    | 'pause-pool'
    | 'repeat-result'
    | 'drop-result'
    | 'resume-pool'
    | 'forgive-cooldown'
  /** Id of the match, server, key or player, or name of the queue or pool. */
  readonly id: string
}

export interface TicketApiOptions {
  /** Receives each act of a backend once it was done. Default: nobody hears of it. */
  readonly acted?: ((act: BackendAct) => void) | undefined
  /**
   * Identifies the caller; returns undefined for an unknown caller. `bearerToken` of `@muster/core/http` finds the
   * token where existing clients send it.
   */
  readonly authenticate: Authenticate<TicketCaller>
  /**
   * Finds what you know about players besides what `authenticate` returns, e.g. skill and roles. Called for many
   * players at once; answers are cached for a minute. `ProfileOptions` change this, and what happens on failure.
   */
  readonly profile?: ProfileResolver | ProfileOptions | undefined
  /** Prefix of every path, e.g. `/matchmaking`. Default none. */
  readonly basePath?: string | undefined
  /**
   * Finds the client's address: `clientAddress({ trustedProxies })` of `@muster/core/http` behind a proxy. Default: the
   * peer address of the connection.
   */
  readonly address?: AddressOf | undefined
  /**
   * Returns the ping beacons: `() => client.locations.beacons.all()`. Without it, all reported latencies are believed.
   */
  readonly beacons?: BeaconSource | undefined
  /** Finds the place of an address, as the matchmaker's option does: to estimate or disprove latencies. */
  readonly locate?: Locate | undefined
  /** Whether backends may read /inspect. Default false. */
  readonly inspect?: boolean | undefined
  readonly limits?: TicketApiLimits | undefined
  /**
   * Where `limits.perCaller` and `limits.perAddress` are counted. Default: in memory of this process. With the store of
   * `@muster/redis`, a player is one player for all processes.
   */
  readonly limitStore?: LimitStore | undefined
  /** Milliseconds for which a group is kept without requests about it. Default 300,000. */
  readonly groupIdleMs?: number | undefined
  /** The lifetime, and the key shared by processes, of tokens by which browsers follow a ticket without a header. */
  readonly streamTokens?: StreamTokenOptions | undefined
  /**
   * Where groups are kept. Default: in memory of this process, for `groupIdleMs` and at most `limits.groups` of them;
   * another store has bounds of its own.
   */
  readonly groups?: GroupStore | undefined
  /** The store of the matchmaker, so that groups outlive the process as tickets do. Not with `groups`. */
  readonly store?: Pick<Store, 'records'> | undefined
  /**
   * Finds the lobbies that a player is in, for `GET /me`: `(playerId) => lobbies.ofPlayer(playerId)` with lobbies of
   * `@muster/relay`. Default: nobody is in a lobby.
   */
  readonly lobbies?: ((playerId: string) => Awaitable<readonly LobbyOfPlayer[]>) | undefined
  /** Lets pages of these origins call the API. Default none. */
  readonly cors?: CorsOptions | undefined
  /** Called with unexpected errors. Default: a process warning. */
  readonly onError?: ((error: unknown) => void) | undefined
  readonly clock?: Clock | undefined
  /** Makes the ids of groups and their members. Default: a source that cannot be predicted. */
  readonly random?: Random | undefined
}

const count = z.int().min(1)
const attempts = z.strictObject({ limit: z.number().min(1), windowMs: z.number().positive() }).nullable()

const profileOptions = z.strictObject({
  resolve: callable(),
  cacheMs: z.number().min(0).optional(),
  cacheSize: count.optional(),
  timeoutMs: z.number().positive().optional(),
  batchSize: count.optional(),
  whenFailed: z.union([z.literal('refuse'), profileSchema], "must be 'refuse' or a profile").optional(),
})

const store = z.custom<TicketApiOptions['store']>(
  (value) => typeof Reflect.get(Object(value), 'records') === 'function',
  'must be made by openStore or createMemoryStore',
)

const longEnough = (key: unknown) =>
  (typeof key === 'string' || key instanceof Uint8Array) && Buffer.byteLength(key) >= 32
const streamTokens = z.strictObject({
  key: z.custom(longEnough, 'must have at least 32 characters or bytes').optional(),
  lifetimeMs: z
    .number()
    .min(1000)
    .max(24 * 3600 * 1000)
    .optional(),
})

const schema = z.strictObject({
  authenticate: callable(),
  profile: z.union([callable(), profileOptions], 'must be a function, or options with one under resolve').optional(),
  basePath: z
    .string()
    .regex(/^(\/[^/?#]+)*$/, "must be empty, or begin with '/' and not end with it")
    .optional(),
  address: callable().optional(),
  beacons: callable().optional(),
  locate: callable().optional(),
  inspect: z.boolean().optional(),
  limits: z
    .strictObject({
      perCaller: attempts.optional(),
      perAddress: attempts.optional(),
      sharedCreates: attempts.optional(),
      waitsPerCaller: count.optional(),
      waits: count.optional(),
      groups: count.optional(),
      bodyBytes: count.optional(),
      backendBodyBytes: count.optional(),
      bodies: z
        .strictObject({
          timeoutMs: z.number().min(1).optional(),
          perAddress: count.optional(),
          inAll: count.optional(),
        })
        .optional(),
    })
    .optional(),
  limitStore: having<LimitStore>('attempts').optional(),
  groupIdleMs: z.number().positive().optional(),
  streamTokens: streamTokens.optional(),
  groups: having<GroupStore>('find', 'gathering', 'create', 'replace', 'size').optional(),
  store: store.optional(),
  lobbies: callable().optional(),
  cors: z.unknown().optional(),
  acted: callable().optional(),
  onError: callable().optional(),
  clock: z.unknown().optional(),
  random: callable().optional(),
})

/**
 * Checks the options of the ticket API.
 * @throws {InvalidInput} naming the option and the value.
 */
export function checkOptions(options: TicketApiOptions): void {
  const refuse = (field: string, message: string) => new InvalidInput(`option ${message}`, { field })
  read(schema, options, refuse)
  if (options.groups !== undefined && options.store !== undefined)
    throw refuse('store', 'store: must not be given with groups, which keeps them elsewhere')
}
