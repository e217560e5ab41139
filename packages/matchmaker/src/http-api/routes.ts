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
    summary: 'For how long a player may not wait, having let others down, and what still counts; by a backend',
    input: playerKey,
    output: CooldownsSchema,
    anyId: true,
  }),
  forgive: byBackends('DELETE /players/{player_id}/cooldown', {
    summary: 'Forget it: the player may wait at once; by a backend',
    input: playerKey,
    anyId: true,
  }),

  readPools: byBackends('GET /pools', {
    summary: 'The pools of game servers by place: how many are warm, and how many matches found one; by a backend',
    input: z.strictObject({}),
    output: PoolsSchema,
  }),
  pausePool: byBackends('PATCH /pools/{pool}', {
    summary: 'Keep no servers of a pool warm, or do so again, by a backend; matches still get servers',
    input: z.strictObject({ pool: id, paused: z.boolean() }),
  }),
  drainServer: byBackends('POST /servers/{server_id}/drain', {
    summary: 'Let a game server take no match any more, by a backend; it is stopped once its matches are over',
    input: z.strictObject({ server_id: id }),
    success: [202],
  }),
  stopServer: byBackends('DELETE /servers/{server_id}', {
    summary: 'Stop a game server at once, and end the matches on it, by a backend',
    input: z.strictObject({ server_id: id }),
    success: [202],
  }),

  revokeEnrolment: byBackends('POST /enrolments/{key_id}/revoke', {
    summary: 'Stop all servers that came with a key that is not in the configuration any more, by a backend',
    input: z.strictObject({ key_id: z.string().regex(/^[\da-f]{8}$/, 'must be 8 hex digits') }),
    success: [202],
    errors: [409],
    anyId: true,
  }),

  readResults: byBackends('GET /results', {
    summary: 'The results of matches that the backend keeps refusing and that were set aside; by a backend',
    input: z.strictObject({}),
    output: ResultsSchema,
  }),
  repeatResult: byBackends('POST /results/{match_id}/repeat', {
    summary: 'Send a result again that was set aside, by a backend',
    input: z.strictObject({ match_id: id }),
    success: [202],
  }),
  dropResult: byBackends('DELETE /results/{match_id}', {
    summary: 'Forget a result that was set aside, by a backend, which never gets it',
    input: z.strictObject({ match_id: id }),
  }),

  pauseQueue: byBackends('POST /queues/{profile}/pause', {
    summary: 'Make no matches of a profile until it is resumed, by a backend; tickets are taken and wait',
    input: queueKey,
    anyId: true,
  }),
  resumeQueue: byBackends('POST /queues/{profile}/resume', {
    summary: 'End the pause of a profile, by a backend',
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
const groupKey = z.strictObject({ group_id: id })
const memberKey = z.strictObject({ group_id: id, member_id: id })
const backfillKey = z.strictObject({ backfill_id: id })

/** Maximum seconds of a long poll. Proxies cut connections that are silent for a minute. */
const LONGEST_WAIT = 30

/** All routes of the ticket API. */
export const ticketRoutes = {
  monitor: ofThisProcess('GET /monitor', {
    summary: 'Whether all is well',
    input: z.strictObject({}),
    output: MonitorSchema,
  }),
  beacons: byPlayers('GET /locations/beacons', {
    summary: 'Hosts to ping; their latencies go into the `beacons` attribute of a ticket, by city',
    input: z.strictObject({}),
    output: BeaconsSchema,
    errors: [404],
  }),

  queues: byPlayers('GET /queues', {
    summary: 'The queues: how many wait, and how long a ticket would wait that comes now from where the caller is',
    input: z.strictObject({}),
    output: QueuesSchema,
  }),

  createTicket: byPlayers('POST /tickets', {
    summary: 'Let a player wait for a match',
    input: TicketBody,
    output: TicketSchema,
    success: [201],
    errors: [403, 409],
  }),
  createTickets: byBackends('POST /tickets/batch', {
    summary:
      'Let many players wait, each for themselves, by a backend; those that are refused do not keep the others from it',
    input: z.strictObject({ tickets: z.array(z.unknown()).min(1).max(1000).describe('Each as in POST /tickets') }),
    output: BatchSchema,
  }),
  getTicket: byPlayers('GET /tickets/{ticket_id}', {
    summary: 'Read a ticket; with `wait`, as soon as it has changed',
    input: z.strictObject({
      ticket_id: id,
      wait: queryInteger(0, LONGEST_WAIT)
        .optional()
        .describe('Seconds to wait at most until the ticket has another version; default 0'),
      version: version.optional().describe('The version that one knows; default: the present one'),
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
      'The ticket whenever it has changed, as server-sent events called `ticket`; ' +
      'the last is HOST_ASSIGNED or CANCELLED, or says `ended`',
    input: z.strictObject({
      ticket_id: id,
      until,
      lastEventId: version.optional().describe('The version that one knows, as browsers send it'),
      token: z
        .string()
        .max(LONGEST_TOKEN)
        .optional()
        .describe('Of POST /tickets/{ticket_id}/stream-token, instead of the header'),
    }),
    output: TicketSchema,
    success: [200, 204],
    headers: { lastEventId: 'last-event-id' },
  }),
  createStreamToken: byPlayers('POST /tickets/{ticket_id}/stream-token', {
    summary:
      'A token for browsers, which send no header with an EventSource: good for the events of this ticket, for minutes',
    input: ticketKey,
    output: StreamTokenSchema,
    success: [201],
  }),
  explainTicket: byPlayers('GET /tickets/{ticket_id}/explain', {
    summary: 'Why a ticket still waits',
    input: ticketKey,
    output: ExplanationSchema,
  }),
  acceptMatch: byPlayers('POST /tickets/{ticket_id}/accept', {
    summary: 'Accept the match that was found',
    input: ticketKey,
    output: TicketSchema,
    errors: [409],
  }),
  declineMatch: byPlayers('POST /tickets/{ticket_id}/decline', {
    summary: 'Decline the match that was found',
    input: ticketKey,
    output: TicketSchema,
    errors: [409],
  }),

  me: byOwnToken('GET /me', {
    summary: 'What one is in now: tickets, groups, running matches with where to connect, lobbies',
    input: z.strictObject({}),
    output: PlayerSchema,
  }),
  findPlayer: byBackends('GET /players/{player_id}', {
    summary: 'What a player is in now, by a backend',
    input: z.strictObject({ player_id: id }),
    output: PlayerSchema,
    anyId: true,
  }),

  createParty: byBackends('POST /group-tickets', {
    summary: 'Let a party wait for a match together, by a backend',
    input: PartyBody,
    output: PartySchema,
    success: [201],
    errors: [409],
  }),

  createGroup: byPlayers('POST /groups', {
    summary: 'Make a group, and be its first member; alone and ready, the search starts at once',
    input: MemberBody,
    output: MemberSchema,
    success: [201],
    errors: [403, 409],
  }),
  getGroup: byPlayers('GET /groups/{group_id}', {
    summary: 'Read a group that one is in',
    input: groupKey,
    output: GroupSchema,
  }),
  deleteGroup: byPlayers('DELETE /groups/{group_id}', {
    summary: 'End a group, by its owner, and cancel its search; 409 once the players know where to connect',
    input: groupKey,
    errors: [403, 409],
  }),
  joinGroup: byPlayers('POST /groups/{group_id}/members', {
    summary: 'Join a group; the search starts when all members are ready, and nobody joins after',
    input: z.strictObject({ group_id: id, ...MemberBody.shape }),
    output: MemberSchema,
    success: [201],
    errors: [403, 409],
  }),
  getMember: byPlayers('GET /groups/{group_id}/members/{member_id}', {
    summary: 'Read one’s own place in a group',
    input: memberKey,
    output: MemberSchema,
  }),
  setReady: byPlayers('PATCH /groups/{group_id}/members/{member_id}', {
    summary: 'Say whether one is ready',
    input: memberKey.extend({ is_ready: z.boolean() }),
    output: MemberSchema,
    errors: [409],
  }),
  leaveGroup: byPlayers('DELETE /groups/{group_id}/members/{member_id}', {
    summary: 'Leave a group, or be taken out by its owner; once it searches, this cancels its search',
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
    summary: 'These players do not play any more, by the match’s server; when nobody is left, the server is stopped',
    input: z.strictObject({ match_id: id, player_ids: z.array(id).min(1).max(500) }),
  }),
  findInMatch: byMatchServers('GET /matches/{match_id}/players/{player_id}', {
    summary: 'Whether a player may join the server of a match now: the server calls this when a client connects',
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
    summary: 'A match’s server says that players may come: its token is MM_MATCH_SECRET, the match its MM_MATCH_ID',
    input: z.strictObject({ match_id: id }),
    errors: [403],
  }),

  inspectTickets: byBackends('GET /inspect/tickets', {
    summary: 'What waits, by a backend, where this is switched on',
    input: z.strictObject({ limit: queryInteger(0, 1000).optional().describe('Tickets shown at most; default 100') }),
    output: TicketsInspectedSchema,
    errors: [404],
  }),
  inspectMatches: byBackends('GET /inspect/matches', {
    summary: 'Matches of which a server exists or may exist, by a backend, where this is switched on',
    input: z.strictObject({}),
    output: MatchesInspectedSchema,
    errors: [404],
  }),

  inspectServers: byBackends('GET /inspect/servers', {
    summary: 'Game servers that have registered, by a backend, where this is switched on',
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
  enrolments: 'Keys with which servers on machines of your own came; for backends.',
  pools: 'Pools of servers, and servers that players start.',
  matches: 'Matches that run, and private matches; for backends and game servers.',
  'server-ready': 'A game server says that it is ready.',
  inspect: 'Queues, tickets, matches and servers as they are; for backends.',
  'openapi.json': 'This document.',
}
