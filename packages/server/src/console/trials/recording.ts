import type { Coordinates } from '@muster/core'
import type { Clock } from '@muster/core/clock'
import { type Locate, type Matchmaker, type QueueDefinition, recordTickets } from '@muster/matchmaker'

/** The commands recorded for trials: those of the last hour, or as many as fit into memory. */
export type Recording = ReturnType<typeof createRecording>

export interface Recorded {
  /** Lines in order of time, joined into pieces. Each piece ends with a complete line. */
  readonly pieces: readonly string[]
  /** Number of lines in all pieces. */
  readonly lines: number
  /** Epoch milliseconds from which on all commands are recorded. */
  readonly from: number
  /** True if earlier commands were dropped for lack of memory. */
  readonly isPart: boolean
}

interface RecordingOptions {
  readonly clock: Clock
  /** Size of one part in UTF-16 units. */
  readonly partLength: number
  /** Maximum number of parts. A further one replaces the oldest. */
  readonly parts: number
}

export function createRecording({ clock, partLength, parts }: RecordingOptions) {
  const begin = () => ({ from: clock.now(), lines: [] as string[], length: 0 })
  let current = begin()
  /** Full parts, the oldest first. Each is one string, because the garbage collector need not traverse a string. */
  let full: readonly { readonly from: number; readonly lines: number; readonly text: string }[] = []
  let isPart = false

  const write = (line: string) => {
    if (current.length >= partLength) {
      const { from, lines } = current
      const all = [...full, { from, lines: lines.length, text: lines.join('') }]
      full = all.slice(-(parts - 1))
      isPart ||= full.length < all.length
      current = begin()
    }
    current.lines.push(line)
    current.length += line.length
  }

  return {
    /** Returns a matchmaker that records its commands and passes them on. */
    of: (matchmaker: Matchmaker, queues: readonly QueueDefinition[], locate: Locate | undefined): Matchmaker =>
      recordTickets(matchmaker, write, { locate, queues, clock }),
    /** Returns all recorded commands, without a gap. */
    latest: (): Recorded => ({
      pieces: [...full.map(({ text }) => text), current.lines.join('')],
      lines: full.reduce((sum, { lines }) => sum + lines, current.lines.length),
      from: (full[0] ?? current).from,
      isPart,
    }),
  }
}

/** The fields of a recorded ticket that a trial reads. */
export interface TicketFacts {
  readonly queues: readonly string[]
  readonly players: readonly {
    readonly coordinates?: Coordinates | undefined
    readonly attributes?: Readonly<Record<string, unknown>> | undefined
  }[]
}

/** Yields the lines of a recording from the time `since` on. */
export function* linesOf(pieces: readonly string[], since: number): Generator<string> {
  for (const piece of pieces) for (const line of piece.split('\n')) if (line !== '' && timeOf(line) >= since) yield line
}

/** Returns the time of a line in epoch milliseconds; NaN for a line that does not begin with a time. */
export const timeOf = (line: string): number => Number(/^\{"at":(\d+)/.exec(line)?.[1] ?? Number.NaN)

interface RecordingLine {
  readonly kind: string
  readonly ticket?: TicketFacts & { readonly id: string }
}

/** Returns the recorded tickets by id. */
export function factsIn(lines: Iterable<string>): Map<string, TicketFacts> {
  const facts = new Map<string, TicketFacts>()
  for (const line of lines) {
    const { kind, ticket } = JSON.parse(line) as RecordingLine
    if (kind === 'create' && ticket !== undefined) facts.set(ticket.id, ticket)
  }
  return facts
}
