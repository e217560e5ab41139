import { matchOf, type RecordedEvent, ticketsOf } from './recorded-event.js'

/** Picks the events of one story, asked for each event in the order of time. */
export interface Follower {
  takes(event: RecordedEvent): boolean
}

/** Follows tickets through their matches: a match's server is part of their story while they are in the match. */
export class TicketFollower implements Follower {
  readonly tickets: Set<string>
  readonly players: Set<string>
  /** The match that each ticket is in. */
  readonly #matches = new Map<string, string>()
  /** The player whose tickets are followed, as they are created; undefined for given tickets alone. */
  readonly #of: string | undefined

  constructor(tickets: Iterable<string>, players: Iterable<string>, of?: string) {
    this.tickets = new Set(tickets)
    this.players = new Set(players)
    this.#of = of
  }

  takes(event: RecordedEvent): boolean {
    if (event.what === 'created') return this.#takesCreated(event)
    const named = ticketsOf(event)
    const theirs = named.length === 1 ? named : named.filter((id) => this.tickets.has(id))
    const [first] = theirs
    if (first !== undefined && this.tickets.has(first)) {
      for (const ticketId of theirs) this.#follow(ticketId, event)
      return true
    }
    if (event.what === 'left') return event.playerIds.some((id) => this.players.has(id)) && this.#isIn(event.matchId)
    if (named.length > 0 || !this.#isIn(matchOf(event))) return false
    if (event.what === 'ended') this.#leave(event.matchId)
    return true
  }

  #takesCreated(event: RecordedEvent & { readonly what: 'created' }): boolean {
    const isOfPlayer = this.#of !== undefined && event.playerIds.includes(this.#of)
    if (isOfPlayer) this.tickets.add(event.ticketId)
    if (!this.tickets.has(event.ticketId)) return false
    if (this.#of === undefined) for (const id of event.playerIds) this.players.add(id)
    return true
  }
  #follow(ticketId: string, event: RecordedEvent): void {
    if (event.what === 'returned' || event.what === 'cancelled') this.#matches.delete(ticketId)
    else this.#matches.set(ticketId, matchOf(event) as string)
  }
  #isIn(matchId: string | undefined): boolean {
    if (matchId === undefined) return false
    for (const current of this.#matches.values()) if (current === matchId) return true
    return false
  }
  #leave(matchId: string): void {
    for (const [ticketId, current] of this.#matches) if (current === matchId) this.#matches.delete(ticketId)
  }
}

/** All events of a match. */
export class MatchFollower implements Follower {
  readonly #matchId: string
  constructor(matchId: string) {
    this.#matchId = matchId
  }
  takes(event: RecordedEvent): boolean {
    return matchOf(event) === this.#matchId
  }
}

/** Finds the servers that had a name or an address, oldest first; it has no story of its own. */
export class HostFollower implements Follower {
  readonly requestIds = new Set<string>()
  readonly #host: string
  constructor(host: string) {
    this.#host = host
  }
  takes(event: RecordedEvent): boolean {
    if (event.what === 'assigned' && event.hosts.includes(this.#host)) this.requestIds.add(event.requestId)
    return false
  }
}

/** Events of a server, and what happens in its match while it has the server. */
export class ServerFollower implements Follower {
  readonly #requestId: string
  #matchId: string | undefined
  constructor(requestId: string) {
    this.#requestId = requestId
  }
  takes(event: RecordedEvent): boolean {
    if ('requestId' in event) {
      if (event.requestId !== this.#requestId) return false
      this.#matchId = event.what === 'ended' ? undefined : event.matchId
      return true
    }
    const isInMatch = this.#matchId !== undefined && matchOf(event) === this.#matchId
    return isInMatch && (event.what === 'left' || event.what === 'joined' || event.what === 'problem')
  }
}
