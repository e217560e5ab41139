import {
  createPlayerRecorder,
  playerOf,
  readLine,
  readTicketInput,
  recordedLines,
  type RecordedLine,
  type RecordedTicket,
} from '@muster/matchmaker/internal'
import { InvalidCrowd, assertLineLength, inLine, LATEST } from '../crowd-lines.js'

/**
 * Reads the lines of a recording, or of several in sequence, in order of time. IP addresses are dropped: for a player
 * without coordinates, only the number of the network is kept. As in `replayTickets`, the last line of a process is
 * skipped if a crash has cut it.
 * @throws {InvalidCrowd} naming the line and the field
 */
export async function readRecording(lines: Iterable<string> | AsyncIterable<string>): Promise<readonly RecordedLine[]> {
  const recorded = createPlayerRecorder(false)
  const read: RecordedLine[] = []
  const inCrowd = (text: string, number: number) => {
    assertLineLength(text, number)
    return inLine(number, () => readLine(text, number))
  }
  for await (const { line, number } of recordedLines(lines, inCrowd)) {
    assertPlausible(line, number, read[0])
    if (line.kind !== 'create') {
      read.push(line)
      continue
    }
    const { players, ...ticket } = line.ticket
    inLine(number, () =>
      readTicketInput({ queues: ticket.queues, players: players.map(playerOf), priority: ticket.priority }),
    )
    const nameless = players.map((player) => playerOf(recorded(player, player.coordinates)))
    read.push({ ...line, ticket: { ...ticket, players: nameless } })
  }
  // The lines are sorted by time, because those that waited for the locations of players were written late.
  return read.toSorted((one, other) => one.at - other.at || one.n - other.n)
}

/**
 * Maximum milliseconds of a recording (our choice). A recording is replayed tick by tick, so a longer one would take
 * too much time.
 */
const LONGEST_MS = 31 * 24 * 3_600_000

function assertPlausible(line: RecordedLine, number: number, first: RecordedLine | undefined): void {
  const times = { at: line.at, ...(line.kind === 'create' && { 'ticket.createdAt': line.ticket.createdAt }) }
  for (const [field, at] of Object.entries(times)) {
    if (!(at >= 0 && at <= LATEST))
      throw new InvalidCrowd(number, field, `must be epoch milliseconds from 0 to ${LATEST}, got ${at}`)
  }
  if (first !== undefined && Math.abs(line.at - first.at) > LONGEST_MS)
    throw new InvalidCrowd(number, 'at', 'must be within 31 days of the first line')
}

/** What was recorded about a ticket. Times are epoch milliseconds. */
export interface TicketStory extends RecordedTicket {
  /** When the ticket was created, or when the recording began if the ticket already waited then. */
  readonly seenAt: number
  /** When the ticket was cancelled, or when its players left before their match began. */
  cancelledAt?: number | undefined
  /** When the first player of the ticket accepted a match for the last time. */
  acceptedAt?: number | undefined
  declined?: boolean | undefined
  /** When the last player of the ticket left the match, or the match was stopped. */
  overAt?: number | undefined
}

/** The tickets of a recording, and what was omitted. */
export interface RecordedTickets {
  /** The tickets, in order of their first record. */
  readonly stories: readonly TicketStory[]
  /** Number of lines about backfills. */
  readonly backfills: number
  /** Number of creates that repeat an existing ticket. */
  readonly repeated: number
  /** Number of other lines about tickets or players that are not in the recording. */
  readonly unknown: number
}

/** Collects the tickets of a recording. @param lines in order of time. */
export function ticketsOf(lines: readonly RecordedLine[]): RecordedTickets {
  const stories = new Map<string, TicketStory>()
  const lastOf = new Map<string, TicketStory>()
  const counts = { backfills: 0, repeated: 0, unknown: 0 }

  const create = (ticket: RecordedTicket, at: number) => {
    if (stories.has(ticket.id)) {
      counts.repeated += 1
      return
    }
    const createdAt = Math.min(ticket.createdAt, at)
    const story: TicketStory = { ...ticket, createdAt, seenAt: at }
    stories.set(ticket.id, story)
    for (const { id } of ticket.players) lastOf.set(id, story)
  }
  const over = (known: ReadonlySet<TicketStory | undefined>, at: number) => {
    for (const story of known) {
      if (story === undefined) counts.unknown += 1
      else story.overAt = at
    }
  }
  const about = (id: string, tell: (story: TicketStory) => void) => {
    const story = stories.get(id)
    if (story === undefined) counts.unknown += 1
    else tell(story)
  }

  for (const line of lines) {
    switch (line.kind) {
      case 'start':
        break
      case 'create':
        create(line.ticket, line.at)
        break
      case 'cancel':
        about(line.ticketId, (story) => (story.cancelledAt ??= line.at))
        break
      case 'accept':
        about(line.ticketId, (story) => (story.acceptedAt = line.at))
        break
      case 'decline':
        about(line.ticketId, (story) => (story.declined = true))
        break
      case 'left':
        over(new Set(line.playerIds.map((id) => lastOf.get(id))), line.at)
        break
      case 'stop':
        over(new Set(line.ticketIds.map((id) => stories.get(id))), line.at)
        break
      default:
        counts.backfills += 1
    }
  }
  return { stories: [...stories.values()], ...counts }
}
