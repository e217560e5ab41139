import { InvalidInput } from '@muster/core'
import { createManualClock, seededRandom } from '@muster/core/clock'
import { callable, read } from '@muster/core/internal'
import { z } from 'zod'
import { createMatchmaker } from '../create-matchmaker.js'
import type { Matchmaker } from '../matches/index.js'
import type { QueueDefinition } from '../queues/index.js'
import type { Ticket } from '../tickets/index.js'
import {
  playerOf,
  recordedLines,
  type RecordedLine,
  type RecordedTeam,
  type RecordedTicket,
} from './recording-lines.js'
import {
  createOutcomes,
  type Outcomes,
  type ReplayedMatch,
  type ReplayedTicket,
  type ReplaySummary,
  summarize,
} from './replay-outcomes.js'
import { createStubService } from './stub-service.js'

/** Repeats the commands of a recording on a matchmaker. */
function createActor(matchmaker: Matchmaker, outcomes: Outcomes) {
  const refused: { ticketId: string; error: Error }[] = []
  let skipped = 0

  const create = ({ id, queues, players, priority, createdAt }: RecordedTicket, at: number) => {
    if (matchmaker.getTicket(id) !== undefined) return
    const ticket = { id, queues, players: players.map(playerOf), priority }
    outcomes.expect(ticket, createdAt)
    try {
      if (createdAt >= at) return void matchmaker.createTicket(ticket)
      const snapshot = {
        format: 'muster-tickets-1',
        exportedAt: at,
        tickets: [{ ...ticket, createdAt, attempts: 0 }],
      } as const
      const [failure] = matchmaker.importTickets(snapshot).refused
      if (failure !== undefined) throw failure.error
    } catch (error) {
      outcomes.forget(id)
      refused.push({ ticketId: id, error: error as Error })
    }
  }

  /**
   * Returns the matches in which these players play now, with the players of each. Players of one recorded match may be
   * in several matches of the replay, and vice versa.
   */
  const matchesOf = (playerIds: readonly string[]): Map<string, string[]> => {
    const matches = new Map<string, string[]>()
    for (const id of playerIds) {
      const matchId = outcomes.matchOf(id)
      if (matchId !== undefined) matches.set(matchId, [...(matches.get(matchId) ?? []), id])
    }
    return matches
  }
  const leave = (playerIds: readonly string[]) => {
    const matches = matchesOf(playerIds)
    if (matches.size === 0) skipped += 1
    for (const [matchId, left] of matches) {
      outcomes.left(left)
      matchmaker.playersLeft(matchId, left)
    }
  }

  const teamsOf = (teams: readonly RecordedTeam[]) =>
    teams.map(({ players, ...team }) => (players === undefined ? team : { ...team, players: players.map(playerOf) }))

  const ask = (line: RecordedLine): void => {
    switch (line.kind) {
      case 'start':
        return
      case 'create':
        return create(line.ticket, line.at)
      case 'cancel':
        return void matchmaker.cancelTicket(line.ticketId)
      case 'accept':
        return void matchmaker.acceptMatch(line.ticketId, line.playerId)
      case 'decline':
        return void matchmaker.declineMatch(line.ticketId, line.playerId)
      case 'left':
        return leave(line.playerIds)
      case 'stop':
        return leave(line.ticketIds.flatMap((id) => outcomes.playersOf(id)))
      case 'backfill': {
        const { id, teams, priority } = line.backfill
        const [matchId = ''] = matchesOf(line.ticketIds.flatMap((ticketId) => outcomes.playersOf(ticketId))).keys()
        return void matchmaker.createBackfill({ id, matchId, teams: teams && teamsOf(teams), priority })
      }
      case 'backfillChange': {
        const version = matchmaker.getBackfill(line.id)?.version ?? 0
        return void matchmaker.updateBackfill(line.id, { version, teams: teamsOf(line.teams) })
      }
      case 'backfillCancel':
        return void matchmaker.cancelBackfill(line.id)
    }
  }

  return {
    act: (line: RecordedLine) => {
      try {
        ask(line)
      } catch {
        // The command came too late, or it is about a match that is different in this replay.
        skipped += 1
      }
    },
    refused,
    /** Number of lines that had no effect. */
    get skipped() {
      return skipped
    },
  }
}

export interface ReplayOptions {
  /** Queues to try instead of the recorded ones. Default: the recorded queues. */
  readonly queues?: readonly QueueDefinition[] | undefined
  /** Seed of the replay's random ids: a whole number from 0. Default 1. */
  readonly seed?: number | undefined
  /** Milliseconds between two ticks. Default 250. */
  readonly tickMs?: number | undefined
  /** Milliseconds from create to READY of every server. Default 5000 (our choice). */
  readonly startMs?: number | undefined
  /**
   * `recorded` (default): players accept when they did in the recording. `always`: they accept immediately, e.g. if the
   * recorded queue had no acceptance.
   */
  readonly acceptance?: 'recorded' | 'always' | undefined
  /** Called regularly with the share of the recording that was replayed, from 0 to 1. */
  readonly progressed?: ((share: number) => void) | undefined
}

/** The outcome of a replay. */
export interface Replay {
  /** Matches in the order in which they were found. */
  readonly matches: readonly ReplayedMatch[]
  /** Tickets in the order of the recording. */
  readonly tickets: readonly ReplayedTicket[]
  /** Tickets that the queues refused. */
  readonly refused: readonly { readonly ticketId: string; readonly error: Error }[]
  /** Number of other lines that had no effect, e.g. because their match is different in this replay. */
  readonly skipped: number
  readonly summary: ReplaySummary
}

const schema = z.strictObject({
  queues: z.array(z.custom<QueueDefinition>()).min(1).optional(),
  seed: z.int().min(0).default(1),
  tickMs: z.number().min(1).max(60_000).default(250),
  startMs: z.number().min(0).max(600_000).default(5000),
  acceptance: z.enum(['recorded', 'always']).default('recorded'),
  progressed: callable<(share: number) => void>().optional(),
})

/** Lines between two calls of `progressed`. */
const PROGRESS_EVERY = 500

/**
 * Replays a recording on its own clock, with a service that has capacity for all matches. The same lines, options and
 * version give the same matches on any machine.
 * @param lines lines of `recordTickets`, with or without line feeds. Empty lines are ignored, and so is the last line
 * of a process if a crash has cut it.
 * @throws {InvalidInput} naming the line, or the option; {InvalidQueue}
 */
export async function replayTickets(
  lines: Iterable<string> | AsyncIterable<string>,
  options: ReplayOptions = {},
): Promise<Replay> {
  const given = read(schema, options, (field, fieldAndFault) => new InvalidInput(`option ${fieldAndFault}`, { field }))
  const { seed, tickMs, startMs, acceptance, progressed } = given
  const recording = await readRecording(lines)
  const queues = given.queues ?? queuesOf(recording)

  const clock = createManualClock({ start: recording[0]?.at ?? 0 })
  const matchmaker = createMatchmaker({
    deployments: createStubService(clock, startMs),
    // Override settings whose causes are not recorded. A player who queued again had left a match, but in the replay
    // that match may still run. A ticket cancelled as absent has a line of its own. Cooldowns had their effect during
    // the recording.
    queues: queues.map((queue) => ({ ...withOwnServers(queue), ...UNBOUND })),
    clock,
    random: seededRandom(seed),
    tickMs,
    maxServers: Infinity,
    maxStarting: Infinity,
    // A constant stopwatch never ends a round early, however slow the machine is.
    stopwatch: () => 0,
  })
  const outcomes = createOutcomes(matchmaker)
  const actor = createActor(matchmaker, outcomes)
  if (acceptance === 'always') {
    const accept = ({ tickets }: { readonly tickets: readonly Ticket[] }) => {
      for (const ticket of tickets) if (ticket.acceptance !== undefined) matchmaker.acceptMatch(ticket.id)
    }
    matchmaker.on('matchFound', accept)
    matchmaker.on('backfillJoined', accept)
  }

  matchmaker.start()
  for (const [index, line] of recording.entries()) {
    if (index % PROGRESS_EVERY === 0) progressed?.(index / recording.length)
    // Advance the clock even by 0, so that tickets recorded one after another do not arrive in the same turn.
    await clock.advance(Math.max(0, line.at - clock.now()))
    actor.act(line)
  }
  while (outcomes.waiting > 0) await clock.advance(tickMs)
  await clock.until(matchmaker.close({ stopServers: true }))

  const tickets = outcomes.tickets()
  const { refused, skipped } = actor
  return { matches: outcomes.matches(), tickets, refused, skipped, summary: summarize(tickets, outcomes.players) }
}

/** The fields of queues that a replay overrides. */
const UNBOUND = { playersMayWaitWhilePlaying: true, presence: undefined, cooldown: undefined }

/**
 * Replaces a queue's pool by a deployment. The service of a replay has capacity for all matches, so pools are not
 * needed.
 */
function withOwnServers({ pool, ...queue }: QueueDefinition): QueueDefinition {
  return pool === undefined ? queue : { ...queue, deploy: { application: 'replay', version: '1' } }
}

/** Reads a recording, or several of successive processes in one file. */
async function readRecording(lines: Iterable<string> | AsyncIterable<string>): Promise<RecordedLine[]> {
  const recording: RecordedLine[] = []
  for await (const { line } of recordedLines(lines)) recording.push(line)
  // Each process numbers its lines anew.
  return recording.toSorted((a, b) => a.at - b.at || a.n - b.n)
}

function queuesOf(recording: readonly RecordedLine[]): readonly QueueDefinition[] {
  const [first] = recording
  const queues = first?.kind === 'start' ? first.queues : undefined
  if (queues === undefined) {
    throw new InvalidInput('option queues: must be given, since the recording has none', { field: 'queues' })
  }
  // The queues are validated when the matchmaker is created.
  return queues as readonly QueueDefinition[]
}
