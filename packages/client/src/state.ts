/**
 * Whether a player is idle, in a group, searching or in a match. A frozen value. It is the same object until something
 * changes.
 */
export type State = {
  /** Time of the last contact, in epoch milliseconds by the device's clock. Set only while the connection is lost. */
  readonly stale?: number
} & (
  | { readonly phase: 'idle' }
  | { readonly phase: 'gathering'; readonly group: GroupState }
  | { readonly phase: 'searching'; readonly ticket: TicketState; readonly wait: Wait | null }
  | { readonly phase: 'found'; readonly ticket: TicketState; readonly acceptance: Acceptance | null }
  | { readonly phase: 'assigned'; readonly matchId: string | null; readonly assignment: Assignment }
  /**
   * Why the search ended: `cancelled`, `expired`, `declined`, `absent`, …. `gone`: Muster does not know the ticket any
   * more.
   */
  | { readonly phase: 'ended'; readonly reason: string }
)

export interface TicketState {
  readonly id: string
  readonly queue: string
  readonly groupId: string | null
}

/** Estimated remaining wait of similar tickets, in seconds from now. */
export interface Wait {
  /** The median. */
  readonly p50Seconds: number
  /** The 90th percentile. Null without enough data. */
  readonly p90Seconds: number | null
}

/** The match that waits for the player to accept or decline. */
export interface Acceptance {
  readonly accepted: boolean
  /** The time until which the player can answer, as ISO 8601 by Muster's clock. */
  readonly until: string
}

export interface GroupState {
  /** The id with which others join, e.g. in a link. */
  readonly id: string
  readonly isReady: boolean
  /** The first member is the owner. */
  readonly members: readonly { readonly playerId: string; readonly isReady: boolean }[]
  /**
   * Ids of the members who are not ready. The search has not begun while there are any. Empty until the members are
   * known.
   */
  readonly waitingFor: readonly string[]
}

/** The assigned server and its address. */
export interface Assignment {
  readonly fqdn: string
  readonly ports: Readonly<
    Record<
      string,
      {
        readonly internal: number | null
        readonly external: number | null
        readonly link: string | null
        readonly protocol: string | null
      }
    >
  >
  /** The first message that the game sends to its server. It identifies the player. `resume` returns a new token. */
  readonly joinToken: string | null
  readonly city: string | null
}

/** The queue that the player wants, and the values that its rules compare. */
export interface PlayRequest {
  /** Name of the queue. */
  readonly profile: string
  /** Further queues in which the player waits at the same time. */
  readonly profiles?: readonly string[]
  readonly attributes?: Readonly<Record<string, unknown>>
  readonly roles?: readonly string[]
}
