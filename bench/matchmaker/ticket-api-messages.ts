/** The messages between the processes of the ticket API's benchmark. */

/** What the server has used so far, and its memory. */
export interface ServerState {
  readonly port: number
  /** Microseconds of CPU time, in the server's own code and in the kernel. */
  readonly cpuMicroseconds: number
  /** Resident memory in bytes. */
  readonly residentBytes: number
}

/** What the ticket API's own server reports in addition. */
export interface TicketServerState extends ServerState {
  /** Number of open long polls and streams. */
  readonly waiting: number
  readonly tickets: number
}

/** How players identify themselves: by a name that is trusted, or by a token that is verified. */
export type Credentials = 'names' | 'tokens'

/** An order to a load process. */
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
