import { idText as id, queryInteger } from '@muster/core/internal'
import { z } from 'zod'
import { BackfillBody, BackfillChangeBody, MatchBody, MemberBody, PartyBody, TicketBody } from './bodies.js'
import { byAnyone, byBackends, byMatchServers, byOwnToken, byPlayers, LONGEST_TOKEN, ofThisProcess } from './callers.js'
import { joinKeyRoutes, seatRoutes, serverRoutes } from './server-routes.js'
import {
  BackfillSchema,
  BatchSchema,
  BeaconsSchema,
  CooldownsSchema,
  ExplanationSchema,
  GroupSchema,
  MatchesInspectedSchema,
  MemberSchema,
  MonitorSchema,
  PartySchema,
  PlayerInMatchSchema,
  PlayerSchema,
  PoolsSchema,
  PrivateMatchSchema,
  QueuesSchema,
  ResultsSchema,
  ServersInspectedSchema,
  StreamTokenSchema,
  TicketSchema,
  TicketsInspectedSchema,
} from './schemas.js'

const playerKey = z.strictObject({ player_id: id })
const queueKey = z.strictObject({ profile: id })

/** The routes by which an operator's backend acts on queues and players. */
const operatorRoutes = {
  readCooldown: byBackends('GET /players/{player_id}/cooldown', {
    summary: 'Read the cooldowns of a player, and the offences that still count; by a backend',
    input: playerKey,
    output: CooldownsSchema,
    anyId: true,
  }),
  forgive: byBackends('DELETE /players/{player_id}/cooldown', {
    summary: 'End the cooldowns of a player and forget the offences; by a backend',
    input: playerKey,
    anyId: true,
  }),

  readPools: byBackends('GET /pools', {
    summary: 'List the pools of game servers by place: warm servers, and matches that found one; by a backend',
    input: z.strictObject({}),
    output: PoolsSchema,
  }),
  pausePool: byBackends('PATCH /pools/{pool}', {
    summary: 'Pause or resume the warm servers of a pool, by a backend; matches still get servers',
    input: z.strictObject({ pool: id, paused: z.boolean() }),
  }),
  drainServer: byBackends('POST /servers/{server_id}/drain', {
    summary: 'Drain a game server, by a backend: it takes no more matches and stops once its matches are over',
    input: z.strictObject({ server_id: id }),
    success: [202],
  }),
  stopServer: byBackends('DELETE /servers/{server_id}', {
    summary: 'Stop a game server at once, and end the matches on it, by a backend',
    input: z.strictObject({ server_id: id }),
    success: [202],
  }),

  revokeEnrolment: byBackends('POST /enrolments/{key_id}/revoke', {
    summary: 'Stop all servers that enrolled with a key that the configuration no longer has, by a backend',
    input: z.strictObject({ key_id: z.string().regex(/^[\da-f]{8}$/, 'must be 8 hex digits') }),
    success: [202],
    errors: [409],
    anyId: true,
  }),

  readResults: byBackends('GET /results', {
    summary: 'List the match results that were set aside because the backend keeps refusing them; by a backend',
    input: z.strictObject({}),
    output: ResultsSchema,
  }),
  repeatResult: byBackends('POST /results/{match_id}/repeat', {
    summary: 'Repeat sending a result that was set aside, by a backend',
    input: z.strictObject({ match_id: id }),
    success: [202],
  }),
  dropResult: byBackends('DELETE /results/{match_id}', {
    summary: 'Delete a result that was set aside, by a backend, which then never gets it',
    input: z.strictObject({ match_id: id }),
  }),

  pauseQueue: byBackends('POST /queues/{profile}/pause', {
    summary: 'Pause a profile, by a backend: it makes no matches, but still accepts tickets, which wait',
    input: queueKey,
    anyId: true,
  }),
  resumeQueue: byBackends('POST /queues/{profile}/resume', {
    summary: 'Resume a paused profile, by a backend',
    input: queueKey,
    anyId: true,
  }),
} as const

/** Any JSON object. */
const anything = z.record(z.string(), z.unknown())
const version = queryInteger(0)
const until = z
  .enum(['assigned', 'match-end'])
  .optional()
  .describe('How far to follow: to HOST_ASSIGNED (default), or until the ticket says `ended`')
const ticketKey = z.strictObject({ ticket_id: id })
const answeredKey = ticketKey.extend({
  match_id: id
    .optional()
    .describe('The match that the player has seen; if the ticket is in another match by now, the answer is refused'),
})
const groupKey = z.strictObject({ group_id: id })
const memberKey = z.strictObject({ group_id: id, member_id: id })
const backfillKey = z.strictObject({ backfill_id: id })

/** Maximum seconds of a long poll. Proxies cut connections that are silent for a minute. */
const LONGEST_WAIT = 30

/** All routes of the ticket API. */
export const ticketRoutes = {
  monitor: ofThisProcess('GET /monitor', {
    summary: 'Read whether the API is healthy',
    input: z.strictObject({}),
    output: MonitorSchema,
  }),
  beacons: byPlayers('GET /locations/beacons', {
    summary: 'List the hosts to ping; their latencies go into the `beacons` attribute of a ticket, by city',
    input: z.strictObject({}),
    output: BeaconsSchema,
    errors: [404],
  }),

  queues: byPlayers('GET /queues', {
    summary: 'List the queues: how many players wait, and the expected wait of a new ticket from the caller’s place',
    input: z.strictObject({}),
    output: QueuesSchema,
  }),

  createTicket: byPlayers('POST /tickets', {
    summary: 'Create a ticket, with which a player waits for a match',
    input: TicketBody,
    output: TicketSchema,
    success: [201],
    errors: [403, 409],
  }),
  createTickets: byBackends('POST /tickets/batch', {
    summary: 'Create many tickets at once, by a backend; a refused ticket does not stop the others',
    input: z.strictObject({ tickets: z.array(z.unknown()).min(1).max(1000).describe('Each as in POST /tickets') }),
    output: BatchSchema,
  }),
  getTicket: byPlayers('GET /tickets/{ticket_id}', {
    summary: 'Read a ticket; with `wait`, the answer comes once the ticket has changed',
    input: z.strictObject({
      ticket_id: id,
      wait: queryInteger(0, LONGEST_WAIT)
        .optional()
        .describe('Seconds to wait at most until the ticket has another version; default 0'),
      version: version.optional().describe('The version that the caller knows; default: the current one'),
      until,
    }),
    output: TicketSchema,
  }),
  deleteTicket: byPlayers('DELETE /tickets/{ticket_id}', {
    summary: 'Cancel a ticket, and with it those of its party; 409 once the players know where to connect',
    input: ticketKey,
    errors: [409],
  }),
  ticketEvents: byPlayers('GET /tickets/{ticket_id}/events', {
    summary:
      'Follow a ticket: each change is a server-sent event called `ticket`; ' +
      'the last is HOST_ASSIGNED or CANCELLED, or says `ended`',
    input: z.strictObject({
      ticket_id: id,
      until,
      lastEventId: version.optional().describe('The version that the caller knows, as browsers send it'),
      token: z
        .string()
        .max(LONGEST_TOKEN)
        .optional()
        .describe('Token of POST /tickets/{ticket_id}/stream-token, in place of the header'),
    }),
    output: TicketSchema,
    success: [200, 204],
    headers: { lastEventId: 'last-event-id' },
  }),
  createStreamToken: byPlayers('POST /tickets/{ticket_id}/stream-token', {
    summary:
      'Get a token for an EventSource, which sends no headers: valid for minutes, for the events of this ticket only',
    input: ticketKey,
    output: StreamTokenSchema,
    success: [201],
  }),
  explainTicket: byPlayers('GET /tickets/{ticket_id}/explain', {
    summary: 'Explain why a ticket still waits',
    input: ticketKey,
    output: ExplanationSchema,
  }),
  acceptMatch: byPlayers('POST /tickets/{ticket_id}/accept', {
    summary: 'Accept the match that was found',
    input: answeredKey,
    output: TicketSchema,
    errors: [409],
  }),
  declineMatch: byPlayers('POST /tickets/{ticket_id}/decline', {
    summary: 'Decline the match that was found',
    input: answeredKey,
    output: TicketSchema,
    errors: [409],
  }),

  me: byOwnToken('GET /me', {
    summary: 'List what the calling player is in: tickets, groups, running matches with where to connect, lobbies',
    input: z.strictObject({}),
    output: PlayerSchema,
  }),
  findPlayer: byBackends('GET /players/{player_id}', {
    summary: 'List what a player is in, by a backend',
    input: z.strictObject({ player_id: id }),
    output: PlayerSchema,
    anyId: true,
  }),

  createParty: byBackends('POST /group-tickets', {
    summary: 'Queue a party for a match together, by a backend',
    input: PartyBody,
    output: PartySchema,
    success: [201],
    errors: [409],
  }),

  createGroup: byPlayers('POST /groups', {
    summary: 'Create a group and own it; if `is_ready` is true, its search starts at once, with the owner alone',
    input: MemberBody,
    output: MemberSchema,
    success: [201],
    errors: [403, 409],
  }),
  getGroup: byPlayers('GET /groups/{group_id}', {
    summary: 'Read a group that the player is in',
    input: groupKey,
    output: GroupSchema,
  }),
  deleteGroup: byPlayers('DELETE /groups/{group_id}', {
    summary: 'End a group, by its owner, and cancel its search; 409 once the players know where to connect',
    input: groupKey,
    errors: [403, 409],
  }),
  joinGroup: byPlayers('POST /groups/{group_id}/members', {
    summary: 'Join a group; the search starts when all members are ready, and then nobody can join',
    input: z.strictObject({ group_id: id, ...MemberBody.shape }),
    output: MemberSchema,
    success: [201],
    errors: [403, 409],
  }),
  getMember: byPlayers('GET /groups/{group_id}/members/{member_id}', {
    summary: 'Read the state of a member of a group',
    input: memberKey,
    output: MemberSchema,
  }),
  setReady: byPlayers('PATCH /groups/{group_id}/members/{member_id}', {
    summary: 'Set whether the player is ready',
    input: memberKey.extend({ is_ready: z.boolean() }),
    output: MemberSchema,
    errors: [409],
  }),
  leaveGroup: byPlayers('DELETE /groups/{group_id}/members/{member_id}', {
    summary: 'Leave a group, or remove a member as its owner; if the group searches, this cancels its search',
    input: memberKey,
    errors: [409],
  }),

  createBackfill: byMatchServers('POST /backfills', {
    summary: 'Ask for more players for a running match, by its server',
    input: BackfillBody,
    output: BackfillSchema,
    success: [201],
    errors: [404, 409],
  }),
  getBackfill: byMatchServers('GET /backfills/{backfill_id}', {
    summary: 'Read a backfill',
    input: backfillKey,
    output: BackfillSchema,
  }),
  updateBackfill: byMatchServers('PATCH /backfills/{backfill_id}', {
    summary: 'Change the slots of a backfill; 409 if the backfill has changed since',
    input: backfillKey.extend(BackfillChangeBody.shape),
    output: BackfillSchema,
    errors: [409],
  }),
  deleteBackfill: byMatchServers('DELETE /backfills/{backfill_id}', {
    summary: 'Ask for no more players',
    input: backfillKey,
  }),

  ...serverRoutes,
  ...joinKeyRoutes,
  ...seatRoutes,
  ...operatorRoutes,

  createMatch: byBackends('POST /matches', {
    summary: 'Make a match of given players at once, by a backend; each of them gets a ticket of it',
    input: MatchBody,
    output: PrivateMatchSchema,
    success: [201],
    errors: [409],
  }),
  playersLeft: byMatchServers('POST /matches/{match_id}/players-left', {
    summary: 'Report players who left the match, by the match’s server; when nobody is left, the server is stopped',
    input: z.strictObject({ match_id: id, player_ids: z.array(id).min(1).max(500) }),
  }),
  findInMatch: byMatchServers('GET /matches/{match_id}/players/{player_id}', {
    summary: 'Read whether a player may join the server of a match; the server calls this when a client connects',
    input: z.strictObject({ match_id: id, player_id: id }),
    output: PlayerInMatchSchema,
    anyId: true,
  }),
  endMatch: byMatchServers('DELETE /matches/{match_id}', {
    summary: 'End a match, and stop its server',
    input: z.strictObject({ match_id: id }),
    success: [202],
  }),

  serverReady: byAnyone('POST /server-ready', {
    summary: 'Report that the match’s server is ready, with MM_MATCH_SECRET as token and MM_MATCH_ID as match',
    input: z.strictObject({ match_id: id }),
    errors: [403],
  }),

  inspectTickets: byBackends('GET /inspect/tickets', {
    summary: 'List waiting tickets, by a backend, if `inspect` is on',
    input: z.strictObject({ limit: queryInteger(0, 1000).optional().describe('Tickets shown at most; default 100') }),
    output: TicketsInspectedSchema,
    errors: [404],
  }),
  inspectMatches: byBackends('GET /inspect/matches', {
    summary: 'List matches of which a server exists or may exist, by a backend, if `inspect` is on',
    input: z.strictObject({}),
    output: MatchesInspectedSchema,
    errors: [404],
  }),

  inspectServers: byBackends('GET /inspect/servers', {
    summary: 'List registered game servers, by a backend, if `inspect` is on',
    input: z.strictObject({}),
    output: ServersInspectedSchema,
    errors: [404],
  }),

  document: ofThisProcess('GET /openapi.json', {
    summary: 'This API as an OpenAPI 3.1 document',
    input: z.strictObject({}),
    output: anything,
  }),
} as const

/** The subject of the paths that begin with each key, for the OpenAPI document. */
export const subjects: Readonly<Record<string, string>> = {
  monitor: 'Whether the API answers.',
  locations: 'Beacons to which players measure their latency.',
  queues: 'Queues, how busy they are, and their pauses.',
  tickets: 'A player, or a backend for one, waits for a match and learns where to connect.',
  me: 'What the calling player is in: tickets, groups, matches, a seat, lobbies.',
  players: 'What a player is in, and cooldowns; for backends.',
  'group-tickets': 'A backend queues a whole party at once.',
  groups: 'Players gather by a link and begin to search when all are ready.',
  backfills: 'Players for free places in running matches.',
  results: 'Results of matches that the backend keeps refusing.',
  servers: 'Game servers: they register and report; players list them; backends drain and stop them.',
  '.well-known': 'Keys by which join tokens are checked.',
  seats: 'Seats of players on listed servers.',
  enrolments: 'Keys with which servers on your own machines enrolled; for backends.',
  pools: 'Pools of servers, and servers that players start.',
  matches: 'Matches that run, and private matches; for backends and game servers.',
  'server-ready': 'A game server reports that it is ready.',
  inspect: 'Queues, tickets, matches and servers as they are; for backends.',
  'openapi.json': 'This document.',
}
