import { systemClock, type Clock } from '@muster/core/clock'
import type { BackfillTeam } from '../tickets/backfill.js'
import type { ExportedTicket } from '../commands/snapshot.js'
import type { Locate } from '../tickets/locate/locate.js'
import type { Matchmaker } from '../commands/matchmaker.js'
import type { QueueDefinition } from '../queues/queue.js'
import type { Ticket, TicketInput } from '../tickets/ticket.js'
import { FORMAT, type RecordedTeam } from './lines.js'
import { createLineWriter, type Note, type Places } from './line-writer.js'
import { createMatchMembers } from './match-members.js'
import { createPlayerRecorder } from './recorded-player.js'
import { recordedQueue } from './recorded-queue.js'

export interface RecordOptions {
  /** The matchmaker's, so that the places of players are written down instead of their addresses. */
  readonly locate?: Locate | undefined
  /**
   * Whether the recording holds addresses. Default false: of players who cannot be located it holds who shares a
   * network.
   */
  readonly addresses?: boolean | undefined
  /**
   * The matchmaker's queues, to be replayed by default. Custom rules are code and cannot be written down; the variables
   * of servers are left out, because they may be secret.
   */
  readonly queues?: readonly QueueDefinition[] | undefined
  /** The matchmaker's. Default: the machine's. */
  readonly clock?: Clock | undefined
}

/**
 * Writes down what a matchmaker is asked for from now on, and what waits in it already, for `replayTickets`: one line
 * of JSON for each thing that it did. Use the matchmaker it gives instead of the given one: what is asked of that one
 * directly is not recorded, and neither is `reconfigure`. A `write` that fails becomes a process warning.
 * @param write takes a line with its line feed. The lines may be in any order.
 */
export function recordTickets(
  matchmaker: Matchmaker,
  write: (line: string) => void,
  options: RecordOptions = {},
): Matchmaker {
  const { locate, addresses = false, queues, clock = systemClock } = options
  const begin = createLineWriter(write, clock, locate)
  const recorded = createPlayerRecorder(addresses)
  const members = createMatchMembers(matchmaker)

  /** Undefined for one that is created already: creating it twice is creating it once. */
  const beginCreate = (input: TicketInput): Note | undefined =>
    input.id !== undefined && matchmaker.getTicket(input.id) !== undefined ? undefined : begin()
  const noteCreated = (note: Note, input: TicketInput, { id, createdAt }: Ticket) => {
    const { queue, queues: names = queue === undefined ? [] : [queue], players, priority = 0 } = input
    const recordedPlayers = (places: Places) => players.map((player) => recorded(player, places.get(player)))
    note(
      (places) => ({
        kind: 'create',
        ticket: { id, queues: names, players: recordedPlayers(places), priority, createdAt },
      }),
      players,
    )
  }
  /** One that has waited elsewhere, where its place was found out. */
  const noteTakenOver = (note: Note, { id, queues: names, players, priority, createdAt, place }: ExportedTicket) => {
    const recordedPlayers = players.map((player) => recorded(player, player.coordinates ?? place))
    note(() => ({ kind: 'create', ticket: { id, queues: names, players: recordedPlayers, priority, createdAt } }))
  }

  const noteCancelled = (ticketIds: readonly string[]) => {
    for (const ticketId of ticketIds) begin()(() => ({ kind: 'cancel', ticketId }))
  }

  const recordedTeams = (teams: readonly BackfillTeam[], places: Places): RecordedTeam[] =>
    teams.map(({ players, ...team }) =>
      players === undefined
        ? team
        : { ...team, players: players.map((player) => recorded(player, places.get(player))) },
    )
  const playersOf = (teams: readonly BackfillTeam[]) => teams.flatMap(({ players = [] }) => players)

  begin()(() => ({ kind: 'start', format: FORMAT, queues: queues?.map(recordedQueue) }))
  for (const ticket of matchmaker.exportTickets().tickets) noteTakenOver(begin(), ticket)

  return {
    ...matchmaker,
    createTicket: (input) => {
      const note = beginCreate(input)
      const ticket = matchmaker.createTicket(input)
      if (note !== undefined) noteCreated(note, input, ticket)
      return ticket
    },
    createTickets: (inputs) => {
      const notes = inputs.map(beginCreate)
      const results = matchmaker.createTickets(inputs)
      for (const [index, { ticket }] of results.entries()) {
        const note = notes[index]
        if (note !== undefined && ticket !== undefined) noteCreated(note, inputs[index] as TicketInput, ticket)
      }
      return results
    },
    cancelTicket: (id) => {
      const note = begin()
      const ticket = matchmaker.cancelTicket(id)
      note(() => ({ kind: 'cancel', ticketId: id }))
      return ticket
    },
    acceptMatch: (ticketId, playerId) => {
      const note = begin()
      const ticket = matchmaker.acceptMatch(ticketId, playerId)
      note(() => ({ kind: 'accept', ticketId, playerId }))
      return ticket
    },
    declineMatch: (ticketId, playerId) => {
      const note = begin()
      const ticket = matchmaker.declineMatch(ticketId, playerId)
      note(() => ({ kind: 'decline', ticketId, playerId }))
      return ticket
    },
    playersLeft: (matchId, playerIds) => {
      const [note, ticketIds] = [begin(), members.of(matchId)]
      matchmaker.playersLeft(matchId, playerIds)
      const cancelled = ticketIds.filter((id) => matchmaker.getTicket(id)?.status === 'CANCELLED')
      if (cancelled.length === 0) note(() => ({ kind: 'left', playerIds }))
      else noteCancelled(cancelled)
    },
    stopMatch: (matchId) => {
      const [note, ticketIds] = [begin(), members.of(matchId)]
      const stopped = matchmaker.stopMatch(matchId)
      if (ticketIds.length > 0) note(() => ({ kind: 'stop', ticketIds }))
      return stopped
    },
    createBackfill: (input) => {
      const note = begin()
      const backfill = matchmaker.createBackfill(input)
      const { teams, priority } = input
      const [id, ticketIds] = [backfill.id, members.of(backfill.matchId)]
      note(
        (places) => ({
          kind: 'backfill',
          ticketIds,
          backfill: { id, teams: teams && recordedTeams(teams, places), priority },
        }),
        playersOf(teams ?? []),
      )
      return backfill
    },
    updateBackfill: (id, change) => {
      const note = begin()
      const backfill = matchmaker.updateBackfill(id, change)
      note(
        (places) => ({ kind: 'backfillChange', id, teams: recordedTeams(change.teams, places) }),
        playersOf(change.teams),
      )
      return backfill
    },
    cancelBackfill: (id) => {
      const note = begin()
      const backfill = matchmaker.cancelBackfill(id)
      note(() => ({ kind: 'backfillCancel', id }))
      return backfill
    },
    exportTickets: (exporting) => {
      const snapshot = matchmaker.exportTickets(exporting)
      if (exporting?.take === true) noteCancelled(snapshot.tickets.map(({ id }) => id))
      return snapshot
    },
    importTickets: (snapshot) => {
      const notes = new Map(snapshot.tickets.map((ticket) => [ticket.id, begin()]))
      const imported = matchmaker.importTickets(snapshot)
      const taken = new Set(imported.tickets.map(({ id }) => id))
      for (const ticket of snapshot.tickets) {
        if (taken.has(ticket.id)) noteTakenOver(notes.get(ticket.id) as Note, ticket)
      }
      return imported
    },
  }
}
