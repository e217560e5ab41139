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
  /** Long polls and event streams in all. Default 50,000: give the process as many file descriptors. */
  readonly waits?: number | undefined
  /** Groups that are kept at once. Default 100,000. */
  readonly groups?: number | undefined
  /** Bytes of a body. Default 16 KiB; of those that only backends send, 2 MiB. */
  readonly bodyBytes?: number | undefined
  readonly backendBodyBytes?: number | undefined
  /** How long bodies may take, and how many may be unfinished at once, per address and in all. */
  readonly bodies?: BodyLimits | undefined
}

export interface TicketApiOptions {
  /**
   * Says who calls; undefined for nobody known. `bearerToken` of `@muster/core/http` finds the token as existing clients send it.
   */
  readonly authenticate: Authenticate<TicketCaller>
  /**
   * Finds what you know of players besides what `authenticate` gives: their skill, the roles they may play. Asked for many players
   * at once, with answers kept for a minute; give `ProfileOptions` to change that, or what is done when it fails.
   */
  readonly profile?: ProfileResolver | ProfileOptions | undefined
  /** What stands before every path, e.g. `/matchmaking`. Default nothing. */
  readonly basePath?: string | undefined
  /**
   * Finds the client's address: `clientAddress({ trustedProxies })` of `@muster/core/http` behind a proxy. Default: the socket's
   * other end.
   */
  readonly address?: AddressOf | undefined
  /** Gives the beacons: `() => client.locations.beacons.all()`. Without it, latencies are believed as they are reported. */
  readonly beacons?: BeaconSource | undefined
  /** Where an address is, as for the matchmaker: to estimate latencies that are missing, and to find those that cannot be. */
  readonly locate?: Locate | undefined
  /** Whether backends may read /inspect. Default false. */
  readonly inspect?: boolean | undefined
  readonly limits?: TicketApiLimits | undefined
  /** Milliseconds for which a group is kept that nobody asks for. Default 300,000. */
  readonly groupIdleMs?: number | undefined
  /** Tokens with which browsers may follow a ticket, without a header: how long they are good, and who else knows them. */
  readonly streamTokens?: StreamTokenOptions | undefined
  /** Lets pages of these origins call. Default none. */
  readonly cors?: CorsOptions | undefined
  /** Told of errors that nobody expected. Default: a process warning. */
  readonly onError?: ((error: unknown) => void) | undefined
  readonly clock?: Clock | undefined
  /** Makes the ids of groups and their members. Default: cannot be foreseen. */
  readonly random?: Random | undefined
}
