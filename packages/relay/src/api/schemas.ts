// pure: the schemas of the lobby API's responses
import { z } from 'zod'
import {
  AttributeChangesSchema,
  AttributesSchema,
  type Followed,
  type Joined,
  type LobbyMessage,
  type ListedLobby,
  type LobbyView,
  type RunView,
} from '../lobby/index.js'
import type { RelayCredentials } from '../sessions/index.js'

const text = z.string()
const whole = z.int().min(0)
const instant = z.number().describe('Epoch milliseconds')
const token = z.int().min(0).max(0xffff_ffff).describe('Unsigned 32-bit')
const term = z.int().min(1).describe('Rises with every session; credentials of a lower term do not count')

const assignment = AttributesSchema.describe('Where the match is, the same for every member')

const Credentials: z.ZodType<RelayCredentials> = z
  .object({
    sessionId: text,
    role: z.enum(['host', 'client']),
    host: text.describe('Name or address of the relay'),
    ip: text.optional(),
    port: whole,
    protocol: text,
    link: text.optional(),
    sessionToken: token,
    userToken: token.describe('Unsigned 32-bit, of the reader alone'),
  })
  .meta({ id: 'RelayCredentials' })

const Run: z.ZodType<RunView> = z
  .discriminatedUnion('status', [
    z.object({ term, status: z.literal('allocating') }),
    z.object({ term, status: z.literal('relayed'), credentials: Credentials.nullable() }),
    z.object({
      term,
      status: z.literal('handed-over'),
      reference: text.describe('What the matchmaker calls the players'),
    }),
    z.object({ term, status: z.literal('assigned'), assignment }),
  ])
  .meta({ id: 'Run' })

const phase = z.enum(['open', 'starting', 'running', 'closed'])
const entry = z.enum(['open', 'password', 'approval'])

export const LobbySchema: z.ZodType<LobbyView> = z
  .object({
    lobbyId: text,
    code: text,
    visibility: z.enum(['public', 'private']),
    maxPlayers: whole,
    entry,
    lateJoin: z.boolean(),
    requireReady: z.boolean(),
    phase,
    hostId: text.nullable().describe('null while nobody is present'),
    members: z.array(
      z.object({
        playerId: text,
        slot: whole,
        present: z.boolean(),
        host: z.boolean(),
        ready: z.boolean(),
        data: AttributesSchema,
        dataVersion: whole,
      }),
    ),
    applicants: z.array(text).describe('Who waits for the host; empty for others'),
    data: AttributesSchema,
    dataVersion: whole,
    run: Run.nullable(),
    createdAt: instant,
    cursor: whole.describe('Where the events go on'),
  })
  .meta({ id: 'Lobby' })

const Listed: z.ZodType<ListedLobby> = z
  .object({
    lobbyId: text,
    phase,
    entry,
    maxPlayers: whole,
    players: whole,
    data: AttributesSchema,
    createdAt: instant,
  })
  .meta({ id: 'ListedLobby' })

export interface LobbyPage {
  readonly lobbies: readonly ListedLobby[]
  readonly next: string | null
}

export const PageSchema: z.ZodType<LobbyPage> = z.object({
  lobbies: z.array(Listed),
  next: text.nullable().describe('Cursor of the next page'),
})

export const JoinedSchema: z.ZodType<Joined> = z.discriminatedUnion('status', [
  z.object({ status: z.literal('joined'), lobby: LobbySchema }),
  z.object({ status: z.literal('waiting'), lobbyId: text }),
])

const playerId = text
const version = whole
const base = { seq: whole, at: instant }
const credentials = Credentials.optional()
const event = <Type extends string, Shape extends z.core.$ZodShape>(type: Type, shape: Shape) =>
  z.object({ type: z.literal(type), ...shape, ...base })

const MessageSchema: z.ZodType<LobbyMessage> = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('snapshot'), seq: whole, lobby: LobbySchema }),
    event('member.joined', { playerId, slot: whole }),
    event('member.left', { playerId, reason: z.enum(['left', 'kicked', 'banned', 'timed out']) }),
    event('member.away', { playerId }),
    event('member.back', { playerId }),
    event('member.ready', { playerId, ready: z.boolean() }),
    event('member.data', { playerId, changes: AttributeChangesSchema, version }),
    event('host.changed', { hostId: text.nullable() }),
    event('data.changed', { changes: AttributeChangesSchema, version }),
    event('applicant.waiting', { playerId }),
    event('applicant.decided', { approved: z.boolean() }),
    event('lobby.starting', { term }),
    event('relay.moving', { term }),
    event('relay.ready', { term, credentials }),
    event('relay.credentials', { term, credentials }),
    event('relay.refused', { playerId }),
    event('run.failed', { term, reason: text }),
    event('run.ended', { term }),
    event('match.handed-over', { term, reference: text }),
    event('match.assigned', { term, assignment: assignment.optional() }),
    event('you.left', { reason: z.enum(['left', 'kicked', 'banned', 'timed out']) }),
    event('lobby.closed', { reason: z.enum(['by host', 'empty', 'idle', 'too old', 'shutdown']) }),
  ])
  .meta({ id: 'Message' })

export const FollowedSchema: z.ZodType<Followed> = z.object({
  messages: z.array(MessageSchema),
  cursor: whole.describe('Give it as `after` next time'),
  over: z.boolean().describe('Nothing more will come'),
})
