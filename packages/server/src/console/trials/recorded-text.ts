// pure: a recording as text
import type { Coordinates } from '@muster/core'

/** What a trial looks at of a recorded ticket. */
export interface TicketFacts {
  readonly queues: readonly string[]
  readonly players: readonly {
    readonly coordinates?: Coordinates | undefined
    readonly attributes?: Readonly<Record<string, unknown>> | undefined
  }[]
}

/** The lines of a recording since a time. */
export function* linesOf(pieces: readonly Uint8Array[], since: number): Generator<string> {
  for (const piece of pieces) {
    for (const line of new TextDecoder().decode(piece).split('\n')) {
      if (line !== '' && timeOf(line) >= since) yield line
    }
  }
}

/** Each line begins with its time. */
export const timeOf = (line: string): number => Number(/^\{"at":(\d+)/.exec(line)?.[1] ?? Number.NaN)

interface Line {
  readonly kind: string
  readonly ticket?: TicketFacts & { readonly id: string }
}

/** The recorded tickets by id. */
export function factsIn(lines: Iterable<string>): Map<string, TicketFacts> {
  const facts = new Map<string, TicketFacts>()
  for (const line of lines) {
    const { kind, ticket } = JSON.parse(line) as Line
    if (kind === 'create' && ticket !== undefined) facts.set(ticket.id, ticket)
  }
  return facts
}
