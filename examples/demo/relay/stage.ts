import type { Clock } from '@muster/core/clock'
import type { Lobbies } from '@muster/relay'
import type { Board } from './board.js'
import type { Latencies } from './latencies.js'
import type { Member } from './member.js'
import type { Pump } from './pump.js'
import type { Tally } from './tally.js'

/** What all lobbies of the demo share. */
export interface Stage {
  readonly clock: Clock
  readonly lobbies: Lobbies
  readonly board: Board
  readonly pump: Pump
  /** One way, from a client through the relay to its host. */
  readonly latencies: Latencies
  readonly tally: Tally
  /** Who plays now, by id. */
  readonly members: Map<string, Member>
}
