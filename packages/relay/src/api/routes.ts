/** The lobby API, as data. */
import { idText as id, jsonIn, queryInteger, routesFor } from '@muster/core/internal'
import { z } from 'zod'
import { AttributeChangesSchema, AttributesSchema } from '../lobby/index.js'
import { FollowedSchema, JoinedSchema, LobbySchema, PageSchema } from './schemas.js'

const inLobby = { lobbyId: id }
const password = z.string().min(1).max(128)
const version = z.int().min(1).optional()
const memberData = AttributesSchema.optional()
const changes = AttributeChangesSchema.describe('New values by name; null takes one away')

const attributesAsJson = z
  .string()
  .transform((text, context): unknown => {
    const value = jsonIn(text)
    if (value !== undefined) return value
    context.addIssue({ code: 'custom', message: 'must be a JSON object' })
    return z.NEVER
  })
  .pipe(AttributesSchema)

const CreateLobby = z.strictObject({
  maxPlayers: z.int().min(1).max(64),
  visibility: z.enum(['public', 'private']).optional(),
  password: password.optional(),
  approval: z.boolean().optional(),
  lateJoin: z.boolean().optional(),
  requireReady: z.boolean().optional(),
  data: AttributesSchema.optional(),
  memberData,
})

const byAnyone = routesFor('anyone', [])
const byPlayers = routesFor('players', [503])
const byMembers = routesFor('members', [409, 410, 503])
const byHost = routesFor('host', [403, 409, 410, 503])
/** The input and output of a host's command about a player. It returns the lobby. */
const toPlayer = { input: z.strictObject({ ...inLobby, playerId: id }), output: LobbySchema } as const

/** All operations of the lobby API. */
export const lobbyRoutes = {
  create: byPlayers('POST /lobbies', {
    summary: 'Create a lobby and become its host',
    input: CreateLobby,
    output: LobbySchema,
    success: [201],
    errors: [409],
  }),
  list: byPlayers('GET /lobbies', {
    summary: 'List public lobbies that can be joined, newest first',
    input: z.strictObject({
      data: attributesAsJson.optional().describe('JSON object of values that the lobby must have, e.g. {"map":"ice"}'),
      minFree: queryInteger(0, 64).optional(),
      limit: queryInteger(1, 100).optional(),
      after: z.string().max(128).optional().describe('`next` of the previous page'),
    }),
    output: PageSchema,
  }),
  joinByCode: byPlayers('POST /lobbies/join', {
    summary: 'Join a lobby by its code; all refusals look the same',
    input: z.strictObject({ code: z.string().max(64), password: password.optional(), memberData }),
    output: JoinedSchema,
    success: [200, 202],
    errors: [404, 409],
  }),
  join: byPlayers('POST /lobbies/{lobbyId}/join', {
    summary: 'Join a public lobby, or return to the player’s own slot',
    input: z.strictObject({ ...inLobby, password: password.optional(), memberData }),
    output: JoinedSchema,
    success: [200, 202],
    errors: [409],
  }),
  get: byPlayers('GET /lobbies/{lobbyId}', {
    summary: 'Read a lobby that the player is in, with the player’s credentials',
    input: z.strictObject(inLobby),
    output: LobbySchema,
  }),
  setData: byHost('PATCH /lobbies/{lobbyId}', {
    summary: 'Change the lobby’s data, by the host',
    input: z.strictObject({ ...inLobby, data: changes, ifVersion: version }),
    output: LobbySchema,
  }),
  end: byHost('DELETE /lobbies/{lobbyId}', {
    summary: 'End the lobby, by the host',
    input: z.strictObject(inLobby),
  }),
  events: byPlayers('GET /lobbies/{lobbyId}/events', {
    summary: 'Follow the events of a lobby: as server-sent events (Accept: text/event-stream), or by long poll',
    input: z.strictObject({
      ...inLobby,
      after: queryInteger(0).optional().describe('Cursor; without it, the first message is a snapshot'),
      wait: queryInteger(0, 30).optional().describe('Seconds that a long poll waits at most; default 0'),
      lastEventId: queryInteger(0).optional().describe('The same as after, as browsers send it'),
    }),
    output: FollowedSchema,
    headers: { lastEventId: 'last-event-id' },
    errors: [409],
  }),
  heartbeat: byMembers('POST /lobbies/{lobbyId}/heartbeat', {
    summary: 'Report that the player is present; not needed while following the events',
    input: z.strictObject(inLobby),
  }),
  setMemberData: byMembers('PATCH /lobbies/{lobbyId}/me', {
    summary: 'Change the player’s own data',
    input: z.strictObject({ ...inLobby, data: changes, ifVersion: version }),
    output: LobbySchema,
  }),
  setReady: byMembers('PUT /lobbies/{lobbyId}/me/ready', {
    summary: 'Set whether the player is ready',
    input: z.strictObject({ ...inLobby, ready: z.boolean() }),
    output: LobbySchema,
  }),
  leave: byMembers('DELETE /lobbies/{lobbyId}/me', {
    summary: 'Leave',
    input: z.strictObject(inLobby),
  }),
  kick: byHost('DELETE /lobbies/{lobbyId}/members/{playerId}', {
    summary: 'Remove a player, by the host',
    ...toPlayer,
  }),
  ban: byHost('PUT /lobbies/{lobbyId}/bans/{playerId}', {
    summary: 'Ban a player, who need not be in the lobby, by the host',
    ...toPlayer,
  }),
  unban: byHost('DELETE /lobbies/{lobbyId}/bans/{playerId}', {
    summary: 'Lift the ban of a player, by the host',
    ...toPlayer,
  }),
  transferHost: byHost('PUT /lobbies/{lobbyId}/host', {
    summary: 'Make another player the host, by the host',
    ...toPlayer,
  }),
  decide: byHost('PUT /lobbies/{lobbyId}/applicants/{playerId}', {
    summary: 'Accept or refuse an applicant, by the host',
    input: z.strictObject({ ...inLobby, playerId: id, approve: z.boolean() }),
    output: LobbySchema,
  }),
  start: byHost('POST /lobbies/{lobbyId}/start', {
    summary: 'Start the lobby, by the host; an event reports when it has started',
    input: z.strictObject(inLobby),
    output: LobbySchema,
    success: [202],
  }),
  stop: byHost('POST /lobbies/{lobbyId}/stop', {
    summary: 'End the relay session and open the lobby again, by the host',
    input: z.strictObject(inLobby),
    output: LobbySchema,
  }),
  document: byAnyone('GET /openapi.json', {
    summary: 'This API as an OpenAPI 3.1 document',
    input: z.strictObject({}),
    output: z.record(z.string(), z.unknown()),
  }),
} as const
