// pure: what happens in a lobby, in order
import type { AttributeChanges } from './attributes.js'

export type LeftReason = 'left' | 'kicked' | 'banned' | 'timed out'

export type ClosedReason = 'by host' | 'empty' | 'idle' | 'too old' | 'shutdown'

/** What happened. None of these holds a token or an address. */
export type Happening =
  | { readonly type: 'member.joined'; readonly playerId: string; readonly slot: number }
  | { readonly type: 'member.left'; readonly playerId: string; readonly reason: LeftReason }
  /** No longer ready, and without credentials; the slot is held for a while. */
  | { readonly type: 'member.away'; readonly playerId: string }
  | { readonly type: 'member.back'; readonly playerId: string }
  | { readonly type: 'member.ready'; readonly playerId: string; readonly ready: boolean }
  | {
      readonly type: 'member.data'
      readonly playerId: string
      readonly changes: AttributeChanges
      readonly version: number
    }
  | { readonly type: 'host.changed'; readonly hostId: string | null }
  | { readonly type: 'data.changed'; readonly changes: AttributeChanges; readonly version: number }
  /** To the host: somebody wants to come in. */
  | { readonly type: 'applicant.waiting'; readonly playerId: string }
  /** To the applicant. */
  | { readonly type: 'applicant.decided'; readonly approved: boolean }
  | { readonly type: 'lobby.starting'; readonly term: number }
  /** The host has changed, or the session could not be kept: a new one is coming, with a higher term. */
  | { readonly type: 'relay.moving'; readonly term: number }
  /** From now on the credentials of this term count, and those of lower terms do not. */
  | { readonly type: 'relay.ready'; readonly term: number }
  /** To one player, who has come in after the start: credentials are there. */
  | { readonly type: 'relay.credentials'; readonly term: number }
  /** Nothing came of the start, or of the move: the lobby is open again. */
  | { readonly type: 'run.failed'; readonly term: number; readonly reason: string }
  /** Over, or called off because somebody went: the lobby is open again, and nobody is ready. */
  | { readonly type: 'run.ended'; readonly term: number }
  /** The matchmaker has the players now; `reference` is what it calls them. */
  | { readonly type: 'match.handed-over'; readonly term: number; readonly reference: string }
  /** The match is there: the run of this term says where. */
  | { readonly type: 'match.assigned'; readonly term: number }
  /** To the player who is out. */
  | { readonly type: 'you.left'; readonly reason: LeftReason }
  | { readonly type: 'lobby.closed'; readonly reason: ClosedReason }

export type LobbyEvent = Happening & {
  /** From 1, without gaps in a lobby; a player sees gaps where an event was for somebody else. */
  readonly seq: number
  /** Epoch milliseconds. */
  readonly at: number
  /** Whom alone it is for; undefined for all members. */
  readonly to: string | undefined
}
