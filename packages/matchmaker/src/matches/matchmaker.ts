import type { Coordinates, MusterError } from '@muster/core'
import type {
  AllocationView,
  Browser,
  EnrolmentCommands,
  JoinKeySet,
  ListChanges,
  ListKnown,
  OrdersWait,
  Placement,
  Player,
  Registered,
  SeatGrant,
  SeatRequest,
  SeatsGranted,
  ServerOrders,
  ServerRegistration,
  ServerReport,
  StartRequest,
} from '@muster/hosting/internal'
import type { EventName, Listener } from '../events.js'
import type { ReconfigureOptions } from '../options.js'
import type { Explanation, PlayerMayState, QueueDefinition } from '../queues/index.js'
import type {
  PlayedMatch,
  Backfill,
  BackfillChange,
  BackfillInput,
  PrivateSeat,
  Cooldown,
  MatchInput,
  PrivateMatch,
  PresenceReport,
  Ticket,
  TicketInput,
  WaitingFor,
  WaitOptions,
} from '../tickets/index.js'
import type { WaitEstimate, LearnedCurves } from '../wait-times/index.js'
import type { Inspection, ResultCommands } from './inspection.js'
import type { Survey, SurveyOptions } from './survey.js'

/** The result for one of several inputs: a ticket, or an error. */
export type TicketResult =
  | { readonly ticket: Ticket; readonly error?: undefined }
  /** The error that `createTicket` would have thrown. */
  | { readonly ticket?: undefined; readonly error: MusterError }

/** What a player is in. */
export interface FoundPlayer {
  /**
   * The player's tickets, oldest first: those that search, those for which a match is found, and those whose match runs
   * with the player in it.
   */
  readonly tickets: readonly Ticket[]
  /** A running match of the player whose tickets are not known, because an earlier process made it. */
  readonly match?: PlayedMatch | undefined
}

/** The searching tickets, as far as somebody looks at them. */
export interface LongestWaiting {
  /** Number of all that search. */
  readonly total: number
  /** The longest wait comes first. */
  readonly tickets: readonly Ticket[]
}

/** Why a ticket still waits: plain data, which tells nothing about other players. */
export interface TicketExplanation {
  readonly ticketId: string
  /** One sentence in English. */
  readonly summary: string
  /** Milliseconds. */
  readonly waitedMs: number
  /** What the ticket waits for; undefined unless it is SEARCHING. */
  readonly waitingFor: WaitingFor | undefined
  /**
   * Where the match's server is requested, if a latency rule chose the place. Not for players, because it holds the
   * latencies of single players.
   */
  readonly placement?: Placement | undefined
  /** The server that the ticket's match takes; undefined while it has no match, or the match no server. */
  readonly server?: TakenServer | undefined
  /** One explanation for each queue in whose pool the ticket is now. */
  readonly queues: readonly Explanation[]
}

/** How a match gets its server. */
export interface TakenServer {
  /** Whether the server ran already when the match took it; otherwise it starts for the match. */
  readonly warm: boolean
  /** Milliseconds since the match took it or asked for it; undefined if an earlier process took one of a pool. */
  readonly forMs: number | undefined
}

export interface Matchmaker extends ResultCommands, EnrolmentCommands {
  /**
   * Creates a ticket, whose players wait for a match. Repeating a call with the `id` of a ticket of the same queues and
   * players returns that ticket.
   * @throws {InvalidTicket} naming the field; {UnknownQueue}; {PlayerBusy} naming the other ticket; {PlayerPlaying}
   * naming the match; {PlayerOverLimit}; {PlayerCoolingDown}; {Unavailable} if the store cannot be written, or
   * what is stored has not been read yet: nothing was created; {MatchmakerClosed}
   */
  createTicket(input: TicketInput): Ticket
  /**
   * Creates several tickets, in order. An input that is refused does not keep the others from being created.
   * @throws {MatchmakerClosed}
   */
  createTickets(inputs: readonly TicketInput[]): readonly TicketResult[]
  /**
   * Returns what a queue lets players state about themselves, for the ticket API: called with the name of an attribute,
   * or with `roles`, `avoid` or `latencies`. Undefined if there is no such queue.
   */
  playerMayState(queue: string): PlayerMayState | undefined
  /**
   * Whether a rule of the queue reads the latencies of players, for the ticket API, which estimates missing ones only
   * then. False if there is no such queue.
   */
  readsLatencies(queue: string): boolean
  /** Players of the largest party that the queue takes; undefined if there is no such queue. */
  largestParty(queue: string): number | undefined
  /**
   * Milliseconds for which clients of a queue's tickets may be away, by its `presence`; undefined if it does not ask,
   * or if there is no such queue.
   */
  presenceWithinMs(queue: string): number | undefined
  /** The names of the queues, in the order of their definition. */
  queueNames(): readonly string[]
  /**
   * Undefined if there is no such ticket, or if it was cancelled or its match ended more than `endedTicketTtlMs` ago.
   */
  getTicket(id: string): Ticket | undefined
  /** Returns what a player is in, for as long as that lasts: tickets that wait, and matches that run. */
  findPlayer(playerId: string): FoundPlayer
  /**
   * Resolves with the ticket as soon as its version differs from the given one; at once if it differs already or the
   * ticket has ended: by default with HOST_ASSIGNED; with `until: 'match-end'` once it says `ended`. Rejects with the
   * reason of the signal.
   * @throws {UnknownTicket}
   */
  waitForChange(ticketId: string, options: WaitOptions): Promise<Ticket>
  /**
   * Cancels a ticket and returns it; a ticket that was cancelled before does not change. If a match was found for the
   * ticket, the match dissolves: the other tickets search again, keeping their waiting time, and the server is stopped.
   * In a queue with `replaceLeavers` the match continues, and others are looked for instead.
   * @param playerId the player of the ticket who wants that: in a queue with a `cooldown` it counts against them if a
   *   match was found. Default: it is your own decision, and counts against nobody.
   * @throws {UnknownTicket}; {InvalidTicket} if the player is not in the ticket; {AlreadyAssigned} once the
   *   players know where to connect: see `playersLeft` and `stopMatch`
   */
  cancelTicket(id: string, playerId?: string): Ticket
  /**
   * Accepts the match that was found for a ticket, for one of its players or for all of them. Accepting again changes
   * nothing.
   * @throws {UnknownTicket}; {NothingToAccept}; {InvalidTicket} if the player is not in the ticket
   */
  acceptMatch(ticketId: string, playerId?: string): Ticket
  /**
   * Declines the match: the ticket is cancelled as `declined`. In a queue with a `cooldown` that counts against the
   * player, or against all players of the ticket. @throws as `acceptMatch`
   */
  declineMatch(ticketId: string, playerId?: string): Ticket
  /**
   * Explains why a ticket still waits: which rules keep it from other tickets, and when these rules relax. Cheap enough
   * to be called every second for a ticket.
   * @throws {UnknownTicket}
   */
  explain(ticketId: string): TicketExplanation
  /**
   * Makes a match of given players at once, for backends: a private match, a tournament, a match with a friend. Each
   * team gets a ticket, which is like any other: it can be read and waited for, and its players accept the match if the
   * queue requires it, and get the server's address. While no more servers may be created, the match waits, with
   * `waitingFor: 'servers'`, before all matches that are found by rules. The queue's rules do not apply. If a ticket of
   * it ends before the server runs, the match dissolves, and the other tickets are CANCELLED as `dissolved`; nobody
   * replaces them. A failed deployment is repeated, as often as the queue allows. Repeating a call with the `id` of a
   * match of the same players returns that match.
   * @throws {InvalidMatch} naming the field; {UnknownQueue}; {PlayerBusy} naming the ticket; {PlayerPlaying} naming the
   *   match; {PlayerOverLimit}; {MatchmakerClosed}; and then nothing was created
   */
  createMatch(input: MatchInput): PrivateMatch
  /**
   * Removes players who have left a match. When nobody is left, the match's server is stopped. If the server does not
   * run yet, the players' tickets are cancelled, as by `cancelTicket`: a party leaves together, and the match dissolves
   * or, in a queue with `replaceLeavers`, others are looked for. The players have left when this returns; the promise
   * resolves when the store has recorded it, so that a restart knows it too. A match that has ended lately stays as
   * it is.
   * @throws {UnknownMatch} at once
   * The promise rejects with {Unavailable} if the store cannot be written to; call it again then.
   */
  playersLeft(matchId: string, playerIds: readonly string[]): Promise<void>
  /**
   * Ends a match and stops its server. Players who do not yet have the address search again. For a match that is being
   * stopped, or has ended lately, the call changes nothing and resolves like the first one.
   * @throws {UnknownMatch}; {Unavailable} if the stop cannot be recorded now: it is carried out anyway, and the call
   * may be repeated; {MatchmakerClosed} if `close` gave up before the stop was confirmed
   */
  stopMatch(matchId: string, options?: StopMatchOptions): Promise<void>
  /**
   * Creates a backfill, which searches for more players for a running match and sends them to its server as they are
   * found. Repeating a call with the `id` of a backfill of the same match returns that backfill. A backfill ends with
   * its match.
   * @throws {InvalidBackfill} naming the field; {UnknownMatch}; {MatchNotRunning}; {BackfillExists} while another
   * backfill of the match is open
   */
  createBackfill(input: BackfillInput): Backfill
  /** Undefined if there is no such backfill, or if it ended more than `endedTicketTtlMs` ago. */
  getBackfill(id: string): Backfill | undefined
  /**
   * @throws {UnknownBackfill}; {InvalidBackfill}; {BackfillVersionConflict} if the backfill has changed since, or is
   * not open
   */
  updateBackfill(id: string, change: BackfillChange): Backfill
  /** Cancels a backfill; a backfill that is not open does not change. @throws {UnknownBackfill} */
  cancelBackfill(id: string): Backfill
  /**
   * Notes that clients are there, in queues with `presence`. The ticket API does so for each client that reads a ticket
   * or waits for its changes; a program without it does so itself. The caller must have checked whose client it is.
   * Unknown tickets and players, and queues without `presence`, are ignored.
   */
  notePresence(reports: readonly PresenceReport[]): void
  /**
   * Estimates how much longer a ticket waits until a match is found for it, from how long tickets of its size and
   * region have waited lately in its queues. Undefined if it does not search, while its queues are paused, and where
   * too little was seen: shortly after a start, with few players, and for tickets that have waited longer than nearly
   * all others.
   */
  estimateWait(ticketId: string): WaitEstimate | undefined
  /**
   * Returns for each queue how many wait, and how long a ticket will wait that is created now.
   * @param place of the ticket's players. Default: what holds for all tickets of the queue.
   */
  estimateQueueWaits(place?: Coordinates): readonly QueueWait[]
  /** Returns the number of searching tickets, and those that have waited longest, at most `limit` of them. */
  longestWaiting(limit: number): LongestWaiting
  /** Returns the searching tickets, for `importTickets` of another matchmaker, or of this one after a crash. */
  exportTickets(options?: ExportOptions): TicketSnapshot
  /**
   * Takes tickets over, with their waiting time. Tickets that exist here already do not change.
   * @throws {InvalidInput} if it is no snapshot; {MatchmakerClosed}
   */
  importTickets(snapshot: TicketSnapshot): Imported
  /** The cooldowns of a player that are not forgotten yet: those under way, and those that make the next one longer. */
  cooldownsOf(playerId: string): readonly Cooldown[]
  /** Forgets the cooldowns of a player, who may wait again at once. */
  forgive(playerId: string): void
  /** Returns all cooldowns, for `importCooldowns` of another matchmaker, or of this one after a restart. */
  exportCooldowns(): readonly Cooldown[]
  /**
   * Takes cooldowns over. Of two of the same player and name, the one that ends later stays.
   * @throws {InvalidInput} naming the field, and none is taken over
   */
  importCooldowns(cooldowns: readonly Cooldown[]): void
  /**
   * Pauses a queue: no matches are made of its tickets, and none of them joins a running match, until `resumeQueue`.
   * Tickets are still accepted and stay queued. Their waiting time counts and they expire as usual, so all of them
   * expire in a pause longer than `expireAfterMs`. Matches that were found already continue. A ticket that waits in
   * other queues too may be matched there. Pausing again changes nothing. A pause outlasts `reconfigure` as long as the
   * queue is there, and a restart where there is a store.
   * @throws {UnknownQueue}
   */
  pauseQueue(queue: string): void
  /** Ends the pause of a queue; does nothing to one that is not paused. @throws {UnknownQueue} */
  resumeQueue(queue: string): void
  /**
   * Pauses a pool, or ends its pause: no servers of it are kept warm, and idle ones are drained. Matches still get
   * servers. A pause outlasts `reconfigure`, and a restart where there is a store.
   * @throws {NotFound}
   */
  pausePool(pool: string, paused: boolean): void
  /**
   * Replaces the queues, and the pools if they are given. Tickets keep waiting, with their waiting time; a match that
   * was found already keeps the queue that found it. Servers of a pool that deploys another version now are drained
   * once new ones are warm; those of a pool that is gone are drained at once.
   * @throws {InvalidQueue}; {InvalidInput} for a pool; and nothing changes
   */
  reconfigure(queues: readonly QueueDefinition[], given?: ReconfigureOptions): Reconfigured
  /** Notes that a deployment may have changed, as a webhook says. Its status is read: the claim is not trusted. */
  hint(requestId: string): void
  /**
   * Answers the service's calls about deployments: mount it for POST at the option `webhookUrl`. The path names the
   * deployment and cannot be guessed; the body is not trusted, the status is read from the service. Never rejects.
   */
  webhook(request: Request): Promise<Response>
  /**
   * Notes that the server of a match is ready for players, in queues whose probe is `registration`. The server finds
   * the secret in its variable MM_REGISTRATION_SECRET. Returns false for an unknown match and for a wrong secret.
   */
  serverReady(matchId: string, secret: string): boolean
  /**
   * Notes that a player connects to the server of a match, as the server says: see `deploy.joinWithinMs`. Players who
   * are not in the match, and those who come before it is assigned, do not count. The server finds the secret in its
   * variable MM_MATCH_SECRET. Returns false for an unknown match and for a wrong secret.
   */
  playerCame(matchId: string, secret: string, playerId: string): boolean
  /** Whether a server of this process has the secret. It does not say which; called before a request's body is read. */
  isServerSecret(secret: string): boolean
  /** Whether it is the secret of this match's server, from its variable MM_MATCH_SECRET. */
  isSecretOf(matchId: string, secret: string): boolean
  /**
   * Registers a game server by its token, MUSTER_SERVER_TOKEN, for `POST /servers` of the ticket API. The same again
   * changes nothing. Another instance replaces the one before. `deployment`: the request id of the deployment in which
   * the process runs, where it knows that. Of several deployments that one create made, only one may register.
   * @throws {ServerGone} if the server is not wanted any more, or runs in another deployment than the one to which
   *   players are sent; {Unavailable} while it is not known, or not stored, which one that is: register again
   */
  registerServer(token: string, registration: ServerRegistration): Registered
  /**
   * Takes the whole state of a game server at once, and resolves with what it is to do once the store has recorded what
   * it says of matches. States are levels: a report that is lost, repeated or late does no harm.
   * @throws {InvalidInput} naming the field, for a state that cannot be: nothing changes; {ServerGone};
   *   {ServerNotRegistered} if it has to register first, for instance after a restart of this process; {Unavailable} if
   *   the store cannot be written: report again
   */
  reportServer(token: string, report: ServerReport): Promise<ServerOrders>
  /**
   * From now on a game server takes no match; those on it are played to their end, then it is stopped. The server of
   * one match has the id of its match. Resolves when the store has recorded it, so that a restart keeps it so.
   * Repeating the call changes nothing, also for a server that is gone lately.
   * @throws {UnknownServer}; {Unavailable} if the store cannot be written now: call it again
   */
  drainServer(serverId: string): Promise<void>
  /**
   * Stops a game server at once, with the matches on it: their players are free. The players of a match that it was to
   * serve, and were not sent to it yet, get another server. The server of one match has the id of its match. Resolves
   * when the store has recorded it; a restart goes on with the stop. Repeating the call changes nothing.
   * @throws {UnknownServer}; {Unavailable} if the store cannot be written now: call it again
   */
  stopServer(serverId: string): Promise<void>
  /**
   * Makes the token by which a player of a ticket proves to the game server who they are, which checks it without a
   * request. Valid for five minutes; give it to this player alone. Undefined unless the ticket is HOST_ASSIGNED and its
   * match is not over.
   */
  joinToken(ticket: Ticket, playerId: string): string | undefined
  /** The public keys that check join tokens; none unless the option `joinTokens` says `EdDSA`. */
  joinKeys(): JoinKeySet
  /**
   * Resolves with the orders of a game server once their version differs, or after `waitMs`. A later call for the same
   * server ends an earlier one, unless another process of the server has replaced the later one. Rejects with the
   * signal's reason, or as `reportServer`.
   */
  waitForServerOrders(token: string, wait: OrdersWait): Promise<ServerOrders>
  /**
   * The date of a time that this matchmaker states, such as the `createdAt` of a ticket, by the wall clock as it is set
   * now. Times pass evenly, so that waits are right, and differ from the date once the wall clock was set.
   * @param at epoch milliseconds as stated. Default: now.
   * @returns epoch milliseconds.
   */
  dateOf(at?: number): number
  /** How servers are listed: the option `browser`, with defaults. */
  browserTerms(): Browser
  /**
   * What has changed in the list of servers that players may join since `known`, a thousand servers at a time;
   * undefined: the whole list.
   * @throws {Unavailable} after a restart, for as long as servers are expected to register again: 25 s at most
   */
  listedServers(known?: ListKnown): ListChanges
  /**
   * Holds a seat on a listed server for each of the players, or for none. Those who have one there get the same again,
   * renewed; seats that they hold elsewhere are freed. A hold lasts for `browser.holdSeconds`; see `followSeat`. It is
   * kept in memory: a restart forgets it, and the same call holds a seat again.
   * @throws {UnknownServer}; {SeatRefused} by its `code`; {PlayerPlaying}; {PlayerCoolingDown} for a player who let
   *   three holds expire within five minutes; {Unavailable} for a server that is expected to register again
   */
  holdSeats(request: SeatRequest): SeatsGranted
  /**
   * Reads a seat, as the client does that follows it: its hold lasts longer, and its join token is fresh.
   * @param playerId whose seat it has to be; undefined: anybody's
   * @throws {UnknownSeat}; {Unavailable} in place of it for as long as servers are expected to register again
   */
  followSeat(seatId: string, playerId?: string): SeatGrant
  /** Gives a seat back. @param playerId as of `followSeat` @throws as `followSeat`, and as `startServer` */
  releaseSeat(seatId: string, playerId?: string): Promise<void>
  /** The seat of a player, with a fresh join token: none or one. */
  seatsOf(playerId: string): readonly SeatGrant[]
  /**
   * Has a server of a pool with `custom` list itself for players, a warm one or one that is created. Their seats are
   * `starting` until it does. The same player again gets the same start. Resolves once the store has recorded it, so
   * that a restart goes on with it.
   * @throws {InvalidInput} naming the field; {SeatRefused}: `too-many-servers`, `no-capacity`, `seat-held-elsewhere`;
   *   {PlayerPlaying}; {PlayerCoolingDown}; {Unavailable} if the store cannot be written now: call it again
   */
  startServer(request: StartRequest): Promise<SeatsGranted & { readonly serverId: string }>
  /** Subscribes a listener. The returned function ends that. A listener that throws affects nothing else. */
  on<Name extends EventName>(name: Name, listener: Listener<Name>): () => void
  /** Runs one round of grouping, as `start` does at intervals. Resolves when its matches' intents are in the store. */
  tick(): Promise<void>
  /**
   * Resolves when all that is stored has been read. With a store, commands throw `Unavailable` before, and so do
   * methods that tell of tickets, players, matches or servers, because what they would say is not known yet. Without
   * one there is nothing to read. A store that cannot be read is tried again every second, and `problem` tells why.
   * Rejects with the reason of the signal.
   * @throws {MatchmakerClosed} if the matchmaker is closed first
   */
  ready(signal?: AbortSignal): Promise<void>
  /** Ticks every `tickMs` until `stop` or `close`. Starting again changes nothing. */
  start(): void
  /** Stops ticking until `start`; resolves when the last tick has ended. Tickets and servers do not change. */
  stop(): Promise<void>
  /** Returns the state of queues, matches and servers, without addresses or secrets. Looks at every ticket at once. */
  inspect(): Inspection
  /**
   * Begins to count who waits where and for how long, and which servers there are, a few tickets at a time. Unlike
   * `inspect`, it suits any number of tickets. @throws {InvalidInput} naming the option
   */
  survey(options?: SurveyOptions): Survey
  /**
   * Closes the matchmaker: takes no more tickets, cancels those that have no server, and stops the servers that were
   * being deployed. Resolves when all stops are confirmed or the time is over, with the matches whose server may still
   * exist: stop these by hand. With a store, everything is left unchanged to the next process instead.
   * @throws {InvalidInput} if it should hand over without a store
   */
  close(options?: CloseOptions): Promise<readonly AllocationView[]>
}

export interface CloseOptions {
  /**
   * Whether servers on which people play are stopped too. Default false: they run on, and this process forgets them.
   */
  readonly stopServers?: boolean | undefined
  /**
   * Whether tickets and matches are left to the next process, which continues them: then nothing is cancelled or
   * stopped. Default: true with a store and without `stopServers`.
   */
  readonly handOver?: boolean | undefined
  /** Milliseconds to wait for stops to be confirmed or, when handing over, for answers to creates. Default 60,000. */
  readonly timeoutMs?: number | undefined
}

export interface StopMatchOptions {
  /**
   * When the promise resolves. `recorded`: once the store has the stop, so that it outlives this process; whatever
   * becomes of it, a process over the same store carries it out. `stopped` (default): once the deployment service has
   * confirmed the stop.
   */
  readonly until?: 'recorded' | 'stopped' | undefined
}

/** Waiting tickets as plain data, for JSON. It holds players' addresses: store it as carefully as those. */
export interface TicketSnapshot {
  readonly format: 'muster-tickets-1'
  /** Epoch milliseconds. */
  readonly exportedAt: number
  readonly tickets: readonly ExportedTicket[]
}

export interface ExportedTicket {
  readonly id: string
  readonly queues: readonly string[]
  readonly players: readonly Player[]
  readonly priority: number
  /** Epoch milliseconds from which the ticket's waiting time is counted. */
  readonly createdAt: number
  readonly attempts: number
  /** Of a ticket of a private match: its place in that. */
  readonly privateSeat?: PrivateSeat | undefined
  /** The place of the ticket's players, if it was found already. */
  readonly place?: Coordinates | undefined
}

export interface ExportOptions {
  /** Whether the tickets move, and are cancelled here as `handed-over`. Default false: they keep waiting here too. */
  readonly take?: boolean | undefined
}

export interface Imported {
  readonly tickets: readonly Ticket[]
  /** Tickets that this matchmaker refused, e.g. because it has no such queue. */
  readonly refused: readonly { readonly ticket: ExportedTicket; readonly error: MusterError }[]
}

export interface Reconfigured {
  /**
   * Tickets that their new queue refuses, or whose queue is gone. A ticket that waits in other queues too stays there;
   * any other is CANCELLED as `refused`.
   */
  readonly refused: readonly { readonly ticket: Ticket; readonly queue: string; readonly error: MusterError }[]
}

/** How many wait in a queue, and for how long. */
export interface QueueWait {
  readonly queue: string
  /** Tickets that search, and the players in them. A ticket that waits in several queues counts in each. */
  readonly tickets: number
  readonly players: number
  /** Whether the queue is paused, so that nobody knows how long tickets wait. */
  readonly paused: boolean
  /** For a ticket that is created now; undefined where too few were matched lately. */
  readonly estimate: WaitEstimate | undefined
}

/** What a queue has learned of its waits, as plain data for other processes. */
export interface LearnedWaits extends Omit<QueueWait, 'estimate'> {
  readonly curves: LearnedCurves
}
