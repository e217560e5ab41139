import { type AddressInfo, createServer, type Server } from 'node:net'
import type { Typed } from './as-typed.js'

/** The text that `muster dev` prints once everything listens. */
const GREETING = new RegExp(
  [
    String.raw`Console +(?<console>http:\S+)\n`,
    String.raw` +API +(?<api>http:\S+) .*\n`,
    String.raw` +Emulator +(?<emulator>http:\S+)\n[^]*"Bearer (?<token>[^":]+):ann"`,
  ].join(''),
)

/** The fields of a ticket that this test reads. */
export interface TicketSeen {
  readonly id: string
  readonly status: string
  readonly assignment?: { readonly ports: Readonly<Record<string, { readonly link: string }>> } | null
}

/** Acts as a developer who uses the URLs and the token that a running `muster dev` has printed. */
export async function greetedBy(command: Typed) {
  const { console = '', api = '', emulator = '', token = '' } = await command.said(GREETING)
  const ask = async <Answer>(path: string, { as = token, body }: { as?: string; body?: object } = {}) => {
    const headers = { authorization: `Bearer ${as}`, 'content-type': 'application/json' }
    const sent = body === undefined ? { headers } : { headers, method: 'POST', body: JSON.stringify(body) }
    const answer = await fetch(`${api}${path}`, sent)
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${text}`)
    return (text === '' ? undefined : JSON.parse(text)) as Answer
  }
  return {
    urls: { console, api, emulator },
    ask,
    /** Creates the player's ticket as a backend, and follows it as the player until it has the server's address. */
    play: async (player_id: string): Promise<TicketSeen> => {
      const coordinates = { latitude: 52.5, longitude: 13.4 }
      const body = { profile: 'duel', player_id, coordinates, attributes: { skill: 1000 } }
      let ticket = await ask<TicketSeen>('/tickets', { body })
      const as = `${token}:${player_id}`
      while (ticket.status !== 'HOST_ASSIGNED') ticket = await ask<TicketSeen>(`/tickets/${ticket.id}?wait=5`, { as })
      return ticket
    },
    /** Returns the number of assigned tickets from the metrics. */
    assigned: async (): Promise<number> => {
      const text = await (await fetch(`${api}/metrics`)).text()
      const counts = text.matchAll(/^muster_tickets_ended_total\{.*outcome="assigned".*\} (\d+)$/gm)
      return Array.from(counts, ([, count]) => Number(count)).reduce((sum, count) => sum + count, 0)
    },
  }
}

/** Listens on a port. Default: any free port. Rejects if the port is in use. */
export const listenAt = (port = 0): Promise<Server> =>
  new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => resolve(server))
  })

export const portOf = (server: Server): number => (server.address() as AddressInfo).port

export const shut = (server: Server): Promise<void> => new Promise((resolve) => server.close(() => resolve()))
