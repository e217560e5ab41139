import type { Client } from '@muster/core'
import { systemClock } from '@muster/core/clock'
import { createLimitMeter, type LimitUse, type Matchmaker, type Placed, type Ticket } from '@muster/matchmaker'
import type { Arrival } from './crowd.js'
import { playersIn, playersTo } from './players-in.js'
import type { Progress } from './progress.js'
import type { DemoQueue } from './queues.js'

/** Observes the demo, for the live view and for the result. */
export interface Watch {
  /** Records that a ticket was created. */
  came(ticket: Ticket): void
  progress(phase: Progress['phase']): Progress
  /** Returns all tickets that were created, in their present state. */
  tickets(): Ticket[]
  /** Returns true if every created ticket has an assignment or was cancelled. */
  allEnded(): boolean
  limits(): readonly LimitUse[]
  /** Number of players who joined an existing match, by the name of the queue. */
  readonly joined: ReadonlyMap<string, number>
  /** The servers whose location was chosen by latency, by the name of the queue. */
  readonly placed: ReadonlyMap<string, readonly Placed[]>
}

/** Milliseconds of waiting from which on the live view explains a ticket. */
const WORTH_ASKING_MS = 1500

export function watchDemo(
  matchmaker: Matchmaker,
  client: Client,
  queues: readonly DemoQueue[],
  arrivals: readonly Arrival[],
): Watch {
  const created = new Map<string, string>()
  const peaks = new Map<string, LimitUse>()
  const joined = new Map<string, number>()
  const placed = new Map<string, Placed[]>()
  const meter = createLimitMeter()
  let requests = 0
  let matches = 0
  let serversReady = 0
  client.events.on('request', ({ operation }) => {
    requests += 1
    meter.left(operation, systemClock.now())
  })
  matchmaker.on('matchFound', () => void (matches += 1))
  matchmaker.on('deploymentReady', ({ queue, placed: one }) => {
    serversReady += 1
    if (one !== undefined) placed.set(queue, [...(placed.get(queue) ?? []), one])
  })
  matchmaker.on(
    'backfillJoined',
    ({ queue, tickets }) => void joined.set(queue, (joined.get(queue) ?? 0) + playersIn(tickets)),
  )

  const tickets = () => [...created.keys()].flatMap((id) => matchmaker.getTicket(id) ?? [])
  /**
   * The ids of tickets that are not known to have ended, in the order of creation. So not every call visits the whole
   * crowd.
   */
  const open = new Set<string>()
  const allEnded = () => {
    for (const id of open) {
      const status = matchmaker.getTicket(id)?.status
      if (status === 'SEARCHING' || status === 'MATCH_FOUND') return false
      open.delete(id)
    }
    return true
  }
  const limits = () => {
    for (const use of meter.take())
      peaks.set(use.name, { ...use, peak: Math.max(use.peak, peaks.get(use.name)?.peak ?? 0) })
    return [...peaks.values()]
  }
  const longestOf = (all: readonly Ticket[]): Progress['longest'] => {
    const longest = all.find(({ status }) => status === 'SEARCHING')
    if (longest === undefined) return undefined
    const waitedMs = systemClock.now() - longest.createdAt
    if (waitedMs < WORTH_ASKING_MS) return undefined
    return { queue: created.get(longest.id) ?? '', waitedMs, why: matchmaker.explain(longest.id).summary }
  }

  return {
    came: ({ id, queues: [queue = ''] }) => {
      created.set(id, queue)
      open.add(id)
    },
    tickets,
    allEnded,
    limits,
    joined,
    placed,
    progress: (phase) => {
      const all = tickets()
      return {
        queues: queues.map(({ title, definition: { name } }) => {
          const mine = all.filter(({ id }) => created.get(id) === name)
          const having = (status: Ticket['status']) => playersIn(mine.filter((ticket) => ticket.status === status))
          return {
            title,
            players: playersTo(name, arrivals),
            arrived: playersIn(mine),
            waiting: having('SEARCHING'),
            deploying: having('MATCH_FOUND'),
            playing: having('HOST_ASSIGNED'),
          }
        }),
        matches,
        serversReady,
        requests,
        limits: limits(),
        longest: phase === 'matching' ? longestOf(all) : undefined,
        phase,
      }
    },
  }
}
