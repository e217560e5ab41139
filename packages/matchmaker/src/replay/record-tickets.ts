import type { Coordinates } from '@muster/core'
import { type Clock, systemClock } from '@muster/core/clock'
import { callSafely, scrub } from '@muster/core/internal'
import type { Player } from '@muster/hosting/internal'
import { Unavailable } from '../errors.js'
import { onMatchEnd } from '../events.js'
import type { ExportedTicket, Matchmaker } from '../matches/index.js'
import type { QueueDefinition } from '../queues/index.js'
import type { BackfillTeam, Ticket, TicketInput } from '../tickets/index.js'
import { type Locate, placeOf } from '../locate/index.js'
import {
  createPlayerRecorder,
  FORMAT,
  type RecordedEvent,
  recordedQueue,
  type RecordedTeam,
} from './recording-lines.js'

/** The known locations of players. */
type Places = ReadonlyMap<Player, Coordinates | undefined>

/** Writes an event with the time at which it began: immediately, or once the players' locations are known. */
type RecordEvent = (event: (places: Places) => RecordedEvent, players?: readonly Player[]) => void

/**
 * Returns a function to call when a command begins: it takes the next line number. Call its result if the command
 * succeeded. So lines are numbered in the order in which commands began, even if one causes another.
 */
function createLineWriter(write: (line: string) => void, clock: Clock, locate: Locate | undefined): () => RecordEvent {
  let lines = 0
  let warned = false

  const writeLine = (value: { readonly at: number; readonly n: number }) => {
    const failed = (error: unknown) => {
      // Warn only once, because the cause probably affects every line.
      if (!warned) process.emitWarning(`tickets are not recorded: ${scrub(String(error))}`, 'MusterWarning')
      warned = true
    }
    // The line feed before the first line ends a line of an earlier process that a crash has cut.
    callSafely(() => write(`${value.n === 0 ? '\n' : ''}${JSON.stringify(value)}\n`), failed)
  }

  return () => {
    const [at, n] = [Math.floor(clock.now()), lines]
    lines += 1
    return (event, players = []) => {
      const finish = (places: Places) => writeLine({ at, n, ...event(places) })
      const places = placesOf(players, locate)
      if (places instanceof Promise) void places.then(finish)
      else finish(places)
    }
  }
}

function placesOf(players: readonly Player[], locate: Locate | undefined): Places | Promise<Places> {
  const found = players.map(({ ip, coordinates }) => coordinates ?? placeOf(ip, locate))
  const paired = (places: readonly (Coordinates | undefined)[]): Places =>
    new Map(players.map((player, index) => [player, places[index]]))
  return found.some((place) => place instanceof Promise)
    ? Promise.all(found).then(paired)
    : paired(found as readonly (Coordinates | undefined)[])
}

/** Creates the function that lists the tickets of a running match. */
function createMatchMembers({ on }: Pick<Matchmaker, 'on'>): (matchId: string) => readonly string[] {
  const members = new Map<string, Set<string>>()
  const add = (matchId: string, tickets: readonly Ticket[]) => {
    const known = members.get(matchId) ?? new Set()
    members.set(matchId, known)
    for (const { id } of tickets) known.add(id)
  }
  const leave = (matchId: string | undefined, ticketId: string) => {
    const known = members.get(matchId ?? '')
    known?.delete(ticketId)
    if (known?.size === 0) members.delete(matchId ?? '')
  }
  on('matchFound', ({ matchId, tickets }) => add(matchId, tickets))
  on('backfillJoined', ({ matchId, tickets }) => add(matchId, tickets))
  on('ticketRequeued', ({ matchId, ticket }) => leave(matchId, ticket.id))
  on('cancelled', ({ ticket }) => leave(ticket.matchId, ticket.id))
  onMatchEnd(on, (matchId) => void members.delete(matchId))
  return (matchId) => [...(members.get(matchId) ?? [])]
}

export interface RecordOptions {
  /** The matchmaker's `locate`. With it, the recording holds players' locations instead of their addresses. */
  readonly locate?: Locate | undefined
  /** True records addresses. Default false: players without a location get a number for their network. */
  readonly addresses?: boolean | undefined
  /**
   * The matchmaker's queues, which a replay uses by default. Custom rules are code and cannot be recorded. Variables of
   * servers are left out, because they may be secret.
   */
  readonly queues?: readonly QueueDefinition[] | undefined
  /** The matchmaker's clock. Default: the system's. */
  readonly clock?: Clock | undefined
}

/**
 * Records the waiting tickets, and every later command of a matchmaker, for `replayTickets`: one line of JSON for each
 * command that succeeded. Use the returned matchmaker: commands to the given matchmaker are not recorded. `reconfigure`
 * is never recorded. An error of `write` becomes a process warning.
 * @param write receives a line with its line feed. Lines may come in any order. It may return a promise.
 */
export function recordTickets(
  matchmaker: Matchmaker,
  write: (line: string) => void,
  options: RecordOptions = {},
): Matchmaker {
  const { locate, addresses = false, queues, clock = systemClock } = options
  const begin = createLineWriter(write, clock, locate)
  const recorded = createPlayerRecorder(addresses)
  const membersOf = createMatchMembers(matchmaker)

  /**
   * Starts recording a create. Returns undefined for an existing ticket, because repeating a create changes nothing.
   */
  const beginCreate = (input: TicketInput): RecordEvent | undefined =>
    input.id !== undefined && matchmaker.getTicket(input.id) !== undefined ? undefined : begin()
  const noteCreated = (note: RecordEvent, input: TicketInput, { id, createdAt }: Ticket) => {
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
  /** Records a ticket imported from another matchmaker, which has already located the ticket's players. */
  const noteTakenOver = (note: RecordEvent, ticket: ExportedTicket) => {
    const { id, queues: names, players, priority, createdAt, place, privateSeat } = ticket
    // A private match is not recorded, because rules do not apply to it.
    if (privateSeat !== undefined) return
    const recordedPlayers = players.map((player) => recorded(player, player.coordinates ?? place))
    note(() => ({ kind: 'create', ticket: { id, queues: names, players: recordedPlayers, priority, createdAt } }))
  }

  /** Runs a command and records it. */
  const noted = <Result>(event: RecordedEvent, command: () => Result): Result => {
    const note = begin()
    const result = command()
    note(() => event)
    return result
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
  const noteWaiting = () => {
    for (const ticket of matchmaker.exportTickets().tickets) noteTakenOver(begin(), ticket)
  }
  try {
    noteWaiting()
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error
    // Waiting tickets cannot be read before `ready` resolves.
    void matchmaker.ready().then(noteWaiting, () => {})
  }
  // A replay has no clients, so it needs a line for each absence.
  matchmaker.on('cancelled', ({ ticket, reason }) => {
    if (reason === 'absent') noteCancelled([ticket.id])
  })

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
    cancelTicket: (id, playerId) =>
      noted({ kind: 'cancel', ticketId: id }, () => matchmaker.cancelTicket(id, playerId)),
    acceptMatch: (ticketId, playerId, matchId) =>
      noted({ kind: 'accept', ticketId, playerId }, () => matchmaker.acceptMatch(ticketId, playerId, matchId)),
    declineMatch: (ticketId, playerId, matchId) =>
      noted({ kind: 'decline', ticketId, playerId }, () => matchmaker.declineMatch(ticketId, playerId, matchId)),
    playersLeft: (matchId, playerIds) => {
      const [note, ticketIds] = [begin(), membersOf(matchId)]
      const left = matchmaker.playersLeft(matchId, playerIds)
      const cancelled = ticketIds
        .flatMap((id) => matchmaker.getTicket(id) ?? [])
        .filter(({ status }) => status === 'CANCELLED')
      const ofCancelled = new Set(cancelled.flatMap(({ players }) => players.map(({ id }) => id)))
      const playing = playerIds.filter((id) => !ofCancelled.has(id))
      if (playing.length > 0) note(() => ({ kind: 'left', playerIds: playing }))
      noteCancelled(cancelled.map(({ id }) => id))
      return left
    },
    stopMatch: (matchId, given) => {
      const [note, ticketIds] = [begin(), membersOf(matchId)]
      const stopped = matchmaker.stopMatch(matchId, given)
      if (ticketIds.length > 0) note(() => ({ kind: 'stop', ticketIds }))
      return stopped
    },
    createBackfill: (input) => {
      const note = begin()
      const backfill = matchmaker.createBackfill(input)
      const { teams, priority } = input
      const [id, ticketIds] = [backfill.id, membersOf(backfill.matchId)]
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
    cancelBackfill: (id) => noted({ kind: 'backfillCancel', id }, () => matchmaker.cancelBackfill(id)),
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
        if (taken.has(ticket.id)) noteTakenOver(notes.get(ticket.id) as RecordEvent, ticket)
      }
      return imported
    },
  }
}
