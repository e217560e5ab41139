import type { Random } from '@muster/core/clock'
import { createAcceptances } from '../acceptance/acceptances.js'
import type { Allocator } from '../allocation/allocator.js'
import type { Assignment } from '../allocation/assignment.js'
import type { Backfills } from '../backfill/backfills.js'
import { filled } from '../backfill/vacancies.js'
import type { Events, StopReason } from '../events.js'
import { newId } from '../ids.js'
import type { Group } from '../rounds.js'
import { ticketOf, type TicketRecord } from '../tickets/record.js'
import type { CancelReason, ReturnReason } from '../tickets/ticket.js'
import type { Tickets } from '../tickets/tickets.js'
import { createLeaving } from './leaving.js'
import { createReplacing } from './replacing.js'
import { isSeated, newRoster, placed, playersOf, waitingFor, type Roster } from './roster.js'

/** The lives of matches, from found to over, as far as their tickets are concerned; the servers are the allocator's. */
export interface MatchLives {
  find(matchId: string): Roster | undefined
  all(): Iterable<Roster>
  /** How many more matches may be made now; those that are being asked count. */
  room(now: number): number
  /** Deploys servers for those that wait for one, and deals with whoever did not accept in time. */
  advance(now: number): void
  /** Makes a match. Resolves when its intent is in the journal. Undefined if a ticket does not wait any more: nothing is done. */
  begin(group: Group, now: number): Promise<void> | undefined
  /** Tickets come into a match that takes more players; nothing changes if it has changed, or one of them. */
  join(group: Group, now: number): void
  /** Players of a ticket that was asked accept. */
  accept(record: TicketRecord, playerIds: readonly string[], now: number): void
  /** A ticket without a server leaves its match for good. */
  leave(record: TicketRecord, reason: CancelReason, now: number): void
  /** The server listens. */
  ready(matchId: string, requestId: string, assignment: Assignment, now: number): void
  /** Players do not play any more. Before the server runs they take their tickets along, as if these were cancelled. */
  desert(roster: Roster, playerIds: readonly string[], now: number): void
  /** It comes to nothing, or to its end: tickets without a server search again. */
  dissolve(roster: Roster, why: EndOfMatch, now: number): void
  /** The same, but they do not. */
  close(roster: Roster, now: number): void
  /** A match of an earlier process that runs. */
  adopt(roster: Roster): void
}

export interface EndOfMatch {
  readonly reason: ReturnReason
  /** Whether it was the deployment's fault. Default false. */
  readonly counts?: boolean | undefined
  /** Why its server is stopped, if that is another reason. */
  readonly stop?: StopReason | undefined
}

export interface MatchLivesOptions {
  readonly tickets: Tickets
  readonly backfills: Backfills
  readonly allocator: Pick<Allocator, 'room' | 'allocate' | 'find' | 'drop' | 'setPlayers'>
  readonly events: Events
  readonly random: Random
}

export function createMatchLives({ tickets, backfills, allocator, events, random }: MatchLivesOptions): MatchLives {
  const rosters = new Map<string, Roster>()
  /** Those that are asking or due: of thousands of matches, only these are looked at each tick. */
  const early = new Set<Roster>()
  const acceptances = createAcceptances(tickets)
  const replacing = createReplacing({ backfills, allocator })

  const named = ({ matchId, queue }: Roster) => ({ matchId, queue: queue.name })

  const seat = (roster: Roster, { lane, records, teams }: Group, now: number): boolean => {
    if (!tickets.take(records, lane, roster, teams, now)) return false
    roster.seated = roster.seated.length === 0 ? records : [...roster.seated, ...records]
    roster.placed = roster.placed.length === 0 ? placed(records) : [...roster.placed, ...placed(records)]
    if (roster.queue.acceptance !== undefined) for (const record of records) acceptances.expect(record)
    return true
  }

  /** @param teamOf for each of those who are seated the index of its team. */
  const deploy = (roster: Roster, teamOf: readonly number[]): Promise<void> => {
    const { matchId, queue, teams, seated, foundAt, expansionMs } = roster
    const { deploy: definition, rules, acceptance } = queue
    roster.phase = 'deploying'
    if (acceptance !== undefined) {
      early.delete(roster)
      for (const record of seated) tickets.setAcceptance(record, undefined)
    }
    const order = { deploy: definition, tickets: seated, teams, teamOf, rules, expansionMs, secret: undefined }
    return allocator.allocate({ matchId, queue: queue.name, at: foundAt }, order)
  }

  /** As soon as nobody is missing and all have accepted, a server is due. */
  const proceed = (roster: Roster, now: number) => {
    if (roster.phase !== 'asking' || roster.backfill !== undefined) return
    if (roster.seated.some(acceptances.isPending)) return
    roster.phase = 'due'
    serve(now)
  }

  const serve = (now: number) => {
    if (early.size === 0) return
    let room = allocator.room(now)
    for (const roster of early) {
      if (roster.phase !== 'due' || room <= 0) continue
      room -= 1
      void deploy(roster, teamsOf(roster.seated))
    }
  }

  /** Their server runs: they are told where. */
  const arrive = (roster: Roster, records: readonly TicketRecord[], now: number) => {
    const { requestId, assignment } = roster
    if (requestId === undefined || assignment === undefined || records.length === 0) return
    roster.seated = roster.seated.filter((record) => !records.includes(record))
    for (const record of records) {
      tickets.setAcceptance(record, undefined)
      tickets.assign(record, now)
    }
    events.emit('assigned', { ...named(roster), requestId, assignment, tickets: records.map(ticketOf) })
  }

  const over = (roster: Roster) => {
    roster.phase = 'over'
    rosters.delete(roster.matchId)
    early.delete(roster)
    if (roster.backfill !== undefined) backfills.cancel(roster.backfill)
    for (const record of roster.seated) acceptances.forget(record)
  }

  /** First the match, so that whoever hears of the tickets finds it gone. */
  const dissolve: MatchLives['dissolve'] = (roster, { reason, counts = false, stop = reason }, now) => {
    if (roster.phase === 'over') return
    over(roster)
    drop(roster, stop)
    for (const record of waitingFor(roster)) tickets.putBack(record, reason, counts, now)
  }

  const leaving = createLeaving({ tickets, acceptances, replacing, dissolve })

  /** Whether its server is being stopped: then it is over before that is confirmed, and nobody is sent there or kept for it. */
  const endIfGoing = (roster: Roster, now: number): boolean => {
    if (roster.phase !== 'running' || allocator.find(roster.matchId)?.phase === 'running') return false
    dissolve(roster, { reason: 'stopped' }, now)
    return true
  }

  const drop = ({ matchId }: Roster, reason: StopReason) => {
    const match = allocator.find(matchId)
    if (match !== undefined) allocator.drop(match, reason)
  }

  return {
    find: (matchId) => rosters.get(matchId),
    all: () => rosters.values(),

    room: (now) => allocator.room(now) - early.size,

    advance: (now) => {
      serve(now)
      const late = acceptances.overdue(now)
      for (const roster of new Set(late.map((record) => record.seat?.roster))) {
        if (roster === undefined) continue
        const unanswered = late.filter((record) => isSeated(record, roster))
        leaving.together(roster, unanswered, 'not-accepted', now)
      }
      for (const roster of early) if (roster.fullBy <= now) dissolve(roster, { reason: 'not-accepted' }, now)
    },

    begin: (group, now) => {
      const { queue, compiled } = group.lane
      const asks = queue.acceptance !== undefined
      const roster = newRoster(newId(random), queue, compiled.model.teams, now)
      roster.expansionMs = group.expansionMs
      if (asks) roster.phase = 'asking'
      if (!seat(roster, group, now)) return undefined
      rosters.set(roster.matchId, roster)
      if (asks) early.add(roster)
      const begun = asks ? Promise.resolve() : deploy(roster, group.teams)
      // Only now, so that a listener may cancel or stop what it hears of.
      if (events.isHeard('matchFound')) {
        const { matchId, expansionMs } = roster
        events.emit('matchFound', { matchId, queue: queue.name, tickets: group.records.map(ticketOf), expansionMs })
      }
      return begun
    },

    join: (group, now) => {
      const { backfill, records } = group
      if (backfill?.record.status !== 'OPEN' || backfill.record.version !== backfill.version) return
      const { roster } = backfill.record
      if (endIfGoing(roster, now)) return
      if (!seat(roster, group, now)) return
      const ids = records.map(({ id }) => id)
      replacing.refresh(backfill.record, filled(backfill.record, placed(records)), ids)
      if (roster.backfill === undefined) roster.fullBy = Infinity
      replacing.tellPlayers(roster, (all) => [...all, ...playersOf(records)])
      events.emit('joined', { ...named(roster), backfillId: backfill.record.id, tickets: records.map(ticketOf) })
      if (roster.phase === 'running')
        arrive(
          roster,
          records.filter((record) => isSeated(record, roster) && !acceptances.isPending(record)),
          now,
        )
      else proceed(roster, now)
    },

    accept: (record, playerIds, now) => {
      const roster = record.seat?.roster
      const accepted = acceptances.accept(record, playerIds)
      if (roster === undefined || accepted.length === 0) return
      events.emit('accepted', { ...named(roster), ticket: ticketOf(record), playerIds: accepted })
      if (!isSeated(record, roster) || acceptances.isPending(record) || endIfGoing(roster, now)) return
      if (roster.phase === 'running') arrive(roster, [record], now)
      else if (roster.phase === 'deploying') tickets.setAcceptance(record, undefined)
      else proceed(roster, now)
    },

    leave: (record, reason, now) => {
      const roster = record.seat?.roster
      if (roster !== undefined) leaving.together(roster, [record], reason, now)
    },

    ready: (matchId, requestId, assignment, now) => {
      const roster = rosters.get(matchId)
      if (roster === undefined) return
      roster.phase = 'running'
      roster.requestId = requestId
      roster.assignment = assignment
      arrive(
        roster,
        waitingFor(roster).filter((record) => !acceptances.isPending(record)),
        now,
      )
    },

    desert: leaving.players,

    dissolve,
    close: (roster, now) => {
      if (roster.phase === 'over') return
      over(roster)
      drop(roster, 'closed')
      for (const record of waitingFor(roster)) tickets.cancel(record, 'closed', now)
    },
    adopt: (roster) => void rosters.set(roster.matchId, roster),
  }
}

const teamsOf = (records: readonly TicketRecord[]) => records.map(({ seat }) => seat?.team ?? 0)
