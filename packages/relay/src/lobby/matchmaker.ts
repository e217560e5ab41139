// pure: what a lobby needs of a matchmaker
import type { Attributes } from './attributes.js'

/** The players of a lobby that was started. */
export interface HandedOver {
  /** Different for each start, and the same when a start is repeated whose answer was lost: use it as the ticket's id. */
  readonly key: string
  readonly lobbyId: string
  /** Who is present, the host first. */
  readonly players: readonly { readonly id: string; readonly ip: string; readonly data: Attributes }[]
  /** The lobby's data. */
  readonly data: Attributes
}

/**
 * Takes a lobby's players as a party, or as a whole match. Written by whoever uses both packages; neither
 * knows the other.
 */
export interface LobbyMatchmaker {
  /** Resolves with what the matchmaker calls it, such as the id of a ticket. Members are told. */
  handOver(party: HandedOver, options: { readonly signal: AbortSignal }): Promise<{ readonly reference: string }>
  /** The start was called off before the lobby could say that it had been handed over. */
  withdraw(reference: string): Promise<void>
}
