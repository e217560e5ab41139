import { canonicalIp, type Coordinates } from '@muster/core'
import { z } from 'zod'
import { InvalidTicket } from '../errors.js'
import { read } from '@muster/core/validation'
import { complete, MOST, PRIORITIES, TICKET_ID, type CheckedTicket } from './checked-ticket.js'
import { quickRead } from './quick-read.js'
import type { Ticket, TicketInput } from './ticket.js'
import type { Player } from '@muster/servers'

export const coordinates: z.ZodType<Coordinates> = z.object({
  latitude: z.number().min(-90).max(90),
  longitude: z.number().min(-180).max(180),
})

const name = z.string().min(1).max(MOST.characters)
const NOT_TWICE = 'must not hold anything twice'
const distinct = (list: readonly string[]) => new Set(list).size === list.length
const names = (most: number) => z.array(name).max(most).refine(distinct, NOT_TWICE)
const atMost = (most: number) =>
  [(value: object) => Object.keys(value).length <= most, `must have at most ${most} entries`] as const

const attribute = z.union(
  [
    z.number(),
    z.boolean(),
    z.string().max(MOST.characters),
    z.array(z.string().max(MOST.characters)).max(MOST.listed).refine(distinct, NOT_TWICE),
  ],
  `must be a number, a boolean, a text of at most ${MOST.characters} characters, ` +
    `or a list of at most ${MOST.listed} different such texts`,
)

export const ticketId = z.string().regex(TICKET_ID, 'must be 1 to 64 of A–Z, a–z, 0–9, _ and -')
export const ticketPriority = z.int().min(PRIORITIES.least).max(PRIORITIES.most)

/** A player whose place does not matter. */
export const player: z.ZodType<Player> = z.strictObject({
  id: name,
  ip: z
    .string()
    .transform((text, context) => {
      const ip = canonicalIp(text)
      if (ip === undefined) context.addIssue({ code: 'custom', message: 'must be an IPv4 or IPv6 address' })
      return ip ?? z.NEVER
    })
    .optional(),
  coordinates: coordinates.optional(),
  latencies: z
    .record(name, z.number().positive().max(MOST.latencyMs))
    .refine(...atMost(MOST.beacons))
    .optional(),
  attributes: z
    .record(name, attribute)
    .refine(...atMost(MOST.attributes))
    .optional(),
  roles: names(MOST.roles).optional(),
  avoid: names(MOST.avoided).optional(),
})

/**
 * What is wrong with a player who is nowhere. Latencies will do in queues whose latency rule chooses the place: see
 * `admit`.
 */
export const MUST_BE_SOMEWHERE = 'must have ip, coordinates or both'

export const locatedPlayer = player.refine(
  (one) => one.ip !== undefined || one.coordinates !== undefined || Object.keys(one.latencies ?? {}).length > 0,
  MUST_BE_SOMEWHERE,
)

const schema: z.ZodType<TicketInput> = z
  .strictObject({
    id: ticketId.optional(),
    queue: z.string().optional(),
    queues: names(MOST.queues).min(1).optional(),
    players: z
      .array(locatedPlayer)
      .min(1)
      .max(MOST.players)
      .superRefine((players, context) => {
        const seen = new Set<string>()
        for (const [index, { id }] of players.entries()) {
          if (seen.has(id))
            context.addIssue({ code: 'custom', path: [index, 'id'], message: 'is in this ticket twice' })
          seen.add(id)
        }
      }),
    priority: ticketPriority.optional(),
  })
  .refine(({ queue, queues }) => (queue === undefined) !== (queues === undefined), {
    path: ['queue'],
    message: 'must be given, or queues instead',
  })

/** @throws {InvalidTicket} naming the path, and the value unless it is an address. */
export const readTicketInput = (input: TicketInput): CheckedTicket => quickRead(input) ?? readBySchema(input)

/** The same by the schema alone. */
export function readBySchema(input: TicketInput): CheckedTicket {
  const { id, queue, queues, players, priority } = read(schema, input, refuseTicket)
  return { id, queues: queues ?? [queue as string], players: players.map(complete), priority: priority ?? 0 }
}

export const refuseTicket = (field: string, message: string) => new InvalidTicket(`ticket: ${message}`, { field })

/** @throws {InvalidTicket} for a player who is not in the ticket. */
export function refuseStranger(ticket: Pick<Ticket, 'id' | 'players'>, playerId: string): void {
  if (ticket.players.some(({ id }) => id === playerId)) return
  throw refuseTicket('playerId', `playerId: is not in ticket ${ticket.id}, got ${JSON.stringify(playerId)}`)
}
