import type { RedisConnection } from '../../connection/connection.js'
import { readPrefix } from './header.js'
import type { StoredTicket } from './store.js'

/**
 * Assignments are kept once for each match, not with each of its tickets: in Redis a header that has one ends with the
 * line feed before it.
 */
export interface Assignments {
  /** Headers in Redis as they were given; undefined for those that were swept meanwhile. */
  whole(headers: readonly (string | undefined)[]): Promise<readonly (string | undefined)[]>
  wholeTickets(tickets: readonly (StoredTicket | undefined)[]): Promise<readonly (StoredTicket | undefined)[]>
}

/** A header in its two parts. */
export function splitHeader(header: string): { readonly header: string; readonly assignment: string | undefined } {
  const second = header.indexOf('\n', header.indexOf('\n') + 1)
  if (second === -1) return { header, assignment: undefined }
  return { header: header.slice(0, second + 1), assignment: header.slice(second + 1) }
}

const isShort = (header: string | undefined): header is string => header?.endsWith('\n') === true

/** @param key a hash: match → assignment. */
export function createAssignments(redis: RedisConnection, key: string): Assignments {
  const whole: Assignments['whole'] = async (headers) => {
    if (!headers.some(isShort)) return headers
    const matchIds = headers.map((header) => (isShort(header) ? readPrefix(header).matchId : undefined))
    const wanted = [...new Set(matchIds)].filter((id) => id !== undefined)
    const found = (await redis.command(key, ['HMGET', key, ...wanted])) as readonly (string | null)[]
    const texts = new Map(wanted.map((id, index) => [id, found[index]]))
    return headers.map((header, index) => {
      if (!isShort(header)) return header
      const text = texts.get(matchIds[index] as string)
      return typeof text === 'string' ? header + text : undefined
    })
  }

  return {
    whole,
    wholeTickets: async (tickets) => {
      const headers = await whole(tickets.map((ticket) => ticket?.header))
      return tickets.map((ticket, index) => {
        if (ticket === undefined || !isShort(ticket.header)) return ticket
        const header = headers[index]
        return header === undefined ? undefined : { ...ticket, header }
      })
    },
  }
}
