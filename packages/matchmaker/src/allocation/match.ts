import type { StopReason } from '../events.js'
import type { Player } from '../tickets/ticket.js'
import type { Assignment } from './assignment.js'
import type { Intent } from './journal.js'

/** Tickets that were put together, for which a server is wanted. */
export interface FoundMatch {
  readonly id: string
  readonly tickets: readonly { readonly id: string; readonly createdAt: number; readonly players: readonly Player[] }[]
  /** Epoch milliseconds. */
  readonly foundAt: number
}

/**
 * Where the allocation of a match stands:
 * - `creating`: the create is being sent, and its answer awaited;
 * - `finding`: the answer was lost, and the deployment, if there is one, is looked for by its tag;
 * - `starting`: it exists, and is not READY yet;
 * - `running`: players were sent to it;
 * - `stopping`: it is to be stopped, until the service confirms it.
 */
export type MatchPhase = 'creating' | 'finding' | 'starting' | 'running' | 'stopping'

/** A match as the allocator keeps it: from the intent until no server of it is left. Only the allocator changes it. */
export interface Match extends Intent {
  /** Milliseconds from `knownAt` within which it must be READY. */
  readonly readyTimeoutMs: number
  phase: MatchPhase
  requestId: string | undefined
  /** Epoch milliseconds since when the `requestId` is known. */
  knownAt: number
  assignment: Assignment | undefined
  /** Why it is not wanted any more; its tickets have left it then. */
  unwanted: StopReason | undefined
  /** Other deployments with its tag, which are stopped. */
  readonly twins: Set<string>
  /** Called when nothing of it is left, or with an error when that will not be known. */
  readonly ended: ((error?: Error) => void)[]
}

export const newMatch = (intent: Intent, readyTimeoutMs: number): Match => ({
  ...intent,
  readyTimeoutMs,
  phase: 'creating',
  requestId: undefined,
  knownAt: intent.at,
  assignment: undefined,
  unwanted: undefined,
  twins: new Set(),
  ended: [],
})

/** A match as others may see it. */
export interface MatchView extends Intent {
  readonly phase: MatchPhase
  readonly requestId: string | undefined
  readonly assignment: Assignment | undefined
}

export const viewOf = ({ matchId, queue, tag, ticketIds, at, phase, requestId, assignment }: Match): MatchView => ({
  matchId,
  queue,
  tag,
  ticketIds,
  at,
  phase,
  requestId,
  assignment,
})
