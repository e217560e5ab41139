import type { Activity, ReturnReason, ServerFailure, StopReason } from './records/reasons.js'
import type { Assignment } from './records/assignment.js'
import type { Allocation } from './records/allocation.js'

/** Called with the outcomes of allocations. */
export interface AllocatorListener {
  created(allocation: Allocation, requestId: string): void
  /** The server became READY at most `unseenMs` ago; whether it listens is checked next. */
  up(allocation: Allocation, requestId: string, unseenMs: number): void
  /** The server listens: players may connect. */
  ready(allocation: Allocation, requestId: string, assignment: Assignment): void
  /**
   * Its tickets lose the match. @param counts whether that is an attempt that failed: for all of its tickets, or for
   * those of
   *   these ids.
   */
  failed(allocation: Allocation, reason: ReturnReason, counts: boolean | readonly string[]): void
  /** The server failed; what becomes of its match is told next. @param detail in the service's words. */
  faulty(allocation: Allocation, requestId: string, reason: ServerFailure, detail: string | undefined): void
  stopped(allocation: Allocation, requestId: string, reason: StopReason): void
  /** A deployment with the tag of this matchmaker that belonged to no match was stopped. */
  reaped(requestId: string): void
  problem(during: Activity, error: unknown, allocation?: Allocation, requestId?: string): void
}
