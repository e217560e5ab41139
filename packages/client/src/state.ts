/** What a player is in. One frozen value: the same object until something changes. */
export type State = {
  /** Epoch milliseconds, by the device's clock, since when nothing was heard; the connection is being made again. */
  readonly stale?: number
} & (
  | { readonly phase: 'idle' }
  | { readonly phase: 'gathering'; readonly group: GroupState }
  | { readonly phase: 'searching'; readonly ticket: TicketState; readonly wait: Wait | null }
  | { readonly phase: 'found'; readonly ticket: TicketState; readonly acceptance: Acceptance | null }
  | { readonly phase: 'assigned'; readonly matchId: string | null; readonly assignment: Assignment }
  /** Why it ended: `cancelled`, `expired`, `declined`, `absent`, …; `gone`: Muster knows nothing of it. */
  | { readonly phase: 'ended'; readonly reason: string }
)

export interface TicketState {
  readonly id: string
  readonly queue: string
  readonly groupId: string | null
}

/** How much longer such tickets wait, in seconds from now. */
export interface Wait {
  /** Half of them wait no longer. */
  readonly p50Seconds: number
  /** Nine of ten wait no longer; null where too little is known. */
  readonly p90Seconds: number | null
}

/** The player is asked whether they accept the match. */
export interface Acceptance {
  readonly accepted: boolean
  /** ISO 8601, by Muster's clock. */
  readonly until: string
}

export interface GroupState {
  /** Others join by it, for example by a link. */
  readonly id: string
  readonly isReady: boolean
  /** The first is the owner. */
  readonly members: readonly { readonly playerId: string; readonly isReady: boolean }[]
  /** Ids of members who are not ready: why no match is searched yet. Empty until the members are known. */
  readonly waitingFor: readonly string[]
}

/** Where to connect. */
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
  /** Sent to the game server first of all: it says who the player is. `resume` gives a fresh one. */
  readonly joinToken: string | null
  readonly city: string | null
}

/** What is asked for: a queue, and what its rules compare. */
export interface PlayRequest {
  /** Name of the queue. */
  readonly profile: string
  /** Further queues in which the player waits as well. */
  readonly profiles?: readonly string[]
  readonly attributes?: Readonly<Record<string, unknown>>
  readonly roles?: readonly string[]
}
