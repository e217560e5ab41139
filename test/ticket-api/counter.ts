import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { bearerToken, clientAddress, nodeListener } from '@muster/core/http'
import { createTicketApi, type TicketApiOptions } from '@muster/matchmaker'
import { openStudio } from '../matchmaker/studio.js'

export interface Ticket {
  readonly id: string
  readonly status: string
  readonly version: number
  readonly match_id: string | null
  readonly team_id: string | null
  readonly assignment: {
    readonly fqdn: string
    readonly ports: Readonly<Record<string, { readonly link: string }>>
    readonly join_token?: string
  } | null
}

/** Returns the address of a ticket without the join token, which differs for each player. */
export const placeOf = ({ assignment }: Pick<Ticket, 'assignment'>) => {
  const { join_token: _, ...place } = assignment ?? {}
  return place
}

/**
 * Starts the ticket API of a whole matchmaker on a port. A token is the player's name, and `backend` is a backend. All
 * callers come through one trusted proxy.
 */
export async function openCounter(
  given: { readonly studio?: Parameters<typeof openStudio>[0]; readonly api?: Partial<TicketApiOptions> } = {},
) {
  const studio = await openStudio(given.studio)
  const api = createTicketApi(studio.matchmaker, {
    authenticate: (request) => {
      const id = bearerToken(request)
      if (id === undefined) return undefined
      return { id, role: id === 'backend' ? 'backend' : 'player' }
    },
    address: clientAddress({ trustedProxies: ['127.0.0.0/8'] }),
    beacons: () => studio.client.locations.beacons.all(),
    ...given.api,
  })
  const server = createServer(nodeListener(api))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  const request = (
    who: string,
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ) =>
    fetch(url + path, {
      method,
      headers: {
        authorization: who,
        'x-forwarded-for': `203.0.113.${who.charCodeAt(0)}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  /** Calls the API. @throws Error for any other status */
  const call = async <T>(who: string, method: string, path: string, body?: unknown, wanted?: number): Promise<T> => {
    const status = wanted ?? (method === 'POST' ? 201 : 200)
    const response = await request(who, method, path, body)
    const text = await response.text()
    if (response.status !== status)
      throw new Error(`${method} ${path}: ${response.status} instead of ${status}: ${text}`)
    return (text === '' ? undefined : JSON.parse(text)) as T
  }
  /** Follows a ticket by long polls, like a client. */
  const untilStatus = async (who: string, id: string, status: string): Promise<Ticket> => {
    let ticket = await call<Ticket>(who, 'GET', `/tickets/${id}`)
    while (ticket.status !== status) {
      if (ticket.status === 'CANCELLED') throw new Error(`the ticket of ${who} was cancelled`)
      ticket = await call<Ticket>(who, 'GET', `/tickets/${id}?wait=20&version=${ticket.version}`)
    }
    return ticket
  }
  return {
    ...studio,
    api,
    url,
    request,
    call,
    untilStatus,
    shut: async () => {
      const left = await studio.shut()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      return left
    },
  }
}
