import type { Clock } from '@muster/core/clock'
import type { Lobbies } from '@muster/relay'
import type { Board } from './board.js'
import type { Latencies } from './latencies.js'
import type { Pump } from './pump.js'
import type { Tally } from './tally.js'

/** A player in a lobby, who follows its events and plays accordingly. */
export interface Member {
  /**
   * Returns true if the player's packets are relayed in the session with this number (`term`). Without a number, any
   * session counts.
   */
  isLinked(term?: number): boolean
  /** Stops sending. Resolves once no packet is under way, or after 1 s. */
  drain(): Promise<void>
  /** Resolves once the player has left the lobby, or the lobby has ended. */
  readonly done: Promise<void>
}

/** What all lobbies of the demo share. */
export interface Stage {
  readonly clock: Clock
  readonly lobbies: Lobbies
  readonly board: Board
  readonly pump: Pump
  /** Times in one direction, from a client through the relay to its host. */
  readonly latencies: Latencies
  readonly tally: Tally
  /** The present players, by id. */
  readonly members: Map<string, Member>
}
