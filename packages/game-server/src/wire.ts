/** What Muster and a game server say to each other: docs/servers.md, and docs/ticket-api.openapi.json. */

/** A player of a match, as the orders name them. */
export interface WirePlayer {
  readonly id: string
  readonly ticket_id: string
  /** Of their token; a token of another seat is void. Undefined where Muster does not say it. */
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

/** A session that players had started: the server is to list itself so. */
export interface WireHost {
  readonly session: string
  readonly name: string
  readonly password?: string | undefined
  readonly owner?: string | undefined
  readonly attributes: Readonly<Record<string, string | number | boolean>>
}

/** What the server is to do, as a level. */
export interface Orders {
  readonly version: number
  readonly want: 'run' | 'drain' | 'stop'
  readonly reason?: string | undefined
  readonly matches: readonly WireMatch[]
  readonly listing?: WireListing | undefined
  readonly host?: WireHost | undefined
  /** How the datagram begins by which Muster knocks; undefined: by none. */
  readonly knock?: string | null | undefined
}

/** The answer to `POST /servers`. */
export interface Registered extends Orders {
  readonly id: string
  readonly alg: 'HS256' | 'EdDSA'
  /** base64url. */
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
    { readonly ranking?: readonly (readonly string[])[] | undefined; readonly data?: unknown } | undefined
}

/** The body of `PUT /servers/me`, without `instance` and `seq`. */
export interface State {
  readonly healthy: boolean
  readonly draining: boolean
  readonly matches: readonly MatchReport[]
  readonly attributes?: Readonly<Record<string, string | number | boolean>> | undefined
  readonly listing?: object | undefined
  readonly knock?: string | undefined
}
