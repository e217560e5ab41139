import { z } from 'zod'
import type { ReadySession, RelaySeat } from '../sessions/index.js'
import { checked, playerId } from '../validate.js'
import type { Follow } from './lobbies.js'
import type { MatchReport } from './lobby-options.js'
import { type AttributeChanges, AttributeChangesSchema, type Attributes, AttributesSchema } from './lobby.js'

/** A command of a player; `playerId` is the sender. */
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
  | { readonly kind: 'leave' | 'start' | 'stop' | 'close'; readonly playerId: string }
  | { readonly kind: 'setReady'; readonly playerId: string; readonly ready: boolean }
  | {
      readonly kind: 'setData' | 'setMemberData'
      readonly playerId: string
      readonly changes: AttributeChanges
      readonly ifVersion?: number | undefined
    }
  | { readonly kind: 'kick'; readonly playerId: string; readonly targetId: string; readonly ban: boolean }
  | { readonly kind: 'unban' | 'transferHost'; readonly playerId: string; readonly targetId: string }
  | { readonly kind: 'decide'; readonly playerId: string; readonly applicantId: string; readonly approve: boolean }

/** A command of a timer, or of the process that manages the lobby's session. */
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
  /** The service refuses the member in this session. */
  | { readonly kind: 'refused'; readonly sessionId: string; readonly memberId: string }
  | { readonly kind: 'revoked'; readonly sessionId: string; readonly tokens: readonly number[] }
  /** The session is gone, or no longer fits the lobby's members. */
  | { readonly kind: 'lost'; readonly sessionId: string }
  | { readonly kind: 'ended'; readonly retiredId: string }

export type LobbyCommand = PlayerCommand | SystemCommand

/** Schemas of the commands to an existing lobby. Those for creating, joining and listing are in `lobby-options.ts`. */

const ifVersion = z.int().min(1).optional()

const requestSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.enum(['heartbeat', 'leave', 'start', 'stop', 'close']), playerId }),
  z.object({ kind: z.literal('setReady'), playerId, ready: z.boolean() }),
  z.object({ kind: z.enum(['setData', 'setMemberData']), playerId, changes: AttributeChangesSchema, ifVersion }),
  z.object({ kind: z.literal('kick'), playerId, targetId: playerId, ban: z.boolean() }),
  z.object({ kind: z.enum(['unban', 'transferHost']), playerId, targetId: playerId }),
  z.object({ kind: z.literal('decide'), playerId, applicantId: playerId, approve: z.boolean() }),
])

/** A member's command. Joining is not one of these, because it needs more input. */
export type MemberRequest = Exclude<PlayerCommand, { readonly kind: 'join' }>

/** Validates a member's command. @throws {InvalidInput} naming the field. */
export const checkRequest = (command: MemberRequest): PlayerCommand =>
  checked(requestSchema, command, 'lobby: input') as MemberRequest

const followSchema = z.object({
  lobbyId: z.string(),
  playerId,
  after: z.int().min(0).optional(),
  waitMs: z.number().min(0).optional(),
})

/** Validates the input of `follow` and `poll`. @throws {InvalidInput} naming the field. */
export const checkFollow = (input: Follow & { readonly waitMs?: number }): void =>
  void checked(followSchema, input, 'lobby events: input')

const reportSchema: z.ZodType<MatchReport> = z.discriminatedUnion('status', [
  z.strictObject({ key: z.string(), status: z.literal('assigned'), assignment: AttributesSchema }),
  z.strictObject({ key: z.string(), status: z.literal('ended'), reason: z.string().max(256) }),
])

/** Validates a report of the matchmaker. @throws {InvalidInput} naming the field. */
export const checkReport = (report: MatchReport): MatchReport => checked(reportSchema, report, 'match report:')
