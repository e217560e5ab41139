import { canonicalIp, type Coordinates } from '@muster/core'
import { z } from 'zod'
import { InvalidTicket } from '../errors.js'
import { read } from '../read.js'
import type { TicketInput } from './ticket.js'

/** Players in a ticket at most, whatever the queue. */
const LARGEST_PARTY = 500

export const coordinates: z.ZodType<Coordinates> = z.object({
  latitude: z.number().min(-90).max(90),
  longitude: z.number().min(-180).max(180),
})

const player = z
  .strictObject({
    id: z.string().min(1).max(128),
    ip: z
      .string()
      .transform((text, context) => {
        const ip = canonicalIp(text)
        if (ip === undefined) context.addIssue({ code: 'custom', message: 'must be an IPv4 or IPv6 address' })
        return ip ?? z.NEVER
      })
      .optional(),
    coordinates: coordinates.optional(),
  })
  .refine((one) => one.ip !== undefined || one.coordinates !== undefined, 'must have ip, coordinates or both')

const schema: z.ZodType<TicketInput> = z.strictObject({
  id: z
    .string()
    .regex(/^[\w-]{1,64}$/, 'must be 1 to 64 of A–Z, a–z, 0–9, _ and -')
    .optional(),
  queue: z.string(),
  players: z
    .array(player)
    .min(1)
    .max(LARGEST_PARTY)
    .superRefine((players, context) => {
      const seen = new Set<string>()
      for (const [index, { id }] of players.entries()) {
        if (seen.has(id)) context.addIssue({ code: 'custom', path: [index, 'id'], message: 'is in this ticket twice' })
        seen.add(id)
      }
    }),
})

/** @throws {InvalidTicket} naming the path, and the value unless it is an address. */
export const readTicketInput = (input: TicketInput): TicketInput =>
  read(schema, input, (field, message) => new InvalidTicket(`ticket: ${message}`, { field }))
