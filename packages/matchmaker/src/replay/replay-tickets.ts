import { InvalidInput } from '@muster/core'
import { createManualClock, seededRandom } from '@muster/core/clock'
import { z } from 'zod'
import { createMatchmaker } from '../create-matchmaker.js'
import type { QueueDefinition } from '../queues/queue.js'
import { read } from '../read.js'
import type { Ticket } from '../tickets/ticket.js'
import { createActor } from './actor.js'
import { readLine, type RecordedLine } from './lines.js'
import { createOutcomes, type ReplayedMatch, type ReplayedTicket } from './outcomes.js'
import { createStubService } from './stub-service.js'
import { summarize, type ReplaySummary } from './summary.js'

export interface ReplayOptions {
  /** What would have been with these queues? Default: those in the recording. */
  readonly queues?: readonly QueueDefinition[] | undefined
  /** Other seeds make other ids. A whole number from 0. Default 1. */
  readonly seed?: number | undefined
  /** Milliseconds between two ticks. Default 250. */
  readonly tickMs?: number | undefined
  /** Milliseconds that every server takes to be READY. Default 5000 (our choice). */
  readonly startMs?: number | undefined
  /**
   * Whether players accept when they did in the recording (default), or always and at once, e.g. if nobody was asked
   * then.
   */
  readonly acceptance?: 'recorded' | 'always' | undefined
}

/** What became of everybody. */
export interface Replay {
  /** In the order in which they were found. */
  readonly matches: readonly ReplayedMatch[]
  /** In the order of the recording. */
  readonly tickets: readonly ReplayedTicket[]
  /** Tickets that the queues do not take. */
  readonly refused: readonly { readonly ticketId: string; readonly error: Error }[]
  /** Other lines that had nothing to apply to, e.g. because a match was another one. */
  readonly skipped: number
  readonly summary: ReplaySummary
}

const schema = z.strictObject({
  queues: z.array(z.custom<QueueDefinition>()).min(1).optional(),
  seed: z.int().min(0).default(1),
  tickMs: z.number().min(1).max(60_000).default(250),
  startMs: z.number().min(0).max(600_000).default(5000),
  acceptance: z.enum(['recorded', 'always']).default('recorded'),
})

/**
 * Lets a recording happen again, on a clock of its own and with a service that has room for everybody. The same
 * lines, options and version give the same matches, whatever the machine.
 * @param lines of `recordTickets`, with or without line feeds; empty ones are ignored.
 * @throws {InvalidInput} naming the line, or the option; {InvalidQueue}
 */
export async function replayTickets(
  lines: Iterable<string> | AsyncIterable<string>,
  options: ReplayOptions = {},
): Promise<Replay> {
  const given = read(schema, options, (field, message) => new InvalidInput(`option ${message}`, { field }))
  const { seed, tickMs, startMs, acceptance } = given
  const recording = await readRecording(lines)
  const queues = given.queues ?? queuesOf(recording)

  const clock = createManualClock({ start: recording[0]?.at ?? 0 })
  const matchmaker = createMatchmaker({
    deployments: createStubService(clock, startMs),
    // Who queued again had left a match that may be another one here, and whose end nobody writes down.
    queues: queues.map((queue) => ({ ...queue, playersMayWaitWhilePlaying: true })),
    clock,
    random: seededRandom(seed),
    tickMs,
    maxServers: Infinity,
    maxStarting: Infinity,
    // Whatever the machine does meanwhile, no round is cut off.
    stopwatch: () => 0,
  })
  const outcomes = createOutcomes(matchmaker)
  const actor = createActor(matchmaker, outcomes)
  if (acceptance === 'always') {
    const accept = ({ tickets }: { readonly tickets: readonly Ticket[] }) => {
      for (const ticket of tickets) if (ticket.acceptance !== undefined) matchmaker.acceptMatch(ticket.id)
    }
    matchmaker.on('matchFound', accept)
    matchmaker.on('joined', accept)
  }

  matchmaker.start()
  for (const line of recording) {
    // Also where no time passes: what came one after the other did not arrive together.
    await clock.advance(Math.max(0, line.at - clock.now()))
    actor.act(line)
  }
  while (outcomes.waiting > 0) await clock.advance(tickMs)
  await clock.until(matchmaker.close({ stopServers: true }))

  const tickets = outcomes.tickets()
  const { refused, skipped } = actor
  return { matches: outcomes.matches(), tickets, refused, skipped, summary: summarize(tickets, outcomes.players) }
}

async function readRecording(lines: Iterable<string> | AsyncIterable<string>): Promise<RecordedLine[]> {
  const recording: RecordedLine[] = []
  let number = 0
  for await (const text of lines) {
    number += 1
    if (text.trim() !== '') recording.push(readLine(text, number))
  }
  return recording.toSorted((a, b) => a.n - b.n)
}

function queuesOf(recording: readonly RecordedLine[]): readonly QueueDefinition[] {
  const [first] = recording
  const queues = first?.kind === 'start' ? first.queues : undefined
  if (queues === undefined) {
    throw new InvalidInput('option queues: must be given, since the recording has none', { field: 'queues' })
  }
  // They are checked like any others when the matchmaker is made.
  return queues as readonly QueueDefinition[]
}
