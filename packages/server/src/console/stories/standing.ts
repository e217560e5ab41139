import type { StoryAction } from '@muster/console/internal'
import type { Cooldown, FoundPlayer, Inspection, Ticket } from '@muster/matchmaker'
import { type AllocationView, isEndOfMatch } from '@muster/matchmaker/internal'
import type { RecordedEvent } from './recorded-events.js'
import { lasted, storyEvent } from './sentences.js'

export interface CurrentState {
  readonly state: string
  readonly actions: readonly StoryAction[]
}

/** Returns the current state of a ticket. @param ticket undefined if the ticket does not exist any more. */
export function ticketStanding(
  ticket: Ticket | undefined,
  events: readonly RecordedEvent[],
  now: number,
): CurrentState {
  if (ticket === undefined) return { state: `gone; ${lastOf(events)}`, actions: [] }
  const { status, createdAt, queues, queue = '', waitingFor } = ticket
  switch (status) {
    case 'SEARCHING': {
      const lacks = waitingFor === undefined || waitingFor === 'players' ? '' : `, ${waiting[waitingFor]}`
      return {
        state: `searching for ${lasted(now - createdAt)} in ${queues.join(', ')}${lacks}`,
        actions: ['cancel-ticket'],
      }
    }
    case 'MATCH_FOUND': {
      const next = ticket.acceptance === undefined ? 'which gets its server' : 'asked to accept it'
      return { state: `in a match of ${queue}, ${next}`, actions: ['cancel-ticket'] }
    }
    case 'HOST_ASSIGNED':
      return { state: `sent to the server of its match in ${queue}`, actions: [] }
    case 'CANCELLED':
      return { state: `ended ${lasted(now - (ticket.cancelledAt ?? now))} ago`, actions: [] }
  }
}

const waiting: Readonly<Record<Exclude<NonNullable<Ticket['waitingFor']>, 'players'>, string>> = {
  location: 'its place is being looked up',
  retry: 'about to try again, because its match got no server',
  servers: 'its match waits for a server that may be created',
  'other-ticket': 'another ticket of its players has a match',
}

/**
 * Returns the current state of a match.
 * @param server the match's server, if it has one now
 * @param isSeen true if the current servers are known. A match without a server is then over, even if a crash has lost
 * its last event
 */
export function matchStanding(
  events: readonly RecordedEvent[],
  server: AllocationView | undefined,
  isSeen: boolean,
): CurrentState {
  if (server !== undefined) return { state: phases[server.phase], actions: ['stop-match'] }
  const inside = new Set<string>()
  let state = 'forming'
  let isOver = false
  for (const event of events) {
    switch (event.what) {
      case 'found':
      case 'joined':
        for (const id of event.ticketIds) inside.add(id)
        break
      case 'returned':
      case 'cancelled':
        inside.delete(event.ticketId)
        if (inside.size === 0) [state, isOver] = ['came to nothing', true]
        break
      case 'taken':
        ;[state, isOver] = [event.warm ? 'a warm server was taken for it' : 'its server starts', false]
        break
      case 'freed':
        if (isEndOfMatch(event.reason)) [state, isOver] = ['over', true]
        break
      case 'deployed':
        ;[state, isOver] = ['its server starts', false]
        break
      case 'ready':
        state = 'its server is ready'
        break
      case 'assigned':
        ;[state, isOver] = ['running', false]
        break
      case 'ended':
        ;[state, isOver] = ['over', true]
        break
      default:
    }
  }
  const hadServer = events.some(({ what }) => what in serverStates || what === 'taken')
  if (isSeen && hadServer && !isOver) return { state: 'over', actions: [] }
  return { state, actions: isOver ? [] : ['stop-match'] }
}

const phases: Readonly<Record<AllocationView['phase'], string>> = {
  creating: 'its server is asked for',
  finding: 'the answer about its server was lost; it is looked for',
  retrying: 'another place is tried for its server',
  starting: 'its server starts',
  warming: 'its server is ready',
  running: 'running',
  stopping: 'its server is being stopped',
}

export type InspectedServer = Inspection['servers'][number]

/**
 * Returns true if a server can be drained: it has registered, or belongs to a pool, and is not draining yet.
 * @param registered the server's own report, if it has registered
 */
export function mayDrain({ phase, pool }: AllocationView, registered: InspectedServer | undefined): boolean {
  if (phase === 'stopping') return false
  return registered === undefined ? pool !== undefined : registered.draining === undefined
}

/**
 * Returns the current state of a server.
 * @param server the server's allocation, if it has one; `isSeen` as in `matchStanding`
 * @param registered the server's own report, if it has registered
 */
export function serverStanding(
  events: readonly RecordedEvent[],
  server: AllocationView | undefined,
  isSeen: boolean,
  registered?: InspectedServer,
): CurrentState {
  if (server !== undefined) {
    const { phase } = server
    const isStopping = phase === 'stopping'
    const actions: readonly StoryAction[] = mayDrain(server, registered) ? ['drain-server'] : []
    return {
      state: registered === undefined || isStopping ? serverPhases[phase] : gameServerState(registered),
      actions,
    }
  }
  if (isSeen) return { state: 'stopped', actions: [] }
  const last = events.findLast(({ what }) => what in serverStates)
  return { state: last === undefined ? 'not known' : (serverStates[last.what] ?? 'not known'), actions: [] }
}

function gameServerState({ state, matches, playersIn, draining, listing }: InspectedServer): string {
  const serves =
    listing === undefined
      ? `serves ${matches.length === 1 ? 'a match' : `${matches.length} matches`}, ${playersIn} on it`
      : listed(listing)
  const isUsed = matches.length > 0 || listing !== undefined
  switch (state) {
    case 'IDLE':
      return 'warm, without a match'
    case 'TAKEN':
      return 'taken by a match, whose players are about to be sent'
    case 'PLAYING':
      return serves
    case 'DRAINING':
      return `takes no more matches (${draining ?? 'as ordered'})${isUsed ? `; ${serves}` : ''}`
    case 'LOST':
      return `not heard for a while${isUsed ? `; ${serves}` : ''}`
    default:
      return state.toLowerCase()
  }
}

function listed({ name, seats: { total, taken, held } }: NonNullable<InspectedServer['listing']>): string {
  return `listed as ${name}, ${taken} of ${total} seats taken${held === 0 ? '' : `, ${held} held`}`
}

const serverPhases: Readonly<Record<AllocationView['phase'], string>> = {
  creating: 'asked for',
  finding: 'looked for',
  retrying: 'given up: another place is tried',
  starting: 'starting',
  warming: 'ready, its players are about to be sent',
  running: 'running',
  stopping: 'being stopped',
}

const serverStates: Readonly<Record<string, string>> = {
  deployed: 'starting',
  ready: 'ready, its players are about to be sent',
  assigned: 'running',
  ended: 'stopped',
}

export function playerStanding(
  found: FoundPlayer,
  cooldowns: readonly Cooldown[],
  events: readonly RecordedEvent[],
  now: number,
): CurrentState {
  const until = Math.max(0, ...cooldowns.map((cooldown) => cooldown.until))
  const cools = until > now ? `, may not wait again for ${lasted(until - now)}` : ''
  const actions: readonly StoryAction[] = cooldowns.length > 0 ? ['forgive-cooldown'] : []
  const waits = found.tickets.filter(({ status }) => status === 'SEARCHING').length
  const plays = found.tickets.length - waits + (found.match === undefined ? 0 : 1)
  if (waits === 0 && plays === 0) return { state: `neither waits nor plays${cools}; ${lastOf(events)}`, actions }
  const parts = [
    ...(waits === 0 ? [] : [waits === 1 ? 'waits' : `waits by ${waits} tickets`]),
    ...(plays === 0 ? [] : [plays === 1 ? 'is in a match' : `is in ${plays} matches`]),
  ]
  return { state: parts.join(' and ') + cools, actions }
}

const lastOf = (events: readonly RecordedEvent[]): string => {
  const last = events.at(-1)
  return last === undefined ? 'nothing is known of it' : `last: ${storyEvent(last).text}`
}
