/** The messages between the benchmark and the process that attacks the program. */

/**
 * The kinds of attack:
 * - `capacity`: creates of many players, on few connections, as fast as they are answered.
 * - `bodies`: one caller sends bodies that are huge, wrong or costly to read.
 * - `crowd`: creates of many players, each on an own connection, more than can be answered.
 * - `pipelined`: hundreds of creates at once on each connection, without reading the responses.
 */
export type AttackKind = 'capacity' | 'bodies' | 'crowd' | 'pipelined'

export interface Attack {
  readonly kind: AttackKind
  readonly port: number
  readonly seconds: number
  /** Requests per second of the crowd. */
  readonly perSecond?: number | undefined
}

export interface Attacked {
  readonly sent: number
  readonly seconds: number
  /** Number of responses by status. 0: the connection was ended instead. */
  readonly answers: Readonly<Record<number, number>>
}
