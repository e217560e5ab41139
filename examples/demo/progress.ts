import type { LimitUse } from '@muster/matchmaker'

/** The state of the demo while it runs. */
export interface Progress {
  readonly queues: readonly QueueProgress[]
  readonly matches: number
  readonly serversReady: number
  readonly requests: number
  readonly limits: readonly LimitUse[]
  /** The ticket that has waited longest, and why it still waits. */
  readonly longest: { readonly queue: string; readonly waitedMs: number; readonly why: string } | undefined
  readonly phase: 'matching' | 'stopping' | 'done'
}

/** The state of a queue, in numbers of players. */
export interface QueueProgress {
  readonly title: string
  readonly players: number
  readonly arrived: number
  readonly waiting: number
  readonly deploying: number
  readonly playing: number
}
