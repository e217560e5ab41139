/** The orders to a process of the measurement. Each order is answered by one message. */
export type Order =
  /** Listens for tickets to wait for; answered with `listening`. */
  | { readonly kind: 'listen' }
  /** Creates tickets at a rate, and tells the process at `port` to wait for them; answered with `over`. */
  | {
      readonly kind: 'create'
      readonly prefix: string
      readonly rate: number
      readonly seconds: number
      readonly port: number
    }
  /** Creates tickets and waits until they are assigned, this many at once; answered with `over`. */
  | { readonly kind: 'work'; readonly prefix: string; readonly total: number; readonly atOnce: number }
  /** Creates tickets that nobody suits; answered with `over`. */
  | { readonly kind: 'stand'; readonly total: number }
  /** Answered with `used`. */
  | { readonly kind: 'report'; readonly collectsGarbage: boolean }

export type Answer =
  | { readonly kind: 'started' }
  | { readonly kind: 'listening'; readonly port: number }
  | { readonly kind: 'over' }
  | Used

/** What a process has used and seen since the report before. */
export interface Used {
  readonly kind: 'used'
  readonly cpuUs: number
  readonly heapBytes: number
  /** Milliseconds from `createTicket` until this process knew where the players connect. */
  readonly assignedMs: readonly number[]
}

/** What a process tells unasked. */
export interface Led {
  readonly kind: 'led'
  /** Milliseconds from when it had won the lease. */
  readonly takeoverMs: number
  readonly tickets: number
}
