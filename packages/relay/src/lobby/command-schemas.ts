import { z } from 'zod'
import { checked, MOST_OF_PLAYER_ID, playerId } from '../validate.js'
import { AttributeChangesSchema, AttributesSchema } from './attributes.js'
import type { PlayerCommand } from './command.js'
import type { Follow } from './lobbies.js'
import type { MatchReport } from './matchmaker.js'

/** Schemas of the commands to an existing lobby. Those of creating, joining and listing are in `options.ts`. */

const ifVersion = z.int().min(1).optional()

const requestSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.enum(['heartbeat', 'leave', 'start', 'stop', 'close']), playerId }),
  z.strictObject({ kind: z.literal('setReady'), playerId, ready: z.boolean() }),
  z.strictObject({ kind: z.enum(['setData', 'setMemberData']), playerId, changes: AttributeChangesSchema, ifVersion }),
  z.strictObject({ kind: z.literal('kick'), playerId, targetId: playerId, ban: z.boolean() }),
  z.strictObject({ kind: z.enum(['unban', 'transferHost']), playerId, targetId: playerId }),
  z.strictObject({ kind: z.literal('decide'), playerId, applicantId: playerId, approve: z.boolean() }),
])

/** A member's command. Joining is not one of these, because it needs more input. */
export type MemberRequest = Exclude<PlayerCommand, { readonly kind: 'join' }>

/** @throws {InvalidInput} naming the field. */
export const checkRequest = (command: MemberRequest): PlayerCommand =>
  isValidHeartbeat(command) ? command : (checked(requestSchema, command, 'lobby: input') as MemberRequest)

/** Whether the schema takes it as it is. Nearly all commands are heartbeats, and it takes a third of their time. */
function isValidHeartbeat(command: MemberRequest): boolean {
  const { kind, playerId: id }: { readonly kind: string; readonly playerId: unknown } = command
  return kind === 'heartbeat' && typeof id === 'string' && id.length > 0 && id.length <= MOST_OF_PLAYER_ID
}

const followSchema = z.object({
  lobbyId: z.string(),
  playerId,
  after: z.int().min(0).optional(),
  waitMs: z.number().min(0).optional(),
})

/** @throws {InvalidInput} naming the field. */
export const checkFollow = (input: Follow & { readonly waitMs?: number }): void =>
  void checked(followSchema, input, 'lobby events: input')

const reportSchema: z.ZodType<MatchReport> = z.discriminatedUnion('status', [
  z.strictObject({ key: z.string(), status: z.literal('assigned'), assignment: AttributesSchema }),
  z.strictObject({ key: z.string(), status: z.literal('ended'), reason: z.string().max(256) }),
])

/** @throws {InvalidInput} naming the field. */
export const checkReport = (report: MatchReport): MatchReport => checked(reportSchema, report, 'match report:')
