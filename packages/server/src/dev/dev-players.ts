import type { Coordinates } from '@muster/core'
import type { Player, Queue, TicketInput, TicketService } from '@muster/matchmaker'
import { attributesOf, latenciesOf, rolesIn, wantsLatencies, type BotWorld } from './bot-player.js'

export interface DevPlayersOptions {
  /** The queues in force. */
  readonly queues: () => readonly Queue[]
  readonly beacons: BotWorld['beacons']
  /** Where players are who do not say. */
  readonly place: Coordinates
  /** Whether addresses are looked up, so that they tell the place. */
  readonly areLocated: boolean
}

/** Skill, where a rule compares it and a player states none. */
export const SKILL = 1500
/** Always in the middle, so that players who state nothing may all play together. */
const MIDDLE = () => 0.5

/**
 * The matchmaker as `muster dev` asks it: it believes what players state, unless the queue has `playerMayState`, and
 * fills in what a rule compares and they do not state.
 */
export function withDevPlayers(service: TicketService, options: DevPlayersOptions): TicketService {
  const find = (name: string) => options.queues().find((queue) => queue.name === name)
  const complete = (ticket: TicketInput): TicketInput => {
    const queues = [ticket.queue ?? [], ticket.queues ?? []].flat().flatMap((name) => find(name) ?? [])
    if (queues.length === 0 || !Array.isArray(ticket.players)) return ticket
    return { ...ticket, players: ticket.players.map((player) => withDefaults(player, queues, options)) }
  }
  return {
    ...service,
    playerMayState: (name) => {
      const may = service.playerMayState(name)
      return may === undefined || find(name)?.playerMayState !== undefined ? may : () => true
    },
    createTicket: (ticket) => service.createTicket(complete(ticket)),
    createTickets: (tickets) => service.createTickets(tickets.map(complete)),
  }
}

function withDefaults(player: Player, queues: readonly Queue[], options: DevPlayersOptions): Player {
  const { beacons, place, areLocated } = options
  const rules = queues.flatMap((queue) => queue.rules).filter(refusesMissing)
  const coordinates = player.coordinates ?? (areLocated && player.ip !== undefined ? undefined : place)
  const roles = player.roles === undefined || player.roles.length === 0 ? rolesIn(rules) : player.roles
  const estimate = () => latenciesOf(coordinates ?? place, { beacons, random: MIDDLE })
  const latencies = player.latencies ?? (wantsLatencies(rules) ? estimate() : undefined)
  return {
    ...player,
    coordinates,
    attributes: { ...attributesOf(rules, SKILL, MIDDLE), ...player.attributes },
    roles,
    latencies,
  }
}

const refusesMissing = (rule: Queue['rules'][number]) => !('missing' in rule) || (rule.missing ?? 'refuse') === 'refuse'
