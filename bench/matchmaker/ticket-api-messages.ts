/** What the processes of the ticket API's benchmark tell each other. */

/** What the server has used and holds so far. */
export interface ServerState {
  readonly port: number
  /** Microseconds of CPU, of its own code and of the kernel for it. */
  readonly cpuMicroseconds: number
  /** Bytes of memory, all of it. */
  readonly residentBytes: number
}

/** What the ticket API's own server knows besides. */
export interface TicketServerState extends ServerState {
  /** Long polls and streams that are open. */
  readonly waiting: number
  readonly tickets: number
}

/** Who the players say they are: a name that is believed, or a token that is checked. */
export type Credentials = 'names' | 'tokens'

/** What a load process is to do. */
export type Load =
  | {
      readonly kind: 'create'
      readonly port: number
      readonly credentials: Credentials
      /** Number of the first player. */
      readonly from: number
      readonly tickets: number
      readonly perRequest: number
      readonly connections: number
    }
  | {
      readonly kind: 'wait'
      readonly port: number
      readonly credentials: Credentials
      readonly way: 'events' | 'poll'
      readonly from: number
      readonly waiters: number
    }
