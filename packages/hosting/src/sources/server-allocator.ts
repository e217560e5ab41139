import type { CallOptions, Coordinates } from '@muster/core'

/** A server requested from an allocator. */
export interface WantedServer {
  /**
   * Id of the server, up to 40 of a–z, 0–9 and -. It is an idempotency key: two calls with the same id mean one server.
   */
  readonly id: string
  readonly application: string
  readonly version: string
  /** The requested locations in degrees, the best one first. Empty if unknown. */
  readonly places: readonly Coordinates[]
  /** Environment variables for the process. They contain the server's secret token: not for logs. */
  readonly environment: Readonly<Record<string, string>>
}

/** The state of a server, as reported by an allocator. */
export interface AllocatedServer {
  readonly id: string
  /**
   * The status:
   * - `starting`: it exists, or will without another call;
   * - `ready`: players may connect at `host` and `ports`;
   * - `failed`, `ended`: it is over, with an error or without;
   * - `unknown`: there is no such server;
   * - `unclear`: the status is not known now. Muster does nothing and polls again.
   */
  readonly status: 'starting' | 'ready' | 'failed' | 'ended' | 'unknown' | 'unclear'
  /** Host name or address for players. Required once it is `ready`. */
  readonly host?: string | undefined
  /** Ports for players, by name. */
  readonly ports?: Readonly<Record<string, AllocatedPort>> | undefined
  /** Location of the server in degrees, if known. */
  readonly location?: Coordinates | undefined
  /** Why the server failed or its status is unclear, for operators. */
  readonly detail?: string | undefined
}

interface AllocatedPort {
  /** 1 to 65535. */
  readonly port: number
  /** The port inside the process, if it differs from `port`. */
  readonly internal?: number | undefined
  /** Default `UDP`. */
  readonly protocol?: string | undefined
}

/**
 * Starts and stops servers for Muster; implement it for your hoster or fleet. Muster may repeat each call after a
 * timeout or restart. Reject with the errors of `@muster/core`: `NoCapacity`, `InvalidInput` if a retry would not help,
 * `RateLimited` and others if it would.
 */
export interface ServerAllocator {
  /** Milliseconds for which a `poll` may not show the effect of an `allocate`. Default: `listLagMs`, 5000. */
  readonly lagMs?: number | undefined
  /** Ensures that this server will exist. Resolves once that is certain. It need not wait until the server runs. */
  allocate(wanted: WantedServer, options: CallOptions): Promise<void>
  /**
   * Returns the states of servers, up to 100 per call. A missing server counts as `unknown`, a malformed entry as
   * `unclear`.
   */
  poll(ids: readonly string[], options: CallOptions): Promise<readonly AllocatedServer[]>
  /**
   * Stops a server. Resolves once that is certain, even for an unknown id. From then on, `allocate` must reject this
   * id: without a list of all servers, nobody would find a server that it creates.
   */
  stop(id: string, options: CallOptions): Promise<void>
  /** The last output of a server, for operators. Without it, the output of failed servers is not shown. */
  logs?(id: string, options: CallOptions): Promise<string>
}
