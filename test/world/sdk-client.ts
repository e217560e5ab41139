/**
 * A game client that behaves like the hosted matchmaker's SDKs for Unity and Unreal (public sources). All players send
 * the same token. Bodies have `profile`, `attributes` and `player_ip`, and tickets are polled. Responses are parsed as
 * strictly as by typed data classes.
 */
import { systemClock } from '@muster/core/clock'
import { z } from 'zod'

const portSchema = z.object({ internal: z.int(), external: z.int(), link: z.string(), protocol: z.string() })
const locationSchema = z.object({
  city: z.string(),
  continent: z.string(),
  country: z.string(),
  timezone: z.string(),
  administrative_division: z.string(),
})
const assignmentSchema = z.object({
  fqdn: z.string().min(1),
  public_ip: z.string().min(1),
  ports: z.record(z.string(), portSchema),
  location: locationSchema,
})
const statusSchema = z.enum(['SEARCHING', 'TEAM_FOUND', 'MATCH_FOUND', 'HOST_ASSIGNED', 'CANCELLED'])
const placed = { team_id: z.string().nullable(), assignment: assignmentSchema.nullable() }
const ticketSchema = z.object({
  id: z.string().min(1),
  profile: z.string(),
  created_at: z.iso.datetime(),
  status: statusSchema,
  group_id: z.string().min(1),
  match_id: z.string().nullable(),
  ...placed,
})
const memberSchema = z.object({
  member_id: z.string().min(1),
  group_id: z.string().min(1),
  is_ready: z.boolean(),
  status: z.string(),
  ticket_id: z.string().nullable(),
  ...placed,
})
const beaconsSchema = z.object({
  count: z.int(),
  beacons: z.array(z.object({ fqdn: z.string().nullable(), public_ip: z.string(), location: locationSchema })),
})

export type SdkTicket = z.output<typeof ticketSchema>
export type SdkMember = z.output<typeof memberSchema>
export type Attributes = Readonly<Record<string, unknown>>

/** Thrown if a request is refused. Like the SDKs, it has the status and the text. */
class SdkRefused extends Error {
  readonly status: number
  readonly body: string

  constructor(status: number, body: string) {
    super(`${status}: ${body}`)
    this.status = status
    this.body = body
  }
}

export interface SdkOptions {
  readonly url: string
  readonly token: string
  /** The client's address, as its proxy reports it. */
  readonly address: string
  /** Additional fields of each body, such as games add to the SDK's classes. */
  readonly more?: Readonly<Record<string, unknown>>
  /** Milliseconds between two polls. The SDKs use one to five seconds. */
  readonly pollMs?: number
}

export function createSdkClient({ url, token, address, more = {}, pollMs = 500 }: SdkOptions) {
  const ask = async (method: string, path: string, body?: object): Promise<unknown> => {
    const response = await fetch(`${url}/${path}`, {
      method,
      headers: {
        authorization: token,
        'x-forwarded-for': address,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new SdkRefused(response.status, text)
    return text === '' ? undefined : JSON.parse(text)
  }
  const bodyOf = (profile: string, attributes: Attributes) => ({ profile, attributes, player_ip: null, ...more })
  const readTicket = async (id: string) => ticketSchema.parse(await ask('GET', `tickets/${id}`))

  return {
    monitor: async () => z.object({ status: z.literal('healthy') }).parse(await ask('GET', 'monitor')),
    beacons: async () => beaconsSchema.parse(await ask('GET', 'locations/beacons')),
    createTicket: async (profile: string, attributes: Attributes) =>
      ticketSchema.parse(await ask('POST', 'tickets', bodyOf(profile, attributes))),
    readTicket,
    deleteTicket: (id: string) => ask('DELETE', `tickets/${id}`),
    createGroup: async (profile: string, attributes: Attributes, is_ready: boolean) =>
      memberSchema.parse(await ask('POST', 'groups', { ...bodyOf(profile, attributes), is_ready })),
    joinGroup: async (groupId: string, profile: string, attributes: Attributes, is_ready: boolean) =>
      memberSchema.parse(await ask('POST', `groups/${groupId}/members`, { ...bodyOf(profile, attributes), is_ready })),
    readMember: async ({ group_id, member_id }: Pick<SdkMember, 'group_id' | 'member_id'>) =>
      memberSchema.parse(await ask('GET', `groups/${group_id}/members/${member_id}`)),
    setReady: async ({ group_id, member_id }: Pick<SdkMember, 'group_id' | 'member_id'>, is_ready: boolean) =>
      memberSchema.parse(await ask('PATCH', `groups/${group_id}/members/${member_id}`, { is_ready })),
    leaveGroup: ({ group_id, member_id }: Pick<SdkMember, 'group_id' | 'member_id'>) =>
      ask('DELETE', `groups/${group_id}/members/${member_id}`),
    /** Polls until the ticket has a server. */
    untilAssigned: async (id: string): Promise<SdkTicket> => {
      for (;;) {
        const ticket = await readTicket(id)
        if (ticket.status === 'HOST_ASSIGNED') return ticket
        if (ticket.status === 'CANCELLED') throw new Error(`the ticket was cancelled: ${JSON.stringify(ticket)}`)
        await systemClock.sleep(pollMs)
      }
    },
  }
}

export type SdkClient = ReturnType<typeof createSdkClient>
