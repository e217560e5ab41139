import type { DeploymentHint } from '@muster/core'
import type { DeploymentListEntry } from '@muster/core/api'
import type { Clock, Random } from '@muster/core/clock'
import type { Listening } from './probe/listening.js'
import type { ReturnReason } from './records/reasons.js'
import type { Sighting } from './watching/sightings.js'
import type { Watcher } from './watching/watcher.js'
import type { DeploymentService } from './records/deployment-service.js'
import type { AllocatorListener } from './listener.js'
import type { Allocation } from './records/allocation.js'
import type { Allocations } from './allocations.js'
import type { Notes } from './journal/notes.js'

/*
 * The phases of an allocation (`AllocationPhase`):
 *
 *   creating ── answered ──▶ starting ── READY ──▶ warming ── listens ──▶ running
 *    │  │  ▲                 ▲
 *    │  │  └─ another place ─┼─ retrying: no capacity; what was created in spite of it is stopped first
 *    │  │                    │     ▲
 *    │  └─ no capacity ──────┼─────┘
 *    └─ answer lost ──▶ finding ── found by its tag
 *                            └── not found ──▶ gone
 *
 *   starting, warming, running ── failed, too slow, or not wanted any more ──▶ stopping ── confirmed ──▶ gone
 */

/** The life of an allocation after its create was sent: until its server runs, ends, or another attempt begins. */
export interface ServerLifecycle {
  /** The tickets leave the allocation; called once. @param detail what the service says of the server's failure. */
  fail(allocation: Allocation, reason: ReturnReason, counts: boolean | readonly string[], detail?: string): void
  /** Nothing of the allocation is left. */
  end(allocation: Allocation): void
  /** The deployment exists, under this id: it was just created or found. */
  exists(allocation: Allocation, requestId: string): void
  /** The deployment exists, under this id, and an earlier process wrote so in the journal. */
  adopt(allocation: Allocation, requestId: string): void
  /**
   * Its deployment may exist, under an id that is not known.
   * @param lostAt epoch milliseconds; undefined: now.
   */
  lose(allocation: Allocation, lostAt?: number): void
  /** The deployment is of no use, and must be gone before another attempt. */
  retry(allocation: Allocation, requestId: string): void
  stop(allocation: Allocation, requestId: string): void
  /** Records that the deployment is of no use any more, wherever it is: no process goes on with it. */
  drop(allocation: Allocation): void
  /** Called with what the watcher finds out. */
  sighted(sighting: Sighting): void
  /** The server listens, so that players may connect; or the probe failed. */
  listened(allocation: Allocation, listens: boolean): void
  /** Takes a listed deployment that is not followed. */
  listed(entry: DeploymentListEntry): void
  /** Something may have happened to the deployment of this match. @param hint what its webhook says, if anything. */
  hinted(allocation: Allocation, hint: DeploymentHint | undefined): void
  /** Does the work that is due: stops, searches for lost deployments, time limits. */
  advance(now: number): void
  giveUpSooner(): void
  /** Ends all searches for lost deployments. */
  close(): void
  stopsPending(): number
  /** A complete list has shown all there is, since then: epoch milliseconds. */
  swept(begunAt: number): void
  /** Number of deployments with our tag that belong to no match. */
  strays(): number
}

export interface ServerLifecycleOptions {
  readonly service: DeploymentService
  readonly allocations: Allocations
  readonly notes: Notes
  /** See `Journal`. */
  readonly resumes: boolean
  readonly watcher: Pick<Watcher, 'follow' | 'settle' | 'forget' | 'hint'>
  readonly listening: Pick<Listening, 'begin' | 'forget'>
  readonly clock: Clock
  readonly random: Random
  /** The tag of all deployments of this matchmaker. */
  readonly ownTag: string
  /** Milliseconds for which the service may not show or know yet what it has created. */
  readonly listLagMs: number
  readonly reapAfterMs: number
  /** The deployment of its last attempt is gone: another attempt may begin. */
  readonly again: (allocation: Allocation) => void
  readonly on: AllocatorListener
}
