// pure: reads the usual ticket in a fraction of the time that its schema takes
import { canonicalIp, type Coordinates } from '@muster/core'
import type { Attributes } from '../rules/definition.js'
import { complete, MOST, PRIORITIES, TICKET_ID, type CheckedTicket, type TicketPlayer } from './checked-ticket.js'

type Fields = Readonly<Record<string, unknown>>

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value)
const isName = (value: unknown): value is string =>
  typeof value === 'string' && value.length > 0 && value.length <= MOST.characters
const isWithin = (value: unknown, limit: number): value is number =>
  typeof value === 'number' && value >= -limit && value <= limit

/**
 * What the schema makes of a ticket, where that is plain to see: it waits in one queue, and its players have but an
 * id, an address, coordinates, and attributes that are numbers or texts. Undefined for any other ticket, and whatever may be
 * wrong: then the schema decides. A test sees to it that the two agree.
 */
export function quickRead(input: unknown): CheckedTicket | undefined {
  if (!isFields(input)) return undefined
  for (const key in input) if (key !== 'queue' && key !== 'players' && key !== 'id' && key !== 'priority') return undefined
  const { id, queue, players, priority = 0 } = input
  if (typeof queue !== 'string' || !Array.isArray(players) || players.length === 0 || players.length > MOST.players)
    return undefined
  if (!Number.isInteger(priority) || !isWithin(priority, PRIORITIES.most)) return undefined
  if (id !== undefined && !(typeof id === 'string' && TICKET_ID.test(id))) return undefined
  const read = (players as readonly unknown[]).map(playerOf)
  if (!read.every(isRead)) return undefined
  if (read.length > 1 && new Set(read.map((player) => player.id)).size < read.length) return undefined
  return { id, queues: [queue], players: read, priority }
}

const isRead = (player: TicketPlayer | undefined): player is TicketPlayer => player !== undefined

function playerOf(player: unknown): TicketPlayer | undefined {
  if (!isFields(player)) return undefined
  for (const key in player) if (key !== 'id' && key !== 'ip' && key !== 'coordinates' && key !== 'attributes') return undefined
  const { id, ip, coordinates, attributes } = player
  if (!isName(id) || (ip === undefined && coordinates === undefined)) return undefined
  const canonical = typeof ip === 'string' ? canonicalIp(ip) : undefined
  const at = coordinatesOf(coordinates)
  const brought = attributesOf(attributes)
  if ((ip !== undefined && canonical === undefined) || (coordinates !== undefined && at === undefined)) return undefined
  if (attributes !== undefined && brought === undefined) return undefined
  return complete({ id, ip: canonical, coordinates: at, attributes: brought })
}

function coordinatesOf(value: unknown): Coordinates | undefined {
  if (!isFields(value)) return undefined
  const { latitude, longitude } = value
  return isWithin(latitude, 90) && isWithin(longitude, 180) ? { latitude, longitude } : undefined
}

function attributesOf(value: unknown): Attributes | undefined {
  if (!isFields(value)) return undefined
  const read: Record<string, number | string> = {}
  let count = 0
  for (const key in value) {
    const one = value[key]
    const isPlain = typeof one === 'number' ? Number.isFinite(one) : typeof one === 'string' && one.length <= MOST.characters
    if (!isPlain || !isName(key) || key === '__proto__' || (count += 1) > MOST.attributes) return undefined
    read[key] = one as number | string
  }
  return read
}
