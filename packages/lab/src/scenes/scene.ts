// pure: a scene that was checked
import type { CancelReason, Player, Queue, TicketInput } from '@muster/matchmaker'

/** Tickets, what happens to them, and what must come of it. All times are milliseconds from the scene's start. */
export interface Scene {
  readonly name: string
  /** Where it stands in its file. */
  readonly path: readonly string[]
  /** The queues that its tickets name. */
  readonly queues: readonly Queue[]
  /** In the order in which they come. */
  readonly tickets: readonly SceneTicket[]
  readonly happenings: readonly Happening[]
  /** In the order of the file; at least one. */
  readonly expectations: readonly Expectation[]
  /** The time of its last expectation. */
  readonly endsAt: number
}

export interface SceneTicket {
  readonly id: string
  readonly path: readonly string[]
  readonly at: number
  readonly queues: readonly string[]
  readonly players: readonly Player[]
  readonly priority: NonNullable<TicketInput['priority']>
  /** What its players do when they are asked whether they accept a match. */
  readonly answer: 'accept' | 'decline' | 'none'
}

export interface Happening {
  readonly at: number
  readonly path: readonly string[]
  readonly what: 'cancel' | 'accept' | 'decline' | 'leave' | 'pause' | 'resume'
  /** Ids of tickets; of `pause` and `resume`, names of queues. */
  readonly names: readonly string[]
}

/** One thing that must be so at a time, or at some time until then. */
export type Expectation = Expected & {
  readonly when: 'after' | 'by'
  readonly at: number
  readonly path: readonly string[]
  /** As its author wrote it, e.g. `after 12s: matched: [a, b]`. */
  readonly text: string
}

/** Reasons of waiting that are no rules. */
export const WAITS_FOR_PLAYERS = 'players'
export const WAITS_FOR_QUEUE = 'paused'

type Tickets = readonly string[]

export type Expected =
  /** All of them are in matches. */
  | { readonly kind: 'matched' | 'unmatched'; readonly tickets: Tickets }
  /** One match is exactly of them; or they are in one match; or no two of them are. */
  | { readonly kind: 'exactly' | 'together' | 'apart'; readonly tickets: Tickets }
  | { readonly kind: 'waiting' | 'refused'; readonly tickets: Tickets; readonly why?: string | undefined }
  | { readonly kind: 'ended'; readonly tickets: Tickets; readonly reason: CancelReason }
  | { readonly kind: 'teams'; readonly teams: readonly ExpectedTeam[] }
  | { readonly kind: 'matches'; readonly min: number; readonly max: number }
  | { readonly kind: 'within'; readonly tickets: Tickets; readonly ms: number }
  | { readonly kind: 'balance' | 'spread'; readonly attribute: string; readonly most: number }

export interface ExpectedTeam {
  /** Undefined for a team of any name. */
  readonly name?: string | undefined
  readonly tickets: Tickets
}
