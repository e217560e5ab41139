import type { CallOptions, Coordinates } from '@muster/core'

/** A server that an allocator should start. */
export interface WantedServer {
  /** Id of the server: up to 40 of a–z, 0–9 and -. An idempotency key: repeated calls with one id start one server. */
  readonly id: string
  readonly application: string
  readonly version: string
  /** The requested locations in degrees, the best one first. Empty if none is known. */
  readonly places: readonly Coordinates[]
  /** Environment variables for the server's process. They include its secret token, so they must not be logged. */
  readonly environment: Readonly<Record<string, string>>
}

/** The state of a server, as an allocator reports it. */
export interface AllocatedServer {
  readonly id: string
  /**
   * The status of the server:
   * - `starting`: the server exists, or will exist without another call;
   * - `ready`: players may connect at `host` and `ports`;
   * - `failed`, `ended`: the server has ended, with an error or without;
   * - `unknown`: there is no server with this id;
   * - `unclear`: the status is not known now. Muster polls again.
   */
  readonly status: 'starting' | 'ready' | 'failed' | 'ended' | 'unknown' | 'unclear'
  /** Host name or IP address for players. Required if the status is `ready`. */
  readonly host?: string | undefined
  /** Ports for players, by name. */
  readonly ports?: Readonly<Record<string, AllocatedPort>> | undefined
  /** Location of the server in degrees, if known. */
  readonly location?: Coordinates | undefined
  /** Why the server failed or its status is unclear, for operators. */
  readonly detail?: string | undefined
}

interface AllocatedPort {
  /** The port for players, 1 to 65535. */
  readonly port: number
  /** The port inside the process, if it differs from `port`. */
  readonly internal?: number | undefined
  /** The protocol of the port. Default `UDP`. */
  readonly protocol?: string | undefined
}

/**
 * Starts and stops servers for Muster. Implement it for your hoster or your own machines. Muster may repeat each call
 * after a timeout or a restart. Reject with the errors of `@muster/core`: `NoCapacity`, `InvalidInput` if repeating
 * the call cannot help, and `RateLimited` and others if it can.
 */
export interface ServerAllocator {
  /** URL of the allocator. Processes of a partition report a problem if theirs differ. */
  readonly url?: string | undefined
  /** Milliseconds for which `poll` may not show the effect of an `allocate`. Default: `listLagMs`, 5000. */
  readonly lagMs?: number | undefined
  /** Starts a server. Resolves once it is certain that the server will exist. It need not run yet. */
  allocate(wanted: WantedServer, options: CallOptions): Promise<void>
  /**
   * Returns the states of servers, at most 100 per call. A server that is missing in the result counts as `unknown`,
   * and one with a malformed entry or with contradicting entries as `unclear`.
   */
  poll(ids: readonly string[], options: CallOptions): Promise<readonly AllocatedServer[]>
  /**
   * Stops a server. Resolves once that is certain, even for an unknown id. From then on, `allocate` must reject this
   * id, because nobody would find the server that it starts.
   */
  stop(id: string, options: CallOptions): Promise<void>
  /** Returns the last output of a server, for operators. Optional: without it, no output is shown. */
  logs?(id: string, options: CallOptions): Promise<string>
}
