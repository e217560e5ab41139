// pure: reads the usual body of a ticket in a fraction of the time that its schema needs
import { MOST, type TicketBody } from './bodies.js'

type Fields = Readonly<Record<string, unknown>>

const KEYS: ReadonlySet<string> = new Set(['profile', 'attributes', 'player_ip', 'player_id', 'id', 'priority'])

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
/** Whether a value is missing, or is a text with a length within the bounds. */
const isText = (value: unknown, least: number, most: number) =>
  value === undefined || (typeof value === 'string' && value.length >= least && value.length <= most)

/**
 * Parses a body like `TicketBody` if it has only the usual keys with valid values. Undefined for any other body, which
 * the schema then judges. A test verifies that the two agree.
 */
export function quickBody(body: unknown): TicketBody | undefined {
  if (!isFields(body)) return undefined
  for (const key in body) if (!KEYS.has(key)) return undefined
  const { profile, attributes, player_ip, player_id, id, priority } = body
  if (!isText(profile, 0, MOST.profile) || !isText(id, 0, MOST.ticketId)) return undefined
  if (!isText(player_ip, 0, MOST.address) || !isText(player_id, 1, MOST.playerId)) return undefined
  if (attributes !== undefined && !isFields(attributes)) return undefined
  if (priority !== undefined && !isPriority(priority)) return undefined
  return body as TicketBody
}

const isPriority = (value: unknown) => Number.isInteger(value) && Math.abs(value as number) <= MOST.priority
