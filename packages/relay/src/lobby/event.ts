// pure: what happens in a lobby, in order
import type { AttributeChanges } from './attributes.js'

export type LeftReason = 'left' | 'kicked' | 'banned' | 'timed out'

export type ClosedReason = 'by host' | 'empty' | 'idle' | 'too old' | 'shutdown'

/** An event of a lobby, which never holds a token or an address. */
export type Happening =
  | { readonly type: 'member.joined'; readonly playerId: string; readonly slot: number }
  | { readonly type: 'member.left'; readonly playerId: string; readonly reason: LeftReason }
  /** The member is away: no longer ready, without credentials, but with the slot held for a while. */
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
  /** Only for the host: a player asks to join. */
  | { readonly type: 'applicant.waiting'; readonly playerId: string }
  /** Only for the applicant. */
  | { readonly type: 'applicant.decided'; readonly approved: boolean }
  | { readonly type: 'lobby.starting'; readonly term: number }
  /** The host has changed, or the session was lost: a new session of a higher term follows. */
  | { readonly type: 'relay.moving'; readonly term: number }
  /** The credentials of this term are valid; those of lower terms no longer are. */
  | { readonly type: 'relay.ready'; readonly term: number }
  /** Only for a player who joined after the start: the credentials are available. */
  | { readonly type: 'relay.credentials'; readonly term: number }
  /** The start, or the move to another session, failed: the lobby is open again. */
  | { readonly type: 'run.failed'; readonly term: number; readonly reason: string }
  /** The run ended, or was called off because a player left: the lobby is open again, and nobody is ready. */
  | { readonly type: 'run.ended'; readonly term: number }
  /** The matchmaker has taken the players; `reference` is its name for them. */
  | { readonly type: 'match.handed-over'; readonly term: number; readonly reference: string }
  /** The match has an assignment: the run of this term holds it. */
  | { readonly type: 'match.assigned'; readonly term: number }
  /** Only for the player who is no longer a member. */
  | { readonly type: 'you.left'; readonly reason: LeftReason }
  | { readonly type: 'lobby.closed'; readonly reason: ClosedReason }

export type LobbyEvent = Happening & {
  /** Counts from 1 without gaps in a lobby; a player sees gaps where an event was for somebody else. */
  readonly seq: number
  /** Epoch milliseconds. */
  readonly at: number
  /** The only player who gets the event; undefined for all members. */
  readonly to: string | undefined
}
