/** The messages between Muster and a game server: see docs/servers.md and docs/ticket-api.openapi.json. */

/** A player of a match in the orders. */
export interface WirePlayer {
  readonly id: string
  readonly ticket_id: string
  /** The player's seat. Tokens of any other seat are invalid. Undefined if Muster does not send it. */
  readonly seat_id?: string | null | undefined
  readonly attributes?: Readonly<Record<string, unknown>> | undefined
}

export interface WireMatch {
  readonly id: string
  readonly profile: string
  readonly teams: readonly { readonly name: string; readonly players: readonly WirePlayer[] }[]
  readonly equality?: Readonly<Record<string, unknown>> | undefined
  readonly intersection?: Readonly<Record<string, readonly string[]>> | undefined
}

/** The seats of a listed server. */
export interface WireListing {
  readonly session: string
  readonly seats: readonly {
    readonly seat_id: string
    readonly player_id: string
    readonly team_id: string | null
    readonly group_id: string | null
  }[]
}

/** A requested session. The server should list itself with these values. */
export interface WireHost {
  readonly session: string
  readonly name: string
  readonly password?: string | undefined
  readonly owner?: string | undefined
  readonly attributes: Readonly<Record<string, string | number | boolean>>
}

/** What Muster orders: the target state of the server, and its matches. */
export interface Orders {
  readonly version: number
  readonly want: 'run' | 'drain' | 'stop'
  readonly reason?: string | undefined
  readonly matches: readonly WireMatch[]
  readonly listing?: WireListing | undefined
  readonly host?: WireHost | undefined
  /** The beginning of the datagram with which Muster tests the game's socket. Undefined: no test. */
  readonly knock?: string | null | undefined
}

/** The response to `POST /servers`. */
export interface Registered extends Orders {
  readonly id: string
  readonly alg: 'HS256' | 'EdDSA'
  /** The key that verifies join tokens, as base64url. */
  readonly key: string
  readonly retire_at: string | null
}

export type PlayerStatus = 'in' | 'away' | 'left'

export interface MatchReport {
  readonly id: string
  readonly status: 'loading' | 'open' | 'over' | 'refused'
  readonly players: Readonly<Record<string, PlayerStatus>>
  readonly seats?: { readonly open: boolean; readonly teams?: Readonly<Record<string, number>> | undefined } | undefined
  readonly result?:
    | { readonly ranking?: readonly (readonly string[])[] | undefined; readonly data?: unknown }
    | undefined
}

/** The body of `PUT /servers/me`, without `instance` and `seq`. */
export interface ServerStateBody {
  readonly healthy: boolean
  readonly draining: boolean
  readonly matches: readonly MatchReport[]
  readonly attributes?: Readonly<Record<string, string | number | boolean>> | undefined
  readonly listing?: object | undefined
  readonly knock?: string | undefined
}
