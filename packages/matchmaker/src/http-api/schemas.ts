// pure: the answers of the ticket API as zod schemas, and the types of their views
import { z } from 'zod'

const text = z.string()
const whole = z.int().min(0)
const maybeText = text.nullable()
const maybeNumber = z.number().nullable()
const isoTime = text.meta({ format: 'date-time' })
const status = z.enum(['SEARCHING', 'MATCH_FOUND', 'HOST_ASSIGNED', 'CANCELLED'])
const groupStatus = z.enum(['FORMING', 'SEARCHING', 'MATCH_FOUND', 'HOST_ASSIGNED', 'CANCELLED'])

const waitingFor = z.enum(['location', 'players', 'retry', 'servers', 'other-ticket'])

const location = z.object({
  city: maybeText,
  country: maybeText,
  continent: maybeText,
  administrative_division: maybeText,
  timezone: maybeText,
  latitude: maybeNumber,
  longitude: maybeNumber,
})

/**
 * Where to connect. The names and the shape are those that existing game clients read (public fact). `promised` is
 * Muster's addition.
 */
export type AssignmentView = z.output<typeof Assignment>
export const Assignment = z
  .object({
    fqdn: text.describe('Host name of the server, or its address if it has none'),
    public_ip: maybeText,
    ports: z.record(
      text,
      z.object({ internal: maybeNumber, external: maybeNumber, link: maybeText, protocol: maybeText }),
    ),
    location: location.nullable(),
    promised: z
      .object({
        beacon: text.describe('Name of the ping beacon for which the server was requested'),
        latency_ms: maybeNumber.describe('Milliseconds that no player’s round trip to the beacon exceeds'),
      })
      .nullable()
      .describe('The latency that the latency rule of the queue ensures, if the queue has one'),
    join_token: text
      .optional()
      .describe('In the ticket of one player: proves to the game server who they are, for five minutes'),
  })
  .meta({ id: 'Assignment' })

/** Estimated time from now until a match is found. */
export type EstimatedWaitView = z.output<typeof EstimatedWait>
const EstimatedWait = z
  .object({
    p50_seconds: z.number().describe('Half of such tickets wait no longer until a match is found'),
    p90_seconds: maybeNumber.describe('Nine of ten wait no longer; null if there is too little data'),
  })
  .meta({ id: 'EstimatedWait' })

/**
 * The ticket of one player. Existing game clients read the keys up to `assignment` (public fact). Muster adds the
 * others.
 */
export type TicketView = z.output<typeof TicketSchema>
export const TicketSchema = z
  .object({
    id: text,
    profile: text,
    created_at: isoTime,
    status,
    group_id: text.describe('The same for all players of a party'),
    team_id: maybeText,
    match_id: maybeText,
    assignment: Assignment.nullable(),
    player_id: text,
    version: z.int().min(1).describe('Grows with every change'),
    profiles: z.array(text).optional().describe('The profiles of a ticket that waits in several'),
    waiting_for: waitingFor.optional(),
    acceptance: z
      .object({ until: isoTime, accepted: z.boolean() })
      .optional()
      .describe('While the match awaits acceptance'),
    cancel_reason: z
      .enum([
        'cancelled',
        'expired',
        'attempts',
        'closed',
        'declined',
        'not-accepted',
        'elsewhere',
        'absent',
        'refused',
        'dissolved',
        'handed-over',
      ])
      .optional(),
    ended: z
      .object({ reason: z.enum(['match-over', 'server-lost', 'nobody-joined']), at: isoTime })
      .optional()
      .describe('When HOST_ASSIGNED, how its match ended: `server-lost` by a crash, `nobody-joined` if no player came'),
    estimated_wait: EstimatedWait.nullable()
      .optional()
      .describe('While the ticket searches: its expected further wait; null if there is too little data'),
  })
  .meta({ id: 'Ticket' })

/** A queue as players see it before they wait in it. */
export type QueueWaitView = z.output<typeof QueueWait>
const QueueWait = z.object({
  profile: text.describe('Name of the queue'),
  tickets_waiting: whole.describe('Players see a step, rounded down'),
  players_waiting: whole.describe('Players see a step, rounded down'),
  paused: z.boolean().describe('Whether the queue is paused and makes no matches'),
  estimated_wait: EstimatedWait.nullable().describe('For a new ticket; null if there is too little data'),
})

export const QueuesSchema = z.object({ queues: z.array(QueueWait) })

const ms = z.number().describe('Milliseconds')

export type ExplanationView = z.output<typeof ExplanationSchema>
export const ExplanationSchema = z
  .object({
    ticket_id: text,
    summary: text.describe('One sentence in English'),
    waited_ms: ms,
    waiting_for: waitingFor.optional().describe('While the ticket searches'),
    server: z
      .object({
        warm: z
          .boolean()
          .describe('True if the server ran already when the match took it, false if it starts for the match'),
        for_ms: ms.optional().describe('Milliseconds since the match took or requested the server'),
      })
      .optional()
      .describe('The server of the ticket’s match'),
    queues: z.array(
      z.object({
        queue: text,
        paused: z.boolean().optional().describe('While the queue is paused'),
        summary: text,
        waited_ms: ms,
        waiting: whole.describe('Other tickets in the queue; players see a step, rounded down'),
        others: whole.describe('The nearest other tickets, which were checked; players see the same as in waiting'),
        compatible: whole.optional().describe('To backends: how many of them could be in a match with this ticket now'),
        rules: z
          .array(z.object({ rule: text, lets: whole.describe('How many of the other tickets this rule alone allows') }))
          .optional()
          .describe('To backends'),
        blocking: text.optional().describe('To backends: the rule that blocks the most tickets'),
        nearest: z
          .object({
            rule: text,
            value: z.number(),
            limit: z.number(),
            gap: z.number(),
            unit: z.enum(['km', 'ms']).optional(),
          })
          .optional()
          .describe('To backends: the nearest miss among the other tickets'),
        lacks: whole.optional().describe('To backends: how many more players are needed'),
        target_wait_ms: ms.optional().describe('To backends: the target wait, if the queue has targetWaitMs'),
        ahead_ms: z
          .number()
          .optional()
          .describe(
            'To backends: with a target wait, by how much its limits are ahead of its wait, or behind if negative',
          ),
        next: z
          .object({
            in_ms: ms,
            changes: z.array(
              z.object({ rule: text.optional(), from: z.number().optional(), to: z.number().optional() }),
            ),
          })
          .optional()
          .describe('The next relaxation'),
      }),
    ),
  })
  .meta({ id: 'Explanation' })

export const PartySchema = z.object({
  player_tickets: z.array(TicketSchema).describe('One for each player, in the order of the request'),
})

/** A match whose players were given. */
export type PrivateMatchView = z.output<typeof PrivateMatchSchema>
export const PrivateMatchSchema = z
  .object({
    id: text,
    profile: text,
    match_id: maybeText.describe('Once the match gets a server; another id after a failed deployment'),
    player_tickets: z.array(TicketSchema).describe('One for each player, in the order of the request'),
  })
  .meta({ id: 'PrivateMatch' })

/** The result for one ticket of several. */
export type BatchItem = z.output<typeof BatchItem>
const BatchItem = z.union([z.object({ ticket: TicketSchema }), z.object({ error: z.record(text, z.unknown()) })])

export const BatchSchema = z.object({
  results: z.array(BatchItem).describe('For each ticket of the request, in order: the ticket, or the problem document'),
})

export const StreamTokenSchema = z.object({
  token: text,
  url: text.describe('Path and query for `new EventSource`, with the token'),
  expires_at: isoTime.describe('When the token expires; an open stream continues'),
})

const memberKeys = { team_id: maybeText, assignment: Assignment.nullable() }

/**
 * A member's own place in a group. The status is FORMING (our choice) until all members are ready; then it is the
 * status of their ticket. Existing game clients read all these keys except `match_id` (public fact).
 */
export type MemberView = z.output<typeof MemberSchema>
export const MemberSchema = z
  .object({
    member_id: text,
    group_id: text,
    is_ready: z.boolean(),
    status: groupStatus,
    ticket_id: maybeText,
    match_id: maybeText,
    ...memberKeys,
  })
  .meta({ id: 'Member' })

/** A group as its members see it. Existing game clients read the keys up to `assignment` (public fact). */
export type GroupView = z.output<typeof GroupSchema>
export const GroupSchema = z
  .object({
    status: groupStatus,
    ...memberKeys,
    group_id: text,
    profile: text,
    members: z.array(z.object({ player_id: text, is_ready: z.boolean() })).describe('The first is the owner'),
  })
  .meta({ id: 'Group' })

/** A running match, and where its players connect. */
export type RunningMatchView = z.output<typeof RunningMatch>
const RunningMatch = z.object({
  match_id: text,
  profile: text,
  team_id: maybeText,
  ticket_id: maybeText.describe('null if it is unknown, e.g. after a restart'),
  assignment: Assignment.nullable().describe('Where to connect; null if it is unknown'),
})

/** A seat on a listed server. */
export type SeatView = z.output<typeof SeatSchema>
export const SeatSchema = z
  .object({
    seat_id: text,
    server_id: text,
    player_id: text,
    team_id: maybeText,
    status: z
      .enum(['starting', 'held', 'taken', 'away'])
      .describe('`starting`: its server starts; `held`: reserved; `taken`: the player is there; `away`: may return'),
    until: maybeText.describe('When a held seat expires unless it is read again, or when a start is abandoned'),
    assignment: Assignment.nullable().describe('Where to connect, with a fresh join token; null while it starts'),
  })
  .meta({ id: 'Seat' })

/** The player's tickets, groups, matches, lobbies, seats and cooldowns. */
export type PlayerView = z.output<typeof PlayerSchema>
export const PlayerSchema = z
  .object({
    player_id: text,
    tickets: z.array(TicketSchema).describe('Tickets that search, have found a match, or are in a running match'),
    groups: z.array(MemberSchema).describe('The group that the player is in, and the groups of the tickets'),
    matches: z.array(RunningMatch).describe('Matches that run with the player in it'),
    seats: z
      .array(SeatSchema)
      .optional()
      .describe('The seat on a listed server, with a fresh join token: none or one; left out while it cannot be read'),
    lobbies: z
      .array(z.object({ lobby_id: text, phase: text }))
      .nullable()
      .describe('null while they cannot be read'),
  })
  .meta({ id: 'Player' })

/** A backfill. Existing game servers read the keys up to `attributes` (public fact). Muster adds the others. */
export type BackfillView = z.output<typeof BackfillSchema>
export const BackfillSchema = z
  .object({
    id: text,
    profile: text,
    status: z
      .enum([...status.options, 'ASSIGNED'])
      .describe('A server that names its match by `tickets` gets `ASSIGNED` in place of HOST_ASSIGNED'),
    tickets: z.record(text, TicketSchema).describe('Tickets that joined the match by this backfill'),
    assigned_ticket: TicketSchema.nullable().describe('The first of these'),
    attributes: z.object({ assignment: Assignment.nullable() }),
    match_id: text,
    version: z.int().min(1),
    created_at: isoTime,
    teams: z.array(z.object({ name: text, slots: whole, players: z.array(text) })),
  })
  .meta({ id: 'Backfill' })

/** The ping beacons as clients read them (public fact). Clients report their latency to a beacon under its city. */
export type BeaconsView = z.output<typeof BeaconsSchema>
export const BeaconsSchema = z.object({
  count: whole,
  beacons: z.array(
    z.object({ fqdn: maybeText, public_ip: text, udp_port: whole.nullable(), tcp_port: whole.nullable(), location }),
  ),
})

export type CooldownView = z.output<typeof CooldownOfPlayer>
const CooldownOfPlayer = z.object({
  name: text.describe('The profile, or the name that several profiles share'),
  offences: whole.describe('Number of offences that still count'),
  until: isoTime.nullable().describe('End of the cooldown; null if there is none now'),
  forgotten_at: isoTime.describe('When no offence counts any more'),
})

export const CooldownsSchema = z.object({ player_id: text, cooldowns: z.array(CooldownOfPlayer) })

export type MonitorView = z.output<typeof MonitorSchema>
export const MonitorSchema = z.object({
  status: z.enum(['healthy', 'unhealthy']),
  healthy_components: whole,
  unhealthy_components: whole,
  message: text,
})

/** True if a player may join the server of a match. */
export type PlayerInMatchView = z.output<typeof PlayerInMatchSchema>
export const PlayerInMatchSchema = z
  .object({
    player_id: z.string(),
    is_expected: z.boolean().describe('Whether the player is in the match, and has not left it'),
    team_id: z.string().nullable(),
    ticket_id: z.string().nullable(),
  })
  .meta({ id: 'PlayerInMatch' })

export type PoolsView = z.output<typeof PoolsSchema>
export const PoolsSchema = z.object({
  pools: z.array(
    z.object({
      pool: text,
      place: text,
      paused: z.boolean().describe('Whether the pool is paused and keeps no servers warm'),
      wanted: whole.describe('Number of servers to keep warm now'),
      starting: whole,
      idle: whole.describe('Warm servers without a match'),
      playing: whole,
      draining: whole.describe('Servers that take no more matches'),
      asked: whole.describe('Matches that needed a server since the process started'),
      hits: whole.describe('How many of them found a warm server'),
      expected_hit: z
        .number()
        .nullable()
        .describe('Expected share of matches that find a warm server; null without matches, or with enrolled servers'),
      rate_per_hour: z.number().describe('Expected matches an hour'),
      came_last_hour: whole.describe('Matches that needed a server within the last hour'),
      boot_seconds: z.number().describe('From a create until the server registers, on average'),
      idle_hours: z.number().describe('Hours for which servers were idle since the process started'),
    }),
  ),
})

export type ResultsView = z.output<typeof ResultsSchema>
export const ResultsSchema = z.object({
  total: whole.describe('Results that were set aside; the oldest are listed, at most 1,000 and about 4 MiB'),
  results: z.array(
    z.object({
      match_id: text,
      profile: text,
      player_ids: z.array(text).describe('Players of the match'),
      ended_at: isoTime,
      set_aside_at: isoTime,
      reason: text.describe('The last answer of the backend'),
    }),
  ),
})

const targetWait = z.object({
  target_wait_ms: ms,
  head_start_ms: z.number().describe('How far limits are relaxed in advance in a region without recent tickets'),
  recent_p90_ms: z.number().optional().describe('Wait that nine of ten tickets do not exceed, over all regions'),
  regions: z.array(
    z.object({
      region: z.object({ latitude: z.number(), longitude: z.number() }).optional(),
      head_start_ms: z.number(),
      recent_p90_ms: z.number().optional(),
    }),
  ),
})

export const TicketsInspectedSchema = z.object({
  queues: z.array(
    z.object({
      name: text,
      paused: z.boolean(),
      searching: z
        .object({ location: whole, players: whole, retry: whole, servers: whole, other_ticket: whole })
        .describe('Searching tickets by what they wait for'),
      players: whole.describe('Players in searching tickets'),
      match_players: whole.describe('Players of the largest match'),
      longest_wait_ms: ms.describe('Milliseconds that the oldest searching ticket has waited'),
      matches_found: whole.describe('Matches that await acceptance, or a server'),
      searches_given_up: whole.describe('Searches that used up their search budget; each is repeated later'),
      target_wait: targetWait.optional().describe('How limits follow the target wait of the queue, if it has one'),
      backfills: whole,
      backfill_slots: whole,
    }),
  ),
  total: whole.describe('Tickets that wait'),
  tickets: z.array(TicketSchema).describe('The longest-waiting tickets, one entry for each player'),
})

export const MatchesInspectedSchema = z.object({
  matches: z.array(
    z.object({
      match_id: text,
      queue: text,
      tag: text.describe('Tag of the deployment at the service'),
      phase: z
        .enum(['creating', 'finding', 'retrying', 'starting', 'warming', 'running', 'stopping'])
        .describe('`finding`: the answer to its create was lost; `warming`: a pool server without a match'),
      stop_reason: maybeText.describe('Why its server is no longer needed; its players have left it by then'),
      pool: maybeText.describe('Pool, if this entry is a pool server and not a match'),
      found_at: isoTime,
      ticket_ids: z.array(text),
      player_ids: z.array(text),
      request_id: maybeText.describe('Id of the deployment, once it is known'),
      assignment: Assignment.nullable(),
      server_id: maybeText.describe('Id of the pool server, if the match is on one'),
    }),
  ),
})

export const ServersInspectedSchema = z.object({
  servers: z.array(
    z.object({
      id: text,
      state: text,
      pool: maybeText,
      place: maybeText,
      build: maybeText.describe('Build of the game, as reported'),
      matches: z.array(text).describe('Ids of the matches that the server serves or must serve'),
      matches_at_once: whole.describe('Maximum number of matches at a time'),
      matches_served: whole.describe('Number of matches that it got so far'),
      players_in: whole.describe('Players on the server, by its last report'),
      seats: whole.nullable().describe('Maximum number of players, as reported'),
      draining: maybeText.describe('Why the server takes no more matches'),
      request_id: maybeText,
      source: maybeText.describe('null: the deployment service; `enrolled`: Muster has not started the server'),
      enrolment_key: maybeText.describe('Id of the key with which the server enrolled'),
      registered_at: isoTime,
      silent_seconds: whole.describe('Seconds since the last report'),
    }),
  ),
})
