import type { Activity, StopReason } from '../events.js'
import type { ReturnReason } from '../tickets/ticket.js'
import type { Assignment } from './assignment.js'
import type { Match } from './match.js'

/** What becomes of matches. */
export interface AllocatorListener {
  created(match: Match, requestId: string): void
  ready(match: Match, requestId: string, assignment: Assignment): void
  /** Its tickets lose the match. @param counts whether it was the deployment's fault. */
  failed(match: Match, reason: ReturnReason, counts: boolean): void
  stopped(match: Match, requestId: string, reason: StopReason): void
  problem(during: Activity, error: unknown, match?: Match, requestId?: string): void
}
