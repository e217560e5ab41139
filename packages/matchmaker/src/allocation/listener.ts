import type { Activity, StopReason } from '../events.js'
import type { ReturnReason } from '../tickets/ticket.js'
import type { Assignment } from './assignment.js'
import type { Match } from './match.js'

/** What becomes of matches. */
export interface AllocatorListener {
  created(match: Match, requestId: string): void
  /** The server is READY, since `unseenMs` at most; whether it listens is found out next. */
  up(match: Match, requestId: string, unseenMs: number): void
  /** Players may come. */
  ready(match: Match, requestId: string, assignment: Assignment): void
  /** Its tickets lose the match. @param counts whether it was the deployment's fault. */
  failed(match: Match, reason: ReturnReason, counts: boolean): void
  stopped(match: Match, requestId: string, reason: StopReason): void
  /** A deployment with the tag of this matchmaker that belonged to no match was stopped. */
  reaped(requestId: string): void
  problem(during: Activity, error: unknown, match?: Match, requestId?: string): void
}
