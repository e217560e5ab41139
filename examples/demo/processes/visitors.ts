import { systemClock } from '@muster/core/clock'
import type { Player, TicketInput } from '@muster/matchmaker'
import { BACKEND } from './messages.js'

/** A ticket as its players last saw it. */
export interface Seen {
  readonly status: string
  readonly version: number
}

/** Simulates the players of tickets, who are clients of the ticket API. */
export interface Visitors {
  /**
   * Creates a ticket, and follows it until its players have a server's address or the ticket has ended. If a process
   * ends meanwhile, the players use another one.
   */
  visit(id: string, ticket: TicketInput & { readonly queue: string }): Promise<void>
  /** The ids of tickets whose creation was acknowledged. */
  readonly acknowledged: ReadonlySet<string>
  /** The tickets as they were last seen, by id. */
  readonly seen: ReadonlyMap<string, Seen>
  /** Returns the number of requests that were repeated because a process had ended or did not respond. */
  repeated(): number
}

const WAIT_S = 20
const REPEAT_MS = 100
const ENDED = ['HOST_ASSIGNED', 'CANCELLED']

/** Creates the players. @param nextUrl returns the URL of a running process. */
export function createVisitors(nextUrl: () => string, signal: AbortSignal): Visitors {
  const acknowledged = new Set<string>()
  const seen = new Map<string, Seen>()
  let repeated = 0

  /** Repeats a request until a process has answered it. Resolves with undefined once the demo is over. */
  const ask = async (path: string, body?: object): Promise<Response | undefined> => {
    while (!signal.aborted) {
      try {
        const response = await fetch(`${nextUrl()}${path}`, {
          method: body === undefined ? 'GET' : 'POST',
          headers: { authorization: BACKEND, 'content-type': 'application/json' },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
          signal: AbortSignal.any([signal, AbortSignal.timeout((WAIT_S + 10) * 1000)]),
        })
        if (response.status < 500) return response
        await response.body?.cancel()
      } catch {
        // The process has ended, or was too slow.
      }
      repeated += 1
      await systemClock.sleep(REPEAT_MS)
    }
    return undefined
  }

  return {
    acknowledged,
    seen,
    repeated: () => repeated,
    visit: async (id, { queue, players }) => {
      const created =
        players.length === 1
          ? await ask('/tickets', { id, profile: queue, ...bodyOf(players[0] as Player) })
          : await ask('/group-tickets', {
              id,
              player_tickets: players.map((player) => ({ profile: queue, ...bodyOf(player) })),
            })
      if (created === undefined) return
      if (!created.ok) throw new Error(`a ticket was refused: ${await created.text()}`)
      acknowledged.add(id)
      seen.set(id, { status: 'SEARCHING', version: 1 })
      const own = players.length === 1 ? id : `${id}.0`
      for (let last = seen.get(id); !signal.aborted && !ENDED.includes(last?.status ?? ''); last = seen.get(id)) {
        const polled = await ask(`/tickets/${own}?wait=${WAIT_S}&version=${last?.version ?? 0}`)
        if (polled === undefined) return
        if (!polled.ok) throw new Error(`ticket ${id} could not be read: ${await polled.text()}`)
        seen.set(id, (await polled.json()) as Seen)
      }
    },
  }
}

const bodyOf = ({ id, ip, attributes, roles, avoid, latencies }: Player) => ({
  player_id: id,
  player_ip: ip,
  attributes: { ...attributes, ...(latencies === undefined ? {} : { beacons: latencies }) },
  roles,
  avoid,
})
