/** The orders to a process of the measurement. Each is answered with one message. */
export type Order =
  /** Listens for the ids of tickets to wait for. The answer is `listening`. */
  | { readonly kind: 'listen' }
  /**
   * Creates tickets at a rate, and sends their ids to the process at `port`, which waits for them. The answer is
   * `over`.
   */
  | {
      readonly kind: 'create'
      readonly prefix: string
      readonly rate: number
      readonly seconds: number
      readonly port: number
    }
  /** Creates tickets and waits until they are assigned, `atOnce` at a time. The answer is `over`. */
  | { readonly kind: 'work'; readonly prefix: string; readonly total: number; readonly atOnce: number }
  /** Creates tickets that match no other. The answer is `over`. */
  | { readonly kind: 'stand'; readonly total: number }
  /** Requests a report. The answer is `used`. */
  | { readonly kind: 'report'; readonly collectsGarbage: boolean }

export type Answer =
  | { readonly kind: 'started' }
  | { readonly kind: 'listening'; readonly port: number }
  | { readonly kind: 'over' }
  | Used

/** What a process has used and measured since the previous report. */
export interface Used {
  readonly kind: 'used'
  readonly cpuUs: number
  readonly heapBytes: number
  /** Milliseconds from `createTicket` until this process knew the server's address. */
  readonly assignedMs: readonly number[]
}

/** A message that a process sends without an order. */
export interface Led {
  readonly kind: 'led'
  /** Milliseconds from winning the lease to leading. */
  readonly takeoverMs: number
  readonly tickets: number
}
