// pure: a match that could be made, as a custom rule sees it
import type { Attributes } from '@muster/servers'

/** A possible match, as a custom rule sees it; it holds no addresses. */
export interface MatchProposal {
  readonly queue: string
  readonly teams: readonly { readonly name: string; readonly tickets: readonly ProposedTicket[] }[]
}

export interface ProposedTicket {
  readonly id: string
  /** Milliseconds of waiting. */
  readonly waitedMs: number
  readonly players: readonly ProposedPlayer[]
}

export interface ProposedPlayer {
  readonly id: string
  readonly attributes: Attributes
  readonly roles: readonly string[]
}
