// pure: the matchmaker as a lobby uses it
import type { Attributes } from './attributes.js'

/** The players of a started lobby, handed over to the matchmaker. */
export interface HandedOver {
  /**
   * Use this key as the ticket's id. Each start has its own key; a start repeated because its answer was lost has the
   * same key again. Up to 40 letters, digits and `-`.
   */
  readonly key: string
  readonly lobbyId: string
  /** The present players, the host first. */
  readonly players: readonly { readonly id: string; readonly ip: string; readonly data: Attributes }[]
  /** The lobby's data. */
  readonly data: Attributes
}

/**
 * Takes a lobby's players as a party, or as a whole match. The application that uses both packages implements it,
 * because neither package depends on the other. It reports the outcome with `lobbies.reportMatch`.
 */
export interface LobbyMatchmaker {
  /**
   * Resolves with the matchmaker's reference, such as a ticket id, which is shown to the members. Rejects if the
   * hand-over failed. `close` aborts the signal and waits for the promise.
   */
  handOver(party: HandedOver, options: { readonly signal: AbortSignal }): Promise<{ readonly reference: string }>
  /**
   * Cancels a hand-over: before there was an assignment, a player left, or the lobby was stopped or closed. Repeated
   * until it resolves. Also called for references that have ended meanwhile, which must resolve too.
   */
  withdraw(reference: string): Promise<void>
}

/** The outcome for the players of `HandedOver.key`. */
export type MatchReport =
  | {
      readonly key: string
      readonly status: 'assigned'
      /** What a player needs to join the match, such as the server's address. Every member gets the same. */
      readonly assignment: Attributes
    }
  /** The hand-over came to nothing, or the match is over. The lobby opens again. */
  | { readonly key: string; readonly status: 'ended'; readonly reason: string }
