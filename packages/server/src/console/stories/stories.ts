import type { Found, Story, StoryEvent, StoryExplanation, StoryKind } from '@muster/console/wire'
import { UnknownTicket, type FoundPlayer, type Ticket } from '@muster/matchmaker'
import type { ConsoleMatchmaker } from '../options.js'
import type { EventRing } from './event-ring.js'
import { MatchFollower, ServerFollower, TicketFollower, type Follower } from './followers.js'
import type { RecordedEvent } from './recorded-event.js'
import { relaxations, searchingSpans, type Limits } from './relaxations.js'
import { storyEvent } from './sentences.js'
import { matchStanding, playerStanding, serverStanding, ticketStanding, type Standing } from './standing.js'

export interface StoriesOptions {
  readonly ring: EventRing
  readonly matchmaker: Pick<ConsoleMatchmaker, 'getTicket' | 'findPlayer' | 'cooldownsOf' | 'explain'>
  /** The limits of a queue that is in force. */
  readonly limitsOf: (queue: string) => Limits | undefined
  /** Epoch milliseconds. */
  readonly now: () => number
  readonly startedAt: number
  /** Lets the event loop run. */
  readonly breathe: () => Promise<void>
}

/** Finds the stories of an id. */
export type FindStories = (id: string) => Promise<Found>

/** The event with which a story begins. */
const FIRST: Readonly<Record<StoryKind, RecordedEvent['what']>> = {
  player: 'created',
  ticket: 'created',
  match: 'found',
  server: 'deployed',
}

const MOST_EVENTS = 500
const MOST_RELATED = 40
/** Events looked at before the event loop runs: some milliseconds of work. */
const SLICE = 20_000

export function createStories(options: StoriesOptions): FindStories {
  const { ring, matchmaker, limitsOf, now, startedAt, breathe } = options

  /** Reads all events once, for all stories that an id may have. */
  const follow = async (followers: readonly Follower[]): Promise<RecordedEvent[][]> => {
    const taken = followers.map((): RecordedEvent[] => [])
    let seen = 0
    for (const event of ring.scan()) {
      for (const [index, follower] of followers.entries()) if (follower.takes(event)) taken[index]?.push(event)
      seen += 1
      if (seen % SLICE === 0) await breathe()
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
      if (error instanceof UnknownTicket) return null // it has just ended
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
    { kind, id }: { readonly kind: StoryKind; readonly id: string },
    events: readonly RecordedEvent[],
    { state, actions }: Standing,
    more: { readonly relaxed?: readonly StoryEvent[]; readonly explanation?: StoryExplanation | null } = {},
  ): Story => {
    const all = [...(more.relaxed ?? []), ...events.map(storyEvent)].toSorted((one, other) => one.at - other.at)
    const begins = events[0]?.what
    const isWhole = begins === FIRST[kind]
    return {
      kind,
      id,
      state,
      events: all.slice(-MOST_EVENTS),
      cut: all.length > MOST_EVENTS || !isWhole,
      explanation: more.explanation ?? null,
      related: relatedOf(all, kind, id),
      actions,
    }
  }

  return async (id) => {
    const [ticket, found, cooldowns] = await Promise.all([
      matchmaker.getTicket(id),
      matchmaker.findPlayer(id),
      matchmaker.cooldownsOf(id),
    ])
    const [ofTicket = [], ofPlayer = [], ofMatch = [], ofServer = []] = await follow([
      new TicketFollower([id], ticket?.players.map((player) => player.id) ?? []),
      new TicketFollower(
        found.tickets.map((one) => one.id),
        [id],
        id,
      ),
      new MatchFollower(id),
      new ServerFollower(id),
    ])
    const stories: Story[] = []
    if (ticket !== undefined || ofTicket.length > 0) {
      stories.push(
        story({ kind: 'ticket', id }, ofTicket, ticketStanding(ticket, ofTicket, now()), {
          relaxed: relaxed(ticket, ofTicket),
          explanation: ticket === undefined ? null : await explanationOf(ticket),
        }),
      )
    }
    if (isKnown(found) || cooldowns.length > 0 || ofPlayer.length > 0) {
      const [waits] = found.tickets.filter(({ status }) => status === 'SEARCHING')
      const standing = playerStanding(found, cooldowns, ofPlayer, now())
      const explanation = waits === undefined ? null : await explanationOf(waits)
      stories.push(withTickets(story({ kind: 'player', id }, ofPlayer, standing, { explanation }), found))
    }
    if (ofMatch.length > 0) stories.push(story({ kind: 'match', id }, ofMatch, matchStanding(ofMatch)))
    if (ofServer.length > 0) stories.push(story({ kind: 'server', id }, ofServer, serverStanding(ofServer)))
    return { id, stories, since: Math.floor(ring.hasDropped() ? (ring.since() ?? startedAt) : startedAt) }
  }
}

const isKnown = ({ tickets, match }: FoundPlayer) => tickets.length > 0 || match !== undefined

/** What a player is in now comes first among what is related. */
function withTickets(story: Story, { tickets, match }: FoundPlayer): Story {
  const now = [
    ...tickets.map(({ id }) => ({ kind: 'ticket' as const, id })),
    ...(match === undefined ? [] : [{ kind: 'match' as const, id: match.matchId }]),
  ]
  const isNow = (one: Story['related'][number]) => now.some(({ kind, id }) => kind === one.kind && id === one.id)
  return { ...story, related: [...now, ...story.related.filter((one) => !isNow(one))].slice(0, MOST_RELATED) }
}

/** The newest first, since they matter most. */
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
