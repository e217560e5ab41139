import type { Ticket } from '@muster/matchmaker'

/** A server as listed by the service. */
export interface ServerSeen {
  readonly tags: readonly string[]
  readonly current_status: string
}

/** Records what Muster told clients, and finds broken promises. */
export interface Witness {
  readonly acknowledged: ReadonlySet<string>
  acknowledge(id: string): void
  cancelled(id: string): void
  saw(ticket: Ticket | undefined): void
  /**
   * Returns the broken promises: those seen so far, and contradictions at this moment. A contradiction may still
   * resolve while commands are running.
   * @param tickets all tickets that may exist, as read now
   */
  broken(tickets: readonly (Ticket | undefined)[], servers: readonly ServerSeen[]): readonly string[]
}

export function createWitness(): Witness {
  const acknowledged = new Set<string>()
  const cancelled = new Set<string>()
  const told = new Map<string, string>()
  const wrong = new Set<string>()

  const saw: Witness['saw'] = (ticket) => {
    if (ticket?.status !== 'HOST_ASSIGNED') return
    const where = `${ticket.matchId} at ${ticket.assignment?.fqdn}`
    const before = told.get(ticket.id) ?? where
    if (before !== where) wrong.add(`${ticket.id} was told ${before}, and then ${where}`)
    if (cancelled.has(ticket.id)) wrong.add(`${ticket.id} was cancelled, and then assigned`)
    told.set(ticket.id, where)
  }

  return {
    acknowledged,
    acknowledge: (id) => void acknowledged.add(id),
    cancelled: (id) => {
      cancelled.add(id)
      if (told.has(id)) wrong.add(`${id} was told where to connect, and then cancelled`)
    },
    saw,
    broken: (tickets, servers) => {
      for (const ticket of tickets) saw(ticket)
      const now = [...wrong]
      const known = new Map(tickets.flatMap((ticket) => (ticket === undefined ? [] : [[ticket.id, ticket] as const])))
      for (const id of acknowledged) {
        const ticket = known.get(id)
        if (ticket === undefined) now.push(`${id} was acknowledged, and is gone`)
        else if (ticket.status === 'CANCELLED' && ticket.cancelReason !== 'cancelled')
          now.push(`${id} was cancelled as ${ticket.cancelReason}`)
      }
      const matches = new Map<string, string[]>()
      for (const { id, status, matchId = '' } of known.values()) {
        if (status === 'MATCH_FOUND') now.push(`${id} is in a match without an end`)
        if (status === 'HOST_ASSIGNED') matches.set(matchId, [...(matches.get(matchId) ?? []), id])
      }
      for (const [matchId, ids] of matches)
        if (ids.length !== 2) now.push(`of match ${matchId} only ${ids.join()} is assigned`)
      const created = new Map<string, number>()
      const running: string[] = []
      for (const { tags, current_status } of servers) {
        const tag = tags.find((one) => !one.startsWith('mm-')) ?? ''
        created.set(tag, (created.get(tag) ?? 0) + 1)
        if (current_status !== 'Status.TERMINATED') running.push(tag)
      }
      for (const [tag, count] of created) if (count > 1) now.push(`${count} servers were created for ${tag}`)
      for (const matchId of matches.keys()) {
        const { length } = running.filter((tag) => tag.includes(matchId))
        if (length !== 1) now.push(`match ${matchId} has ${length} servers`)
      }
      const extra = running.filter((tag) => ![...matches.keys()].some((matchId) => tag.includes(matchId)))
      if (extra.length > 0) now.push(`servers run for nobody: ${extra.join(', ')}`)
      return now
    },
  }
}
