import type { LimitUse } from '@muster/matchmaker'

/** Where things stand. */
export interface Progress {
  readonly queues: readonly QueueProgress[]
  readonly matches: number
  readonly serversReady: number
  readonly requests: number
  readonly limits: readonly LimitUse[]
  /** Why the ticket that has waited longest still does. */
  readonly longest: { readonly queue: string; readonly waitedMs: number; readonly why: string } | undefined
  readonly phase: 'matching' | 'stopping' | 'done'
}

/** In players. */
export interface QueueProgress {
  readonly title: string
  readonly players: number
  readonly arrived: number
  readonly waiting: number
  readonly deploying: number
  readonly playing: number
}
