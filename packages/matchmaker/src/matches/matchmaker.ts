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

/** A player's tickets, and the player's running match if no known ticket belongs to it. */
export interface FoundPlayer {
  /** The player's searching tickets and those with a match that the player is still in, oldest first. */
  readonly tickets: readonly Ticket[]
  /** A running match of the player without a known ticket. An earlier process made it. */
  readonly match?: PlayedMatch | undefined
}

/** The searching tickets that have waited longest. */
export interface LongestWaiting {
  /** Number of all searching tickets. */
  readonly total: number
  /** The tickets that have waited longest, the longest wait first. */
  readonly tickets: readonly Ticket[]
}

/** Why a ticket still waits: plain data that reveals nothing about other players. */
export interface TicketExplanation {
  readonly ticketId: string
  /** The reason in one English sentence. */
  readonly summary: string
  /** Milliseconds that the ticket has waited. */
  readonly waitedMs: number
  /** What the ticket waits for; undefined unless it is SEARCHING. */
  readonly waitingFor: WaitingFor | undefined
  /**
   * Where the match's server is requested, if a latency rule chose the place. It holds latencies of single players, so
   * do not show it to players.
   */
  readonly placement?: Placement | undefined
  /** The server of the ticket's match; undefined while the ticket has no match or the match no server. */
  readonly server?: TakenServer | undefined
  /** One explanation for each queue in whose pool the ticket is. */
  readonly queues: readonly Explanation[]
}

/** How a match gets its server. */
export interface TakenServer {
  /** True if the server already ran when the match took it. False if it starts for the match. */
  readonly warm: boolean
  /** Milliseconds since the match took or requested the server; undefined if an earlier process took it from a pool. */
  readonly forMs: number | undefined
}

export interface Matchmaker extends ResultCommands, EnrolmentCommands {
  /**
   * Creates a ticket, whose players then wait for a match. Repeating a call with the `id` of a ticket of the same
   * queues and players returns that ticket.
   * @throws {InvalidTicket} naming the field; {UnknownQueue}; {PlayerBusy} naming the other ticket; {PlayerPlaying}
   *   naming the match; {PlayerOverLimit}; {PlayerCoolingDown}; {Unavailable} if the store cannot be written, or has
   *   not been read yet: nothing was created; {MatchmakerClosed}
   */
  createTicket(input: TicketInput): Ticket
  /**
   * Creates several tickets in order. One refused input does not prevent the others.
   * @throws {MatchmakerClosed}
   */
  createTickets(inputs: readonly TicketInput[]): readonly TicketResult[]
  /**
   * Returns a function that tells which facts a queue lets players state about themselves, for the ticket API. Its
   * argument is the name of an attribute, or `roles`, `avoid` or `latencies`. Undefined if there is no such queue.
   */
  playerMayState(queue: string): PlayerMayState | undefined
  /**
   * True if a rule of the queue reads players' latencies. The ticket API estimates missing latencies only then. False
   * if there is no such queue.
   */
  readsLatencies(queue: string): boolean
  /** Returns the maximum number of players in a party of this queue; undefined if there is no such queue. */
  largestParty(queue: string): number | undefined
  /**
   * Returns how many milliseconds clients of a queue's tickets may be away; undefined without `presence`, or if there
   * is no such queue.
   */
  presenceWithinMs(queue: string): number | undefined
  /** Returns the names of the queues, in the order of their definition. */
  queueNames(): readonly string[]
  /**
   * Returns a ticket. Undefined if there is no such ticket, or if it was cancelled or its match ended more than
   * `endedTicketTtlMs` ago.
   */
  getTicket(id: string): Ticket | undefined
  /** Returns a player's waiting tickets and running matches. */
  findPlayer(playerId: string): FoundPlayer
  /**
   * Resolves with the ticket once its version differs from the given one, or immediately if the ticket has ended. It
   * ends as CANCELLED or HOST_ASSIGNED; with `until: 'match-end'`, a HOST_ASSIGNED ticket ends with its match. Rejects
   * with `signal.reason`.
   * @throws {UnknownTicket}
   */
  waitForChange(ticketId: string, options: WaitOptions): Promise<Ticket>
  /**
   * Cancels a ticket and returns it. A ticket that is already cancelled does not change. If a match was found for the
   * ticket, the match dissolves and its server is stopped. The other tickets search again and keep their waiting time.
   * In a queue with `replaceLeavers`, the match continues and searches for replacements.
   * @param playerId the player of the ticket who cancels. In a queue with a `cooldown`, this counts against them if a
   *   match was found. Default: a backend's decision, which counts against nobody.
   * @throws {UnknownTicket}; {InvalidTicket} if the player is not in the ticket; {AlreadyAssigned} once the players
   *   have the address: use `playersLeft` or `stopMatch`
   */
  cancelTicket(id: string, playerId?: string): Ticket
  /**
   * Accepts the match that was found for a ticket, for one of its players or for all of them. Accepting again changes
   * nothing, even once the server is being deployed.
   * @param matchId the match that the players have seen. If the ticket is in another match by now, the call is refused:
   *   a repeated request must not answer the ticket's next match.
   * @throws {UnknownTicket}; {NothingToAccept}; {InvalidTicket} if the player is not in the ticket
   */
  acceptMatch(ticketId: string, playerId?: string, matchId?: string): Ticket
  /**
   * Declines the match: the ticket is cancelled as `declined`. In a queue with a `cooldown`, this counts against the
   * player, or against all players of the ticket. @throws like `acceptMatch`
   */
  declineMatch(ticketId: string, playerId?: string, matchId?: string): Ticket
  /**
   * Explains why a ticket still waits: which rules separate it from other tickets, and when these rules relax. A call
   * is cheap enough to be repeated every second for a ticket.
   * @throws {UnknownTicket}
   */
  explain(ticketId: string): TicketExplanation
  /**
   * Makes a match of given players, for backends: a private match, a tournament, a match with a friend. The queue's
   * rules do not apply. Each team gets an ordinary ticket: it can be read and followed, and its players get the
   * server's address. In a queue with acceptance, they must accept the match. While no more servers may be created, the
   * match waits with `waitingFor: 'servers'`, ahead of all matches that rules find. A failed deployment is repeated as
   * often as the queue allows. If one of its tickets ends before the server runs, the match dissolves, and the other
   * tickets are CANCELLED as `dissolved`. Nobody is replaced. Repeating a call with the same `id` and players returns
   * that match.
   * @throws {InvalidMatch} naming the field; {UnknownQueue}; {PlayerBusy} naming the ticket; {PlayerPlaying} naming the
   *   match; {PlayerOverLimit}; {MatchmakerClosed}. Nothing was created then.
   */
  createMatch(input: MatchInput): PrivateMatch
  /**
   * Removes players who have left a match. When the last player leaves, the match ends: its server is stopped, or kept
   * by a pool with `reuse`. If the server does not run yet, the players' tickets are cancelled, as by `cancelTicket`. A
   * party then leaves together, and the match dissolves or, with `replaceLeavers`, searches for replacements. A ticket
   * that has not accepted to join a running match yet is cancelled too. The change is made when this method returns.
   * The promise resolves once the change is stored and survives a restart. An ended match does not change.
   * @throws {UnknownMatch}; {InvalidInput} for no list; both synchronously. The promise rejects with {Unavailable} if
   *   the store cannot be written to; call it again then.
   */
  playersLeft(matchId: string, playerIds: readonly string[]): Promise<void>
  /**
   * Ends a match and stops its server, unless a pool with `reuse` keeps it. Players without the address search again,
   * except in a private match. A match that is already stopping or has ended recently does not change.
   * @throws {UnknownMatch}; {Unavailable} if the stop cannot be recorded now: the stop happens anyway, and the call may
   *   be repeated; {MatchmakerClosed} if `close` gave up before the stop was confirmed
   */
  stopMatch(matchId: string, options?: StopMatchOptions): Promise<void>
  /**
   * Creates a backfill, which searches for more players for a running match and sends them to its server. Repeating a
   * call with the `id` of a backfill of the same match returns that backfill. A backfill ends with its match.
   * @throws {InvalidBackfill} naming the field; {UnknownMatch}; {MatchNotRunning}; {BackfillExists} while another
   *   backfill of the match is open
   */
  createBackfill(input: BackfillInput): Backfill
  /** Returns a backfill. Undefined if there is no such backfill, or if it ended more than `endedTicketTtlMs` ago. */
  getBackfill(id: string): Backfill | undefined
  /**
   * Replaces the vacancies. @throws {UnknownBackfill}; {InvalidBackfill}; {BackfillVersionConflict} if the backfill has
   * changed since it was read, or is not open
   */
  updateBackfill(id: string, change: BackfillChange): Backfill
  /** Cancels a backfill. One that is not open does not change. @throws {UnknownBackfill} */
  cancelBackfill(id: string): Backfill
  /**
   * Records that clients are present, in queues with `presence`. The ticket API calls this for each client that reads a
   * ticket or waits for its changes. A program without the ticket API calls it itself. The caller must have checked
   * whose client it is. Unknown tickets and players, and queues without `presence`, are ignored.
   */
  notePresence(reports: readonly PresenceReport[]): void
  /**
   * Estimates how much longer a ticket waits for a match, from recent waits of tickets of its size and region in its
   * queues. Undefined if the ticket does not search, if its queues are paused, or if there is too little data. Data is
   * short after a start, with few players, and for tickets that have waited longest.
   */
  estimateWait(ticketId: string): WaitEstimate | undefined
  /**
   * Returns for each queue how many tickets and players wait, and how long a ticket created now will wait.
   * @param place location of the ticket's players. Default: the estimate is for all tickets of the queue.
   */
  estimateQueueWaits(place?: Coordinates): readonly QueueWait[]
  /** Returns the number of searching tickets and the `limit` tickets that have waited longest. */
  longestWaiting(limit: number): LongestWaiting
  /** Returns the searching tickets, to import them into another matchmaker, or into this one after a crash. */
  exportTickets(options?: ExportOptions): TicketSnapshot
  /**
   * Imports tickets with their waiting time. Tickets that exist here already do not change.
   * @throws {InvalidInput} if the input is not a snapshot; {MatchmakerClosed}
   */
  importTickets(snapshot: TicketSnapshot): Imported
  /** Returns a player's cooldowns that still count: not ended yet, or making the next one longer. */
  cooldownsOf(playerId: string): readonly Cooldown[]
  /** Deletes the cooldowns of a player, who may then wait again. */
  forgive(playerId: string): void
  /** Returns all cooldowns, to import them into another matchmaker, or into this one after a restart. */
  exportCooldowns(): readonly Cooldown[]
  /**
   * Imports cooldowns. If a player has two of the same name, the one that ends later stays.
   * @throws {InvalidInput} naming the field; then none is imported
   */
  importCooldowns(cooldowns: readonly Cooldown[]): void
  /**
   * Pauses a queue until `resumeQueue`: no matches are made of its tickets, and none of them joins a running match.
   * Tickets are still accepted and stay queued. Their waiting time counts and they expire as usual. A pause longer than
   * `expireAfterMs` therefore expires all of them. Existing matches continue. A ticket that waits in other queues too
   * may be matched there. Pausing again changes nothing. A pause survives `reconfigure` as long as the queue exists,
   * and with a store also a restart.
   * @throws {UnknownQueue}
   */
  pauseQueue(queue: string): void
  /** Ends the pause of a queue. Does nothing if it is not paused. @throws {UnknownQueue} */
  resumeQueue(queue: string): void
  /**
   * Pauses a pool, or ends its pause: no servers of it are kept warm, and idle ones are drained. Matches still get
   * servers. A pause survives `reconfigure`, and with a store also a restart.
   * @throws {NotFound}
   */
  pausePool(pool: string, paused: boolean): void
  /**
   * Replaces the queues, and the pools if they are given. Tickets keep their waiting time. A match keeps the queue that
   * found it. If a pool deploys another version afterwards, its old servers are drained once new ones are warm. Servers
   * of a removed pool are drained immediately.
   * @throws {InvalidQueue}; {InvalidInput} for a pool. Nothing changes then.
   */
  reconfigure(queues: readonly QueueDefinition[], given?: ReconfigureOptions): Reconfigured
  /**
   * Reads the status of a deployment that may have changed, e.g. after a webhook. The webhook's own statement is not
   * trusted.
   */
  hint(requestId: string): void
  /**
   * Handles the service's webhooks about deployments. Mount it for POST at the option `webhookUrl`. The path names the
   * deployment and cannot be guessed. The body is not trusted: the status is read from the service. Never rejects.
   */
  webhook(request: Request): Promise<Response>
  /**
   * Records that the server of a match is ready for players, in queues whose probe is `registration`. The server finds
   * the secret in its variable MM_REGISTRATION_SECRET. Returns false for an unknown match or a wrong secret.
   */
  serverReady(matchId: string, secret: string): boolean
  /**
   * Records that a player connects to the server of a match, as the server reports: see `deploy.joinWithinMs`. Ignored
   * for players who are not in the match, and before the match is assigned. The server finds the secret in its variable
   * MM_MATCH_SECRET. Returns false for an unknown match or a wrong secret.
   */
  playerCame(matchId: string, secret: string, playerId: string): boolean
  /** True if any server of this process has the secret. Call it before reading a request's body. */
  isServerSecret(secret: string): boolean
  /** True for the secret of this match's server, from its variable MM_MATCH_SECRET. */
  isSecretOf(matchId: string, secret: string): boolean
  /**
   * Registers a game server by its token, MUSTER_SERVER_TOKEN, for `POST /servers` of the ticket API. Repeating the
   * call changes nothing. Another instance replaces the earlier one. `deployment`: request id of the process's
   * deployment, if the process knows it. If one create made several deployments, only one of them may register.
   * @throws {ServerGone} if the server is no longer wanted, or runs in another deployment than the one to which players
   *   are sent; {Unavailable} while that deployment is unknown or not stored: register again
   */
  registerServer(token: string, registration: ServerRegistration): Registered
  /**
   * Applies the whole state that a game server reports. Resolves with the server's orders once the store has recorded
   * what the report says about matches. Every report is complete, so lost, repeated and late reports do no harm.
   * @throws {InvalidInput} naming the field, for an impossible state: nothing changes; {ServerGone};
   *   {ServerNotRegistered} if the server must register first, e.g. after a restart of this process; {Unavailable} if
   *   the store cannot be written: report again
   */
  reportServer(token: string, report: ServerReport): Promise<ServerOrders>
  /**
   * Drains a game server: it gets no further match, and is stopped once its matches have ended. A server of one match
   * has the id of that match. Resolves once the store has recorded the drain, which then survives a restart. Repeating
   * the call changes nothing, even if the server is already gone.
   * @throws {UnknownServer}; {Unavailable} if the store cannot be written now: call it again
   */
  drainServer(serverId: string): Promise<void>
  /**
   * Stops a game server and ends its matches. Their players are then free to queue again. A match whose players were
   * not sent to the server yet gets another server. A server of one match has the id of that match. Resolves once the
   * store has recorded the stop, which a restart continues. Repeating the call changes nothing.
   * @throws {UnknownServer}; {Unavailable} if the store cannot be written now: call it again
   */
  stopServer(serverId: string): Promise<void>
  /**
   * Creates the token that proves to the game server who a player of a ticket is. The server checks it without a
   * request. Valid for five minutes. Give it to this player only. Undefined unless the ticket is HOST_ASSIGNED and its
   * match is not over.
   */
  joinToken(ticket: Ticket, playerId: string): string | undefined
  /** Returns the public keys that verify join tokens; none unless the option `joinTokens` has `EdDSA`. */
  joinKeys(): JoinKeySet
  /**
   * Resolves with the orders of a game server once their version differs from the given one, or after `waitMs`. A later
   * call for the same server ends this call, unless the later caller was already replaced by another process. Rejects
   * with `signal.reason`, or like `reportServer`.
   */
  waitForServerOrders(token: string, wait: OrdersWait): Promise<ServerOrders>
  /**
   * Converts a time that this matchmaker reports, such as `createdAt` of a ticket, to a date by the current wall clock.
   * The matchmaker's times advance evenly, so that waits are measured correctly. They differ from dates once somebody
   * sets the wall clock.
   * @param at epoch milliseconds as reported. Default: now.
   * @returns epoch milliseconds.
   */
  dateOf(at?: number): number
  /** Returns the settings by which servers are listed: the option `browser` with its defaults. */
  browserTerms(): Browser
  /**
   * Returns the changes since `known` in the list of servers that players may join, at most 1,000 servers a call.
   * Without `known`: the whole list.
   * @throws {Unavailable} after a restart, while servers are expected to register again: at most 25 s
   */
  listedServers(known?: ListKnown): ListChanges
  /**
   * Holds a seat on a listed server for each of the players, or for none of them. Players with a seat on this server
   * keep it, and its hold is renewed. Their seats on other servers are freed. A hold lasts for `browser.holdSeconds`;
   * see `followSeat`. Holds are kept in memory. After a restart, the same call holds a seat again.
   * @throws {UnknownServer}; {SeatRefused} by its `code`; {PlayerPlaying}; {PlayerCoolingDown} for a player who let
   *   three holds expire within five minutes; {Unavailable} for a server that is expected to register again
   */
  holdSeats(request: SeatRequest): SeatsGranted
  /**
   * Reads a seat for the client that follows it. The call renews the seat's hold and its join token.
   * @param playerId the player that the seat must belong to; undefined for any player
   * @throws {UnknownSeat}; {Unavailable} instead while servers are expected to register again
   */
  followSeat(seatId: string, playerId?: string): SeatGrant
  /** Frees a seat. @param playerId like `followSeat` @throws like `followSeat` and `startServer` */
  releaseSeat(seatId: string, playerId?: string): Promise<void>
  /** Returns the player's seat with a new join token; an empty list if the player has no seat. */
  seatsOf(playerId: string): readonly SeatGrant[]
  /**
   * Takes a server of a pool with `custom`, a warm one or a new one. The server then lists itself for players. Their
   * seats are `starting` until it is listed. Repeating the call for the same player returns the same start. Resolves
   * once the store has recorded the start, which a restart then continues.
   * @throws {InvalidInput} naming the field; {SeatRefused}: `too-many-servers`, `no-capacity`, `seat-held-elsewhere`;
   *   {PlayerPlaying}; {PlayerCoolingDown}; {Unavailable} if the store cannot be written now: call it again
   */
  startServer(request: StartRequest): Promise<SeatsGranted & { readonly serverId: string }>
  /** Subscribes a listener. Returns a function that unsubscribes it. A listener that throws affects nothing else. */
  on<Name extends EventName>(name: Name, listener: Listener<Name>): () => void
  /** Runs one round of matching. Resolves once the store has recorded the matches that need a server. */
  tick(): Promise<void>
  /**
   * Resolves when the whole store has been read. Until then, commands throw `Unavailable`. So do methods that return
   * tickets, players, matches or servers, because their answers are not known yet. Without a store, the promise
   * resolves immediately. Reading a failing store is retried every second, and `problem` reports the error. Rejects
   * with `signal.reason`.
   * @throws {MatchmakerClosed} if the matchmaker is closed first
   */
  ready(signal?: AbortSignal): Promise<void>
  /** Ticks every `tickMs` until `stop` or `close`. Starting twice changes nothing. */
  start(): void
  /** Stops ticking until `start`. Resolves when the last tick has ended. Tickets and servers do not change. */
  stop(): Promise<void>
  /**
   * Returns the state of queues, matches and servers, without addresses or secrets. It reads every ticket in one
   * synchronous call.
   */
  inspect(): Inspection
  /**
   * Starts a survey: it counts servers, and waiting players by place and time, a few tickets at a time. Unlike
   * `inspect`, it suits any number of tickets. @throws {InvalidInput} naming the option
   */
  survey(options?: SurveyOptions): Survey
  /**
   * Closes the matchmaker: it accepts no more tickets, cancels tickets without a server, and stops the servers that
   * were being deployed. Resolves when all stops are confirmed or the time is over, with the matches whose server may
   * still exist. Stop these servers by hand. With a store, everything is left unchanged for the next process instead.
   * @throws {InvalidInput} naming the option, also for `handOver` without a store: nothing changes then
   */
  close(options?: CloseOptions): Promise<readonly AllocationView[]>
}

export interface CloseOptions {
  /** Stops servers with players too. Default false: they keep running, and this process forgets them. */
  readonly stopServers?: boolean | undefined
  /**
   * True leaves tickets and matches to the next process, which continues them: nothing is cancelled or stopped.
   * Default: true with a store and without `stopServers`.
   */
  readonly handOver?: boolean | undefined
  /**
   * Milliseconds to wait for the confirmation of stops or, when handing over, for responses to creates. Default 60,000.
   */
  readonly timeoutMs?: number | undefined
}

export interface StopMatchOptions {
  /**
   * When the promise resolves. `recorded`: once the stop is in the store, so that it survives this process and is
   * carried out by any process over the same store. `stopped` (default): once the deployment service has confirmed the
   * stop.
   */
  readonly until?: 'recorded' | 'stopped' | undefined
}

/** Waiting tickets as plain JSON data. It holds players' addresses: protect it accordingly. */
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
  /** The seat of a ticket of a private match. */
  readonly privateSeat?: PrivateSeat | undefined
  /** The location of the ticket's players, if it is known. */
  readonly place?: Coordinates | undefined
}

export interface ExportOptions {
  /** True moves the tickets: they are cancelled here as `handed-over`. Default false: they keep waiting here too. */
  readonly take?: boolean | undefined
}

export interface Imported {
  readonly tickets: readonly Ticket[]
  /** Tickets that this matchmaker refused, e.g. because it has no such queue. */
  readonly refused: readonly { readonly ticket: ExportedTicket; readonly error: MusterError }[]
}

export interface Reconfigured {
  /**
   * Tickets that their changed queue refuses, or whose queue was removed. A ticket that waits in other queues too stays
   * there; any other is CANCELLED as `refused`.
   */
  readonly refused: readonly { readonly ticket: Ticket; readonly queue: string; readonly error: MusterError }[]
}

/** How many tickets and players wait in a queue, and for how long. */
export interface QueueWait {
  readonly queue: string
  /** Number of searching tickets, and of the players in them. A ticket that waits in several queues counts in each. */
  readonly tickets: number
  readonly players: number
  /** True if the queue is paused: its waits cannot be estimated. */
  readonly paused: boolean
  /** Estimated wait of a ticket that is created now; undefined if too few tickets were matched recently. */
  readonly estimate: WaitEstimate | undefined
}

/** The learned waits of a queue, as plain data for other processes. */
export interface LearnedWaits extends Omit<QueueWait, 'estimate'> {
  readonly curves: LearnedCurves
}
