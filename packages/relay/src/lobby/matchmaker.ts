// pure: what a lobby needs of a matchmaker
import type { Attributes } from './attributes.js'

/** The players of a lobby that was started. */
export interface HandedOver {
  /**
   * Different for each start, and the same when a start is repeated whose answer was lost: use it as the ticket's id.
   * Up to 40 letters, digits and `-`.
   */
  readonly key: string
  readonly lobbyId: string
  /** Who is present, the host first. */
  readonly players: readonly { readonly id: string; readonly ip: string; readonly data: Attributes }[]
  /** The lobby's data. */
  readonly data: Attributes
}

/**
 * Takes a lobby's players as a party, or as a whole match. Written by whoever uses both packages; neither
 * knows the other. What becomes of them it says by `lobbies.reportMatch`.
 */
export interface LobbyMatchmaker {
  /**
   * Resolves with what the matchmaker calls it, such as the id of a ticket. Members are told. Rejects if nothing comes
   * of it. `close` waits for it, and aborts the signal.
   */
  handOver(party: HandedOver, options: { readonly signal: AbortSignal }): Promise<{ readonly reference: string }>
  /**
   * The players do not want it any more: one of them has gone, or the lobby was stopped or closed, before there was an
   * assignment. Tried again until it resolves; also called for what has ended meanwhile, which is no failure.
   */
  withdraw(reference: string): Promise<void>
}

/** What has become of the players of `HandedOver.key`. */
export type MatchReport =
  | {
      readonly key: string
      readonly status: 'assigned'
      /** What a player needs in order to join the match, such as the server's address. Every member gets the same. */
      readonly assignment: Attributes
    }
  /** Nothing has come of it; or the match is over. The lobby opens again. */
  | { readonly key: string; readonly status: 'ended'; readonly reason: string }
