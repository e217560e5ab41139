import type { RedisConnection } from '../../connection/index.js'
import { readPrefix } from './header.js'
import type { PartitionKeys } from './partition-keys.js'
import type { StoredTicket } from './store.js'

/** Splits a header into its two parts. */
export function splitHeader(header: string): { readonly header: string; readonly assignment: string | undefined } {
  const second = header.indexOf('\n', header.indexOf('\n') + 1)
  if (second === -1) return { header, assignment: undefined }
  return { header: header.slice(0, second + 1), assignment: header.slice(second + 1) }
}

const isShort = (header: string | undefined): header is string => header?.endsWith('\n') === true

type Values = readonly (string | null)[]

/**
 * Assignments are stored once for each match instead of with each of its tickets. In Redis, the header of an assigned
 * ticket therefore ends with a line feed.
 */
export function createAssignments(redis: RedisConnection, keys: Pick<PartitionKeys, 'assignments' | 'bodies'>) {
  const get = async (key: string, fields: readonly string[]) =>
    fields.length === 0 ? [] : ((await redis.command(key, ['HMGET', key, ...fields])) as Values)

  /** Returns the assignments by match. Matches without an assignment are missing. */
  const assignmentsOf = async (matchIds: ReadonlySet<string>): Promise<ReadonlyMap<string, string>> => {
    const ids = [...matchIds]
    const found = await get(keys.assignments, ids)
    return new Map(ids.flatMap((id, index) => (typeof found[index] === 'string' ? [[id, found[index]]] : [])))
  }
  const matchOf = (header: string) => readPrefix(header).matchId ?? ''
  /** Joins a header and its assignment. Without an assignment, removes the line feed at the end. */
  const join = (header: string, assignment: string | undefined) =>
    assignment === undefined ? header.slice(0, -1) : header + assignment

  return {
    /** Completes a header as stored in Redis by its assignment. */
    whole: async (header: string): Promise<string> => {
      if (!isShort(header)) return header
      const matchId = matchOf(header)
      return join(header, (await assignmentsOf(new Set([matchId]))).get(matchId))
    },

    /** Returns the tickets with their assignments. Undefined for those that were swept meanwhile. */
    wholeTickets: async (
      tickets: readonly (StoredTicket | undefined)[],
    ): Promise<readonly (StoredTicket | undefined)[]> => {
      const short = tickets.filter((ticket) => isShort(ticket?.header)) as (StoredTicket & { header: string })[]
      if (short.length === 0) return tickets
      const found = await assignmentsOf(new Set(short.map(({ header }) => matchOf(header))))
      // A ticket and its assignment are swept together. So if a ticket still has a body, it was not swept.
      const bare = short.filter(({ header }) => !found.has(matchOf(header))).map(({ id }) => id)
      const bodies = await get(keys.bodies, bare)
      const swept = new Set(bare.filter((_, index) => typeof bodies[index] !== 'string'))
      return tickets.map((ticket) => {
        if (ticket === undefined || !isShort(ticket.header)) return ticket
        if (swept.has(ticket.id)) return undefined
        return { ...ticket, header: join(ticket.header, found.get(matchOf(ticket.header))) }
      })
    },
  }
}
