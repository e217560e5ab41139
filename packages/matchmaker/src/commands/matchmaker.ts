import type { Placement } from '../servers/records/allocation.js'
import type { MusterError } from '@muster/core'
import type { AllocationView } from '../servers/records/allocation.js'
import type { Backfill, BackfillChange, BackfillInput } from '../tickets/backfill.js'
import type { EventName, Listener } from '../events.js'
import type { Explanation } from '../queues/explain/explanation.js'
import type { ExportOptions, Imported, Reconfigured, TicketSnapshot } from './snapshot.js'
import type { Inspection } from './inspection.js'
import type { PlayerMayState } from '../queues/player-may-state.js'
import type { QueueDefinition } from '../queues/queue.js'
import type { Ticket, TicketInput, WaitingFor } from '../tickets/ticket.js'

export interface CloseOptions {
  /** Also stop the servers on which people play. Default false: they go on, and nobody follows them any more. */
  readonly stopServers?: boolean | undefined
  /** Milliseconds to wait for the service to confirm the stops. Default 60,000. */
  readonly timeoutMs?: number | undefined
}

/** What became of one of several inputs. */
export type TicketResult =
  | { readonly ticket: Ticket; readonly error?: undefined }
  /** As `createTicket` would have thrown it. */
  | { readonly ticket?: undefined; readonly error: MusterError }

export interface WaitOptions {
  /** That of the ticket as you know it. */
  readonly version: number
  readonly signal?: AbortSignal | undefined
}

/** Why a ticket still waits, as plain data without anything about other players. */
export interface TicketExplanation {
  readonly ticketId: string
  /** One sentence in English. */
  readonly summary: string
  /** Milliseconds. */
  readonly waitedMs: number
  /** While SEARCHING. */
  readonly waitingFor: WaitingFor | undefined
  /** Where the server of its match is asked for, if a latency rule chose the place. Not for players: it tells of single ones. */
  readonly placement?: Placement | undefined
  /** For each queue in whose pool it is now. */
  readonly queues: readonly Explanation[]
}

export interface Matchmaker {
  /**
   * Lets players wait for a match. With the id of an earlier ticket, of the same queues and players, that ticket.
   * @throws {InvalidTicket} naming the field; {UnknownQueue}; {PlayerBusy} naming the other ticket; {PlayerPlaying} naming the match; {PlayerOverLimit};
   *   {MatchmakerClosed}
   */
  createTicket(input: TicketInput): Ticket
  /** Each by itself, in order: those that cannot be created do not keep the others from it. @throws {MatchmakerClosed} */
  createTickets(inputs: readonly TicketInput[]): readonly TicketResult[]
  /**
   * What a queue believes of a player's own word, as the ticket API asks: of an attribute by its name, and of `roles`, `avoid`
   * and `latencies`. Undefined if there is no such queue.
   */
  playerMayState(queue: string): PlayerMayState | undefined
  /** Undefined if there is no such ticket, or it was cancelled, or its match was over, more than `keepEndedMs` ago. */
  getTicket(id: string): Ticket | undefined
  /**
   * Resolves with the ticket as soon as its version is another than the given one; at once if it is so already, or if
   * the ticket has ended. Rejects with the reason of the signal.
   * @throws {UnknownTicket}
   */
  waitForChange(ticketId: string, options: WaitOptions): Promise<Ticket>
  /**
   * Cancels a ticket, and gives it as it is then; one that was cancelled before stays as it is. Where its match is
   * found already, the match dissolves: the others search again, with their waiting time kept, and the server is
   * stopped. In a queue with `replaceLeavers` the match goes on, and others are looked for instead.
   * @throws {UnknownTicket}; {TooLate} once the players know where to connect: see `playersLeft` and `stopMatch`
   */
  cancelTicket(id: string): Ticket
  /**
   * Accepts the match that was found for a ticket, for one of its players or for all of them. Accepting twice is accepting once.
   * @throws {UnknownTicket}; {NothingToAccept}; {InvalidTicket} if the player is not in the ticket
   */
  acceptMatch(ticketId: string, playerId?: string): Ticket
  /** Declines it: the ticket is cancelled as `declined`. @throws as `acceptMatch` */
  declineMatch(ticketId: string, playerId?: string): Ticket
  /**
   * Why a ticket still waits: which rules keep it from whom, and when they give way. Cheap enough to be asked each second.
   * @throws {UnknownTicket}
   */
  explain(ticketId: string): TicketExplanation
  /**
   * These players do not play in a match any more. When nobody is left its server is stopped. Where it does not run yet,
   * their tickets are cancelled, as by `cancelTicket`: a party leaves together, and the match dissolves or, in a queue with
   * `replaceLeavers`, others are looked for.
   * @throws {UnknownMatch}
   */
  playersLeft(matchId: string, playerIds: readonly string[]): void
  /**
   * Ends a match and stops its server; resolves when the service has confirmed that. Players who were not told
   * where to connect yet search again.
   * @throws {UnknownMatch}; {MatchmakerClosed} if `close` gave up before the stop was confirmed
   */
  stopMatch(matchId: string): Promise<void>
  /**
   * Asks for more players for a running match; they are sent to its server as they are found. With the id of an earlier
   * one, of the same match, that one. The end of the match ends it.
   * @throws {InvalidBackfill} naming the field; {UnknownMatch}; {NotRunning}; {BackfillExists} while another one of the
   *   match is open
   */
  createBackfill(input: BackfillInput): Backfill
  /** Undefined if there is no such backfill, or it ended more than `keepEndedMs` ago. */
  getBackfill(id: string): Backfill | undefined
  /** @throws {UnknownBackfill}; {InvalidBackfill}; {StaleBackfill} if it has changed since, or is not open any more */
  updateBackfill(id: string, change: BackfillChange): Backfill
  /** One that is not open any more stays as it is. @throws {UnknownBackfill} */
  cancelBackfill(id: string): Backfill
  /** Tickets that search, to be given to `importTickets` of another matchmaker, or of this one after a crash. */
  exportTickets(options?: ExportOptions): TicketSnapshot
  /**
   * Takes tickets over, with their waiting time. Those that are here already are left as they are.
   * @throws {InvalidInput} if it is no snapshot; {MatchmakerClosed}
   */
  importTickets(snapshot: TicketSnapshot): Imported
  /**
   * Replaces the queues. Tickets go on waiting, with their waiting time kept; matches that are found already go on
   * under the queue that found them.
   * @throws {InvalidQueue}, and everything stays as it is
   */
  reconfigure(queues: readonly QueueDefinition[]): Reconfigured
  /** Something may have happened to a deployment, as a webhook says. Never believed, always looked up. */
  hint(requestId: string): void
  /**
   * Takes the service's calls about deployments, under the option `webhookUrl`: mount it there for POST. The path tells
   * whose it is, and cannot be guessed; what is said in it is looked up. Never rejects.
   */
  webhook(request: Request): Promise<Response>
  /**
   * The server of a match says that players may come: for queues whose probe is `registration`. The secret is in its
   * variable MM_REGISTRATION_SECRET. False for an unknown match, and for a wrong secret.
   */
  serverReady(matchId: string, secret: string): boolean
  /** Whether it is the secret of some server of this process, without saying of which: asked before a body is read. */
  isServerSecret(secret: string): boolean
  /** Gives a function that ends the subscription. A listener that fails disturbs nobody. */
  on<Name extends EventName>(name: Name, listener: Listener<Name>): () => void
  /** One round; `start` calls it. Resolves when the intents of its matches are in the journal. */
  tick(): Promise<void>
  /** Ticks every `tickMs` until `stop` or `close`. Starting twice is starting once. */
  start(): void
  /** Ticks no more until `start`; resolves when the last tick has ended. Tickets and servers stay as they are. */
  stop(): Promise<void>
  /** How things are: no addresses, no secrets. */
  inspect(): Inspection
  /**
   * Takes no more tickets, cancels those that have no server, and stops what was being deployed for them. Resolves,
   * when all stops are confirmed or the time is over, with the matches whose server may still be there: stop those by hand.
   */
  close(options?: CloseOptions): Promise<readonly AllocationView[]>
}
