import type { Coordinates } from '@muster/core'
import type { Clock } from '@muster/core/clock'
import { type Locate, type Matchmaker, type QueueDefinition, recordTickets } from '@muster/matchmaker'

/** The recording for trials: the last hour, or as much of it as fits into memory. */
export type Recording = ReturnType<typeof createRecording>

export interface Recorded {
  /** Lines in order of time. Each piece ends with a complete line. */
  readonly pieces: readonly string[]
  /** Number of lines. */
  readonly lines: number
  /** Epoch milliseconds since which everything is recorded. */
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
  /** Full parts as one string each, which the garbage collector need not traverse. */
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
    /** Returns the matchmaker to use. Its commands are recorded. */
    of: (matchmaker: Matchmaker, queues: readonly QueueDefinition[], locate: Locate | undefined): Matchmaker =>
      recordTickets(matchmaker, write, { locate, queues, clock }),
    /** All recorded commands, without a gap between them. */
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

/** The lines of a recording after a time. */
export function* linesOf(pieces: readonly string[], since: number): Generator<string> {
  for (const piece of pieces) for (const line of piece.split('\n')) if (line !== '' && timeOf(line) >= since) yield line
}

/** Each line begins with its time. */
export const timeOf = (line: string): number => Number(/^\{"at":(\d+)/.exec(line)?.[1] ?? Number.NaN)

interface RecordingLine {
  readonly kind: string
  readonly ticket?: TicketFacts & { readonly id: string }
}

/** The recorded tickets by id. */
export function factsIn(lines: Iterable<string>): Map<string, TicketFacts> {
  const facts = new Map<string, TicketFacts>()
  for (const line of lines) {
    const { kind, ticket } = JSON.parse(line) as RecordingLine
    if (kind === 'create' && ticket !== undefined) facts.set(ticket.id, ticket)
  }
  return facts
}
