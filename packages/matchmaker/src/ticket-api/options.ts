import type { Clock, Random } from '@muster/core/clock'
import type { AddressOf, AttemptLimit, Authenticate, BodyLimits, CorsOptions } from '@muster/core/http'
import type { Locate } from '../tickets/locate/locate.js'
import type { BeaconSource } from '../beacons.js'
import type { TicketCaller } from './caller.js'
import type { StreamTokenOptions } from './stream-tokens.js'
import type { ProfileOptions, ProfileResolver } from './profiles/profile.js'

export interface TicketApiLimits {
  /** Requests of one player. Default 50 per 5 seconds; null for no limit. */
  readonly perCaller?: AttemptLimit | null | undefined
  /** Requests from one address; of IPv6, from one /64. Default 250 per 5 seconds; null for no limit. */
  readonly perAddress?: AttemptLimit | null | undefined
  /** Long polls and event streams that one player may have open. Default 8. */
  readonly waitsPerCaller?: number | undefined
  /**
   * Long polls and event streams of all players. Default 50,000, for which the process needs as many file descriptors.
   */
  readonly waits?: number | undefined
  /** Groups that are kept at once. Default 100,000. */
  readonly groups?: number | undefined
  /** Largest body in bytes. Default 16 KiB; 2 MiB for bodies that only backends send. */
  readonly bodyBytes?: number | undefined
  readonly backendBodyBytes?: number | undefined
  /** How long bodies may take, and how many may be unfinished at once, per address and in all. */
  readonly bodies?: BodyLimits | undefined
}

export interface TicketApiOptions {
  /**
   * Identifies the caller; undefined for an unknown one. `bearerToken` of `@muster/core/http` finds the token as
   * existing clients send it.
   */
  readonly authenticate: Authenticate<TicketCaller>
  /**
   * Finds what you know about players besides what `authenticate` returns, e.g. skill and roles. Called for many
   * players at once, with answers cached for a minute; `ProfileOptions` change that, and what happens if it fails.
   */
  readonly profile?: ProfileResolver | ProfileOptions | undefined
  /** Prefix of every path, e.g. `/matchmaking`. Default none. */
  readonly basePath?: string | undefined
  /**
   * Finds the client's address: `clientAddress({ trustedProxies })` of `@muster/core/http` behind a proxy. Default: the
   * socket's other end.
   */
  readonly address?: AddressOf | undefined
  /** Returns the beacons: `() => client.locations.beacons.all()`. Without it, reported latencies are believed. */
  readonly beacons?: BeaconSource | undefined
  /**
   * Finds the place of an address, as for the matchmaker: to estimate missing latencies, and to detect impossible ones.
   */
  readonly locate?: Locate | undefined
  /** Whether backends may read /inspect. Default false. */
  readonly inspect?: boolean | undefined
  readonly limits?: TicketApiLimits | undefined
  /** Milliseconds for which a group is kept that nobody asks for. Default 300,000. */
  readonly groupIdleMs?: number | undefined
  /**
   * Tokens by which browsers follow a ticket without a header: how long they are valid, and which processes share them.
   */
  readonly streamTokens?: StreamTokenOptions | undefined
  /** Lets pages of these origins call the API. Default none. */
  readonly cors?: CorsOptions | undefined
  /** Called with unexpected errors. Default: a process warning. */
  readonly onError?: ((error: unknown) => void) | undefined
  readonly clock?: Clock | undefined
  /** Makes the ids of groups and their members. Default: a source that cannot be predicted. */
  readonly random?: Random | undefined
}
