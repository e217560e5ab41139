// pure: who was in a queue, and when
import { middleOf } from '@muster/core'
import type { CompiledQueue } from '@muster/matchmaker'
import { networkOf } from '@muster/matchmaker/replay'
import type { Crowd, CrowdParty } from '../crowd/crowd.js'
import type { RunOutcome } from '../run/outcome.js'

/** A matched ticket while it waited: it could be matched with any other that was there at the same time. */
export interface Present {
  /** Index of the ticket in the outcome. */
  readonly ticket: number
  readonly entry: Entry
  /** Milliseconds from the crowd's start. */
  readonly from: number
  /** When its match was complete: nobody is to wait longer than in the run. */
  readonly until: number
  /** Index of its match in the outcome. */
  readonly match: number
}

export type Entry = ReturnType<CompiledQueue['entryOf']>

/** The tickets that a queue has matched, in the order of their creation. */
export function presentIn(compiled: CompiledQueue, crowd: Crowd, outcome: RunOutcome): Present[] {
  const { name } = compiled.queue
  const completeAt = completionOf(outcome)
  const entries = new Map<number, Entry | undefined>()
  const present: Present[] = []
  for (const [index, { party: at, match, end, createdAt }] of outcome.tickets.entries()) {
    const party = crowd.parties[at]
    if (party === undefined || match === undefined || end !== 'assigned') continue
    if (outcome.matches[match]?.queue !== name) continue
    if (!entries.has(at)) entries.set(at, entryOf(compiled, party))
    const entry = entries.get(at)
    const until = completeAt.get(match) as number
    if (entry !== undefined) present.push({ ticket: index, entry, from: createdAt, until, match })
  }
  return present.toSorted((one, other) => one.from - other.from || one.ticket - other.ticket)
}

/** When the last ticket of each match joined it: later than the others only where it replaced somebody. */
function completionOf({ tickets }: RunOutcome): Map<number, number> {
  const completeAt = new Map<number, number>()
  for (const { match, matchedAt = 0 } of tickets)
    if (match !== undefined) completeAt.set(match, Math.max(matchedAt, completeAt.get(match) ?? 0))
  return completeAt
}

function entryOf(compiled: CompiledQueue, { id, players, priority = 0 }: CrowdParty): Entry | undefined {
  try {
    return compiled.entryOf({
      id,
      createdAt: 0,
      priority,
      players: players.map((player) => ({
        id: player.id,
        attributes: player.attributes ?? {},
        roles: player.roles ?? [],
        latencies: player.latencies ?? {},
        avoid: player.avoid ?? [],
      })),
      place: middleOf(players.flatMap(({ coordinates }) => coordinates ?? [])),
      network: networkOf(players),
    })
  } catch {
    // The queue refuses such a ticket, e.g. because a rating book gave it the attributes that the crowd does not know.
    return undefined
  }
}
