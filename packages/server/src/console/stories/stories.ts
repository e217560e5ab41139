import type { FoundStories, Story, StoryEvent, StoryExplanation, StoryKind } from '@muster/console/internal'
import { type FoundPlayer, type Inspection, type Ticket, Unavailable, UnknownTicket } from '@muster/matchmaker'
import { isEndOfMatch } from '@muster/matchmaker/internal'
import type { ConsoleMatchmaker } from '../options.js'
import { type EventRing, matchOf, type RecordedEvent, ticketsOf } from './recorded-events.js'
import { type QueueLimits, relaxations, searchingSpans, storyEvent } from './sentences.js'
import { matchStanding, playerStanding, serverStanding, type CurrentState, ticketStanding } from './standing.js'

/**
 * Selects the events of one story. A story is what happened to a player, ticket, match or server, in order of time.
 * `takes` is called for each recorded event in that order. It returns true if the event belongs to the story.
 */
interface Follower {
  takes(event: RecordedEvent): boolean
}

/** Selects the events of tickets. Also selects the events of a match's server while a ticket is in the match. */
class TicketFollower implements Follower {
  readonly tickets: Set<string>
  readonly players: Set<string>
  /** The current match of each ticket, by ticket id. */
  readonly #matches = new Map<string, string>()
  /** The player whose new tickets are followed too; undefined if only the given tickets are followed. */
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
    if (event.what === 'ended' || (event.what === 'freed' && isEndOfMatch(event.reason))) this.#leave(event.matchId)
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

/** Selects the events of a server. Also selects the events of its match while the match is on the server. */
class ServerFollower implements Follower {
  /** The id of the server's deployment, or the server's own id. */
  readonly #wanted: string
  #requestId: string | undefined
  #serverId: string | undefined
  /** The match that the server now serves. */
  #matchId: string | undefined
  /** For servers of pools that had no deployment yet: the event by which a match took the server, by server id. */
  readonly #early = new Map<string, RecordedEvent>()

  constructor(wanted: string) {
    this.#wanted = wanted
  }

  /** Returns the id of the server's deployment. */
  requestId(): string {
    return this.#requestId ?? this.#wanted
  }

  /** Returns the matchmaker's id of the server. */
  serverId(): string | undefined {
    return this.#serverId
  }

  /**
   * Returns the event by which a match took the server while it had no deployment. Empty if `takes` has selected that
   * event.
   */
  early(): readonly RecordedEvent[] {
    const event = this.#early.get(this.#serverId ?? '')
    return event === undefined || this.#serverId === this.#wanted ? [] : [event]
  }

  takes(event: RecordedEvent): boolean {
    if ('serverId' in event) return this.#takesOfServer(event)
    if ('requestId' in event) {
      if (!this.#isIts(event.requestId, 'pool' in event && event.pool !== undefined ? event.matchId : undefined)) {
        if (event.what === 'deployed') this.#early.delete(event.matchId)
        return false
      }
      this.#requestId = event.requestId
      if (event.what !== 'assigned') this.#serverId ??= event.matchId
      this.#matchId = event.what === 'ended' ? undefined : event.matchId
      return true
    }
    const isInMatch = this.#matchId !== undefined && matchOf(event) === this.#matchId
    return isInMatch && (event.what === 'left' || event.what === 'joined' || event.what === 'problem')
  }

  #takesOfServer(event: Extract<RecordedEvent, { readonly serverId: string }>): boolean {
    const { what, serverId, pool, requestId } = event
    if (requestId === undefined && what === 'taken') this.#early.set(serverId, event)
    if (!this.#isIts(requestId, pool === undefined ? undefined : serverId)) return false
    this.#requestId ??= requestId
    this.#serverId = serverId
    if (what === 'freed' && event.matchId === this.#matchId) this.#matchId = undefined
    return true
  }

  /**
   * Returns true if an event with these ids is about this server.
   * @param serverId id of a server of a pool; undefined for other servers, whose id is that of their match
   */
  #isIts(requestId: string | undefined, serverId: string | undefined): boolean {
    return (requestId !== undefined && requestId === this.requestId()) || serverId === this.#wanted
  }
}

interface StoriesOptions {
  readonly ring: EventRing
  /** Resolves once the ring contains the events of earlier processes. */
  readonly loaded: () => Promise<void>
  /** Returns the operators' actions on one object. */
  readonly operated: (kind: StoryKind, id: string) => readonly StoryEvent[]
  readonly matchmaker: Pick<ConsoleMatchmaker, 'getTicket' | 'findPlayer' | 'cooldownsOf' | 'explain' | 'inspect'>
  /** Returns the limits of a queue; undefined if the queue does not exist now. */
  readonly limitsOf: (queue: string) => QueueLimits | undefined
  /** Returns the time in epoch milliseconds. */
  readonly now: () => number
  readonly startedAt: number
  /** Resolves after the event loop has run other work. */
  readonly yieldNow: () => Promise<void>
}

/** Returns the stories of everything that has the id `id`. */
export type FindStories = (id: string) => Promise<FoundStories>

/** The event with which a complete story of each kind begins. */
const FIRST: Readonly<Record<StoryKind, RecordedEvent['what']>> = {
  player: 'created',
  ticket: 'created',
  match: 'found',
  server: 'deployed',
}

const MOST_EVENTS = 500
/** Maximum number of servers that are shown for one host address. Addresses are reused. */
const MOST_AT_ONE_HOST = 3
const MOST_RELATED = 40
/** Number of events that are read before the event loop runs again: some milliseconds of work. */
const SLICE = 20_000

export function createStories(options: StoriesOptions): FindStories {
  const { ring, loaded, operated, matchmaker, limitsOf, now, startedAt, yieldNow } = options

  /** Reads all events once, and returns the events that each follower selects. */
  const follow = async (followers: readonly Follower[]): Promise<RecordedEvent[][]> => {
    const taken = followers.map((): RecordedEvent[] => [])
    let seen = 0
    for (const event of ring.scan()) {
      for (const [index, follower] of followers.entries()) if (follower.takes(event)) taken[index]?.push(event)
      seen += 1
      if (seen % SLICE === 0) await yieldNow()
    }
    return taken
  }

  const explanationOf = async ({ id, status }: Ticket): Promise<StoryExplanation | null> => {
    if (status !== 'SEARCHING') return null
    try {
      const { summary, queues } = await matchmaker.explain(id)
      return {
        summary,
        queues: queues.map(({ queue, summary: why, rules, others }) => ({
          queue,
          summary: why,
          rules: rules.map(({ rule, lets }) => ({ rule, lets, of: others })),
        })),
      }
    } catch (error) {
      if (error instanceof UnknownTicket) return null // The ticket has just been removed.
      throw error
    }
  }

  const relaxed = (ticket: Ticket | undefined, events: readonly RecordedEvent[]): StoryEvent[] => {
    const created = events.find(({ what }) => what === 'created')
    const createdAt = ticket?.createdAt ?? created?.at
    if (createdAt === undefined) return []
    const names = ticket?.queues ?? (created?.what === 'created' ? created.queues : [])
    const limits = names.flatMap((name) => limitsOf(name) ?? [])
    return relaxations(createdAt, limits, searchingSpans(createdAt, events), now())
  }

  const story = (
    { kind, id, serverId }: { readonly kind: StoryKind; readonly id: string; readonly serverId?: string | undefined },
    events: readonly RecordedEvent[],
    { state, actions }: CurrentState,
    more: { readonly relaxed?: readonly StoryEvent[]; readonly explanation?: StoryExplanation | null } = {},
  ): Story => {
    const all = [...(more.relaxed ?? []), ...events.map(storyEvent), ...operated(kind, serverId ?? id)].toSorted(
      (one, other) => one.at - other.at,
    )
    // A server's story is complete if it begins with `FIRST`. An event `taken` before that does not count, because a
    // match may take a server that is not created yet.
    const first = events.find(({ what }) => kind !== 'server' || what !== 'taken')
    const isWhole = first?.what === FIRST[kind]
    return {
      kind,
      id,
      state,
      events: all.slice(-MOST_EVENTS),
      cut: all.length > MOST_EVENTS || !isWhole,
      explanation: more.explanation ?? null,
      related: relatedOf(all, kind, id),
      serverId: serverId ?? null,
      actions,
    }
  }

  const sinceWhen = () => {
    const oldest = ring.since() ?? startedAt
    return ring.hasDropped() ? oldest : Math.min(oldest, startedAt)
  }

  /** Returns the current matches and servers; undefined if they cannot be queried. */
  const inspected = async (): Promise<Pick<Inspection, 'matches' | 'servers'> | undefined> => {
    try {
      return await matchmaker.inspect()
    } catch (error) {
      if (error instanceof Unavailable) return undefined
      throw error
    }
  }

  /** Returns the deployment ids of the newest servers with this name or address. */
  const serversAt = async (host: string): Promise<readonly string[]> => {
    if (!/[.:]/.test(host)) return []
    const [assigned = []] = await follow([
      { takes: (event) => event.what === 'assigned' && event.hosts.includes(host) },
    ])
    const requestIds = new Set(assigned.flatMap((event) => ('requestId' in event ? (event.requestId ?? []) : [])))
    return [...requestIds].slice(-MOST_AT_ONE_HOST)
  }

  const ofTicket = async (id: string, ticket: Ticket | undefined, events: readonly RecordedEvent[]) =>
    story({ kind: 'ticket', id }, events, ticketStanding(ticket, events, now()), {
      relaxed: relaxed(ticket, events),
      explanation: ticket === undefined ? null : await explanationOf(ticket),
    })

  return async (wanted) => {
    await loaded()
    const seat = /^(.+)\.\d+$/.exec(wanted)?.[1]
    const [known, found, cooldowns, hosted] = await Promise.all([
      matchmaker.getTicket(wanted),
      matchmaker.findPlayer(wanted),
      matchmaker.cooldownsOf(wanted),
      serversAt(wanted),
    ])
    // In the ticket `abc` of a party, members get the ticket ids `abc.0`, `abc.1` and so on.
    const ticketId = known === undefined && seat !== undefined ? seat : wanted
    const ticket = known ?? (seat === undefined ? undefined : await matchmaker.getTicket(seat))
    const followers = [wanted, ...hosted].map((requestId) => new ServerFollower(requestId))
    const [ofTheTicket = [], ofPlayer = [], ofMatch = [], ...ofServers] = await follow([
      new TicketFollower([ticketId], ticket?.players.map((player) => player.id) ?? []),
      new TicketFollower(
        found.tickets.map((one) => one.id),
        [wanted],
        wanted,
      ),
      { takes: (event) => matchOf(event) === wanted },
      ...followers,
    ])
    // The servers are read after the events, so that no started server is missed. A server that has ended meanwhile has
    // no phase.
    const seen = await inspected()
    const all = seen?.matches
    const stories: Story[] = []
    if (ticket !== undefined || ofTheTicket.length > 0) stories.push(await ofTicket(ticketId, ticket, ofTheTicket))
    if (isKnown(found) || cooldowns.length > 0 || ofPlayer.length > 0) {
      const [waits] = found.tickets.filter(({ status }) => status === 'SEARCHING')
      const standing = playerStanding(found, cooldowns, ofPlayer, now())
      const explanation = waits === undefined ? null : await explanationOf(waits)
      stories.push(withTickets(story({ kind: 'player', id: wanted }, ofPlayer, standing, { explanation }), found))
    }
    const match = all?.find(({ matchId, pool }) => matchId === wanted && pool === undefined)
    if (match !== undefined || ofMatch.length > 0)
      stories.push(story({ kind: 'match', id: wanted }, ofMatch, matchStanding(ofMatch, match, all !== undefined)))
    for (const [index, follower] of followers.entries()) {
      const requestId = follower.requestId()
      const events = [...follower.early(), ...(ofServers[index] ?? [])]
      const server = all?.find((one) => one.requestId === requestId && one.hosted === undefined)
      if (server === undefined && events.length === 0) continue
      const registered = seen?.servers.find(({ id }) => id === server?.matchId)
      const standing = serverStanding(events, server, all !== undefined, registered)
      const serverId = server?.matchId ?? follower.serverId()
      stories.push(story({ kind: 'server', id: requestId, serverId }, events, standing))
    }
    return { id: wanted, stories, since: Math.floor(sinceWhen()) }
  }
}

const isKnown = ({ tickets, match }: FoundPlayer) => tickets.length > 0 || match !== undefined

/** Puts the player's current tickets and match first among the related objects. */
function withTickets(story: Story, { tickets, match }: FoundPlayer): Story {
  const now = [
    ...tickets.map(({ id }) => ({ kind: 'ticket' as const, id })),
    ...(match === undefined ? [] : [{ kind: 'match' as const, id: match.matchId }]),
  ]
  const isNow = (one: Story['related'][number]) => now.some(({ kind, id }) => kind === one.kind && id === one.id)
  return { ...story, related: [...now, ...story.related.filter((one) => !isNow(one))].slice(0, MOST_RELATED) }
}

/** Returns the objects related to a story, the newest first, because they matter most. */
function relatedOf(events: readonly StoryEvent[], kind: StoryKind, id: string): Story['related'] {
  const related = new Map<string, Story['related'][number]>()
  for (const { refs } of events.toReversed()) {
    for (const ref of refs) {
      if (ref.kind === kind && ref.id === id) continue
      related.set(`${ref.kind} ${ref.id}`, ref)
      if (related.size === MOST_RELATED) return [...related.values()]
    }
  }
  return [...related.values()]
}
