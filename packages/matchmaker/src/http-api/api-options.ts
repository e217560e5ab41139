import { InvalidInput } from '@muster/core'
import type { Random } from '@muster/core/clock'
import type { AttemptLimit, Authenticate, BodyLimits, LimitStore } from '@muster/core/http'
import { type ApiOptions, type Awaitable, callable, having, read } from '@muster/core/internal'
import type { Store } from '@muster/hosting'
import { z } from 'zod'
import type { BeaconSource } from '../beacons.js'
import type { OperatorAction, OperatorCommandName } from '../commands.js'
import type { Locate } from '../locate/index.js'
import type { StreamTokenOptions, TicketCaller } from './callers.js'
import type { GroupStore } from './group-store.js'
import { type ProfileOptions, type ProfileResolver, profileSchema } from './player-profiles.js'

export interface TicketApiLimits {
  /** Maximum number of requests of one player. Default 50 per 5 seconds; null for no limit. */
  readonly perCaller?: AttemptLimit | null | undefined
  /** Maximum number of requests from one IPv4 address or IPv6 /64. Default 250 per 5 seconds; null for no limit. */
  readonly perAddress?: AttemptLimit | null | undefined
  /**
   * Maximum number of tickets and groups that one network creates or joins with a token that players share. With such a
   * token, anyone can become a new player at no cost. Default 60 per minute; null for no limit.
   */
  readonly sharedCreates?: AttemptLimit | null | undefined
  /** Maximum number of long polls and event streams that one player may have open. Default 8. */
  readonly waitsPerCaller?: number | undefined
  /** Maximum number of long polls and event streams of all players. Each takes a file descriptor. Default 50,000. */
  readonly waits?: number | undefined
  /** Maximum number of groups that exist at a time. Default 100,000. */
  readonly groups?: number | undefined
  /** Largest body in bytes. Default 16 KiB; 2 MiB for bodies that only backends send. */
  readonly bodyBytes?: number | undefined
  readonly backendBodyBytes?: number | undefined
  /** Time limit for reading a body, and the number of unfinished bodies allowed per address and in total. */
  readonly bodies?: BodyLimits | undefined
}

/** A lobby that a player is in. */
export interface LobbyOfPlayer {
  readonly lobbyId: string
  readonly phase: string
}

/**
 * The operators' commands that a backend may use too. A backend cancels tickets through the route for players instead.
 */
export type BackendCommand = Exclude<OperatorCommandName, 'cancelTicket'>

/** A change that a backend made to the matchmaker, its servers or its players through the API, for an audit log. */
export interface BackendAct {
  /** The `id` of the calling backend. */
  readonly who: string
  readonly what: OperatorAction<BackendCommand>
  /** Id of the match, server, key or player, or name of the queue or pool. */
  readonly id: string
}

export interface TicketApiOptions extends ApiOptions<TicketCaller> {
  /** Called after each operator's command that a backend has sent, e.g. to write an audit log. Default: none. */
  readonly acted?: ((act: BackendAct) => void) | undefined
  /**
   * Identifies the caller; returns undefined for an unknown caller. `bearerToken` of `@muster/core/http` finds the
   * token where existing clients send it.
   */
  readonly authenticate: Authenticate<TicketCaller>
  /**
   * Finds what you know about players besides what `authenticate` returns, e.g. skill and roles. One call may be for
   * many players. Answers are cached for a minute. `ProfileOptions` change the cache time and the behaviour on failure.
   */
  readonly profile?: ProfileResolver | ProfileOptions | undefined
  /**
   * Returns the ping beacons: `() => client.locations.beacons.all()`. Without it, all reported latencies are accepted.
   */
  readonly beacons?: BeaconSource | undefined
  /** Finds the location of an address, to estimate or disprove latencies. Like the matchmaker's option of this name. */
  readonly locate?: Locate | undefined
  /** Lets backends read /inspect. Default false. */
  readonly inspect?: boolean | undefined
  readonly limits?: TicketApiLimits | undefined
  /** Milliseconds for which a group is kept without requests about it. Default 300,000. */
  readonly groupIdleMs?: number | undefined
  /**
   * Lifetime of the tokens by which browsers follow a ticket without a header, and the key that processes share for
   * them.
   */
  readonly streamTokens?: StreamTokenOptions | undefined
  /**
   * Where groups are kept. Default: in memory of this process, for `groupIdleMs` and at most `limits.groups` of them.
   * Another store has its own limits.
   */
  readonly groups?: GroupStore | undefined
  /** The store of the matchmaker, so that groups outlive the process like tickets. Cannot be combined with `groups`. */
  readonly store?: Pick<Store, 'records'> | undefined
  /**
   * Finds the lobbies that a player is in, for `GET /me`: `(playerId) => lobbies.ofPlayer(playerId)` with lobbies of
   * `@muster/relay`. Default: players are in no lobby.
   */
  readonly lobbies?: ((playerId: string) => Awaitable<readonly LobbyOfPlayer[]>) | undefined
  /** Makes the ids of groups and their members. Default: a cryptographic source. */
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
  const refuse = (field: string, fieldAndFault: string) => new InvalidInput(`option ${fieldAndFault}`, { field })
  read(schema, options, refuse)
  if (options.groups !== undefined && options.store !== undefined)
    throw refuse('store', 'store: must not be given with groups, which keeps them elsewhere')
}
