import type { Clock } from '@muster/core/clock'
import type { Lobbies } from '@muster/relay'
import type { Board } from './board.js'
import type { Latencies } from './latencies.js'
import type { Pump } from './pump.js'
import type { Tally } from './tally.js'

/** A player in a lobby, who follows its events and plays as they say. */
export interface Member {
  /** Whether the player's packets go through the session of this term; of any term, if none is given. */
  isLinked(term?: number): boolean
  /** Sends nothing more, and waits a while for what is under way. */
  drain(): Promise<void>
  /** When the player is out of the lobby, or the lobby is over. */
  readonly done: Promise<void>
}

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
