import type { Yielder } from '@muster/core/runtime'
import type { Match, QueueRuntime, Seat, TicketRecord } from './records.js'
import type { Admitting, PastOfTicket } from './admission.js'
import type { PrivateMatches } from './private-matches.js'
import type { Ledger } from './ledger.js'
import type { Loading, SeatInherited } from './loading.js'
import type { RefusedTicket } from './moving.js'
import type { Acceptance, CancelReason, MatchEnd, Ticket, WaitOptions } from './ticket.js'
import type { TicketListener } from './ticket-events.js'
import type { ReturnReason } from '@muster/servers'
import type { CheckedTicket } from './checked-ticket.js'
import type { ChangeListeners } from './change-listeners.js'
import type { Searching } from './searching.js'

/** All tickets. Every change of a ticket is one of these functions. */
export interface Tickets {
  /**
   * Creates a ticket, or returns the one with the same id.
   * @param past of a ticket that waited elsewhere before.
   * @throws {InvalidTicket}; {UnknownQueue}; {PlayerBusy}; {PlayerPlaying}; {PlayerOverLimit}
   */
  create(ticket: CheckedTicket, past?: PastOfTicket): Ticket
  /** Creates the tickets of a private match: all or none. Those that exist already are returned. @throws as `create` */
  createTogether(tickets: readonly CheckedTicket[]): readonly Ticket[]
  find(id: string): TicketRecord | undefined
  /** The tickets of a player that have not ended, and those of matches that run with the player in it. */
  ofPlayer(playerId: string): readonly TicketRecord[]
  /** Does what is due: expires tickets, and moves those into the pools that may be grouped now. */
  advance(now: number): void
  /** Reserves grouped tickets for this runtime: until `take` or `release`, no other runtime can group them. */
  reserve(records: readonly TicketRecord[], runtime: QueueRuntime): void
  release(records: readonly TicketRecord[], now: number): void
  /**
   * Puts a ticket into a match of an earlier process that it was in by the journal, whatever it was loaded as. Returns
   * its seat; undefined if the ticket has ended, or if the match is over for it.
   */
  rejoin(record: TicketRecord, match: Match, team: number, now: number): Seat | undefined
  /**
   * Takes the tickets into a match; in a queue with acceptance they are asked first. Returns false, and changes
   * nothing, if one of them has left the runtime.
   * @param teams for each of them the index of its team.
   */
  take(
    records: readonly TicketRecord[],
    runtime: QueueRuntime,
    match: Match,
    teams: readonly number[],
    now: number,
  ): boolean
  /** Marks exactly these tickets as having a match but no server: see `waitingFor`. */
  shortOfServers(records: readonly TicketRecord[], yielder: Yielder): Promise<void>
  /** Sets where the acceptance of its match stands. */
  setAcceptance(record: TicketRecord, acceptance: Acceptance | undefined): void
  /**
   * Returns the ticket to the queue, as its match came to nothing. A ticket that is not MATCH_FOUND is left as it is.
   * @param counts whether that is an attempt that failed.
   */
  putBack(record: TicketRecord, reason: ReturnReason, counts: boolean, now: number): void
  /** Assigns the ticket. It stays readable while its match runs, and its players wait for no other match. */
  assign(record: TicketRecord, now: number): void
  /** The ticket is in a running match, since an earlier process assigned it. */
  plays(id: string): void
  /** These players have left a running match. */
  left(match: Match, playerIds: readonly string[]): void
  /** A running match has ended: its tickets say how. */
  matchOver(match: Match, how: MatchEnd, now: number): void
  /** Cancels the ticket. A ticket that has ended is left as it is. */
  cancel(record: TicketRecord, reason: CancelReason, now: number): void
  /** Resolves as `Matchmaker.waitForChange`. Rejects with the reason of the signal. */
  change(record: TicketRecord, options: WaitOptions): Promise<Ticket>
  readonly endWaits: ChangeListeners['end']
  /** Moves all tickets to new runtimes. Returns those that one of their queues refuses now. */
  moveTo(runtimes: ReadonlyMap<string, QueueRuntime>, now: number): RefusedTicket[]
  /** Removes tickets that ended longer ago than `keepEndedMs`. */
  removeEnded(now: number): void
  /** Takes over tickets of other processes, and of earlier ones; undefined without a ledger. */
  readonly loading: Loading | undefined
  all(): Iterable<TicketRecord>
  /** The tickets of private matches that wait for a server. */
  readonly privateMatches: PrivateMatches['waiting']
  readonly outside: Searching['outside']
}

export interface TicketsOptions extends Omit<Admitting, 'players' | 'playing'> {
  readonly locateTimeoutMs: number
  readonly keepEndedMs: number
  readonly events: TicketListener
  /** Of a matchmaker whose tickets outlive it: they are loaded first, and change from `lead` on. */
  readonly ledger?: Pick<Ledger, 'changed' | 'created' | 'ended'> | undefined
  /** The matches that loaded tickets are in. */
  readonly inheriting: SeatInherited
}
