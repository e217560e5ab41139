import type { CallOptions, Coordinates } from '@muster/core'

/** A server that an allocator is asked for. */
export interface WantedServer {
  /** Id of the server, up to 40 of a–z, 0–9 and -. It is the key of idempotence: two calls with it mean one server. */
  readonly id: string
  readonly application: string
  readonly version: string
  /** Where it is wanted, in degrees, the best place first; empty if that is not known. */
  readonly places: readonly Coordinates[]
  /** Variables that the process has to be started with. They hold the server's secret token: not for logs. */
  readonly environment: Readonly<Record<string, string>>
}

/** What an allocator says of a server. */
export interface AllocatedServer {
  readonly id: string
  /**
   * - `starting`: it exists or will, without a word from us;
   * - `ready`: players may connect at `host` and `ports`;
   * - `failed`, `ended`: it is over, with an error or without;
   * - `unknown`: there is none;
   * - `unclear`: that cannot be said now. Nothing follows from it, and it is asked about again.
   */
  readonly status: 'starting' | 'ready' | 'failed' | 'ended' | 'unknown' | 'unclear'
  /** Name or address at which players connect. Needed once it is `ready`. */
  readonly host?: string | undefined
  /** Ports at which players connect, by name. */
  readonly ports?: Readonly<Record<string, AllocatedPort>> | undefined
  /** Where it runs, in degrees, if that is known. */
  readonly location?: Coordinates | undefined
  /** Why it failed, or is unclear, for operators. */
  readonly detail?: string | undefined
}

interface AllocatedPort {
  /** 1 to 65535. */
  readonly port: number
  /** Of the process, where it differs from `port`. */
  readonly internal?: number | undefined
  /** Default `UDP`. */
  readonly protocol?: string | undefined
}

/**
 * Whatever starts servers for Muster: a hoster, a fleet, a program of yours. Three calls, each of which may come twice,
 * after a time-out or a restart. It rejects with the errors of `@muster/core`: `NoCapacity`, `InvalidInput` where
 * repeating would not help, `RateLimited` and others where it would.
 */
export interface ServerAllocator {
  /** Milliseconds for which a `poll` may not show what an `allocate` has done. Default: `listLagMs`, 5000. */
  readonly lagMs?: number | undefined
  /** Sees to it that there will be this server. Resolves once that is certain, and need not wait until it runs. */
  allocate(wanted: WantedServer, options: CallOptions): Promise<void>
  /**
   * Says how servers are, up to 100 at a time. One that the answer leaves out counts as `unknown`. An entry of another
   * shape counts as `unclear`.
   */
  poll(ids: readonly string[], options: CallOptions): Promise<readonly AllocatedServer[]>
  /**
   * Stops a server. Resolves once that is certain, also for an id that it does not know. From then on an `allocate` of
   * that id is refused: without a list of all servers, nobody would find what it makes.
   */
  stop(id: string, options: CallOptions): Promise<void>
  /** What a server wrote last, for operators. Without it, the output of servers that failed is not shown. */
  logs?(id: string, options: CallOptions): Promise<string>
}
