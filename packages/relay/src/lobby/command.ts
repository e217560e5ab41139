// pure: what can be asked of a lobby
import type { RelaySeat, ReadySession } from '../sessions/session.js'
import type { AttributeChanges, Attributes } from './attributes.js'

/** A command of a player; `playerId` is the player who asks. */
export type PlayerCommand =
  | {
      readonly kind: 'join'
      readonly playerId: string
      readonly ip: string
      /** How the lobby was found. */
      readonly by: 'code' | 'id'
      /** Digest of the given password with the lobby's salt. */
      readonly digest: string | undefined
      readonly data: Attributes
    }
  | { readonly kind: 'heartbeat'; readonly playerId: string }
  | { readonly kind: 'leave'; readonly playerId: string }
  | { readonly kind: 'setReady'; readonly playerId: string; readonly ready: boolean }
  | {
      readonly kind: 'setData'
      readonly playerId: string
      readonly changes: AttributeChanges
      readonly ifVersion: number | undefined
    }
  | {
      readonly kind: 'setMemberData'
      readonly playerId: string
      readonly changes: AttributeChanges
      readonly ifVersion: number | undefined
    }
  | { readonly kind: 'kick'; readonly playerId: string; readonly targetId: string; readonly ban: boolean }
  | { readonly kind: 'unban'; readonly playerId: string; readonly targetId: string }
  | { readonly kind: 'transferHost'; readonly playerId: string; readonly targetId: string }
  | { readonly kind: 'decide'; readonly playerId: string; readonly applicantId: string; readonly approve: boolean }
  | { readonly kind: 'start'; readonly playerId: string }
  | { readonly kind: 'stop'; readonly playerId: string }
  | { readonly kind: 'close'; readonly playerId: string }

/** A command that time, or the process that runs the lobby's session, gives. */
export type SystemCommand =
  | { readonly kind: 'tick' }
  | { readonly kind: 'shutDown' }
  | { readonly kind: 'claim'; readonly worker: string }
  | { readonly kind: 'release'; readonly worker: string }
  | { readonly kind: 'opened'; readonly worker: string; readonly term: number; readonly session: ReadySession }
  | { readonly kind: 'handedOver'; readonly worker: string; readonly term: number; readonly reference: string }
  /** A report of the matchmaker, which may come at any time. */
  | { readonly kind: 'matchAssigned'; readonly term: number; readonly assignment: Attributes }
  | { readonly kind: 'matchEnded'; readonly term: number; readonly reason: string }
  | { readonly kind: 'failed'; readonly worker: string; readonly term: number; readonly reason: string }
  | { readonly kind: 'authorized'; readonly sessionId: string; readonly seat: RelaySeat }
  | { readonly kind: 'revoked'; readonly sessionId: string; readonly tokens: readonly number[] }
  /** The session is gone, or can no longer fit the lobby's members. */
  | { readonly kind: 'lost'; readonly sessionId: string }
  | { readonly kind: 'ended'; readonly retiredId: string }

export type Command = PlayerCommand | SystemCommand
