import type { Random } from '@muster/core/clock'
import type { Allocator, Assignment, EndedMatches } from '@muster/servers'
import type { Backfills } from './backfill/backfills.js'
import type { Events } from '../events.js'
import type { Group } from './rounds.js'
import type { Match, TicketRecord } from '../tickets/records.js'
import type { EndOfMatch } from './match.js'
import type { CancelReason } from '../tickets/ticket.js'
import type { Cooldowns } from '../tickets/cooldowns.js'
import type { Tickets } from '../tickets/tickets.js'
import type { FindPlacements } from './placing.js'

/*
 * The phases of a match (`MatchPhase`):
 *
 *   found ─┬─ acceptance ──▶ asking ── all have accepted ──▶ due ── a server may be created ─┐
 *          └─ no acceptance ─────────────────────────────────────────────────────────────────┤
 *                                                                                            ▼
 *   over ◀── stopped, ended, or all have left ── running ◀── its server listens ── deploying
 *
 * From asking, due and deploying a match goes over as well: declined, cancelled, or its deployment failed. Its tickets
 * search again then, with their waiting time kept.
 */

/** Leads each match from found to over, as far as its tickets are concerned. Its server is the allocator's part. */
export interface MatchLifecycle {
  find(matchId: string): Match | undefined
  all(): Iterable<Match>
  /** How many more matches may be made now. Matches that are asking count as made. */
  room(now: number): number
  /** Deploys servers for matches that are due, and removes tickets that did not accept in time. */
  advance(now: number): void
  /**
   * Makes a match. Resolves when its intent is in the journal. Returns undefined, and does nothing, if a ticket has
   * stopped waiting.
   */
  begin(group: Group, now: number): Promise<void> | undefined
  /** Adds tickets to a match by its backfill; does nothing if that or one of the tickets has changed meanwhile. */
  join(group: Group, now: number): void
  /** Players accept the match that was found for their ticket. */
  accept(record: TicketRecord, playerIds: readonly string[], now: number): void
  /** Removes a ticket that has no server yet from its match. */
  leave(record: TicketRecord, reason: CancelReason, now: number): void
  /** The server of the match listens: players may connect. */
  ready(matchId: string, requestId: string, assignment: Assignment, now: number): void
  /** Players have left. Before the server runs, their tickets are cancelled. */
  desert(match: Match, playerIds: readonly string[], now: number): void
  /** Ends a match: its server is stopped, and tickets without a server search again. */
  dissolve(match: Match, why: EndOfMatch, now: number): void
  /** Ends a match as the matchmaker closes: its tickets are cancelled. */
  close(match: Match, now: number): void
  /** Takes over a match of an earlier process, whose server is being deployed or runs. */
  adopt(match: Match): void
  /** Ids of the tickets of a match whose players are told where to connect as soon as its server listens. */
  expected(matchId: string): readonly string[]
}

export interface MatchLifecycleOptions {
  readonly tickets: Tickets
  readonly backfills: Backfills
  readonly allocator: Pick<Allocator, 'room' | 'allocate' | 'find' | 'drop' | 'setPlayers'>
  readonly ended: Pick<EndedMatches, 'add'>
  readonly events: Events
  readonly cooldowns: Pick<Cooldowns, 'count'>
  readonly random: Random
  /** Where the server of a match goes by its rules. */
  readonly placing: (match: Match) => FindPlacements | undefined
}
