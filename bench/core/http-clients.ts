import { Agent } from 'node:http'

/** Reads the status of a deployment. Resolves with the parsed body. */
type Get = (id: string) => Promise<unknown>

export const inFlight = 50

const headers = { accept: 'application/json', 'user-agent': 'muster', authorization: 'token bench' }
const pathOf = (id: string) => `/v1/status/${id}`

/**
 * HTTP clients that do the same work: they keep up to 50 connections alive, send the same headers and parse the JSON.
 * Each is loaded only in the process in which it is measured.
 */
export const httpClients = {
  muster: async (origin: string): Promise<Get> => {
    const { createClient } = await import('@muster/core')
    const { deployments } = createClient({
      baseUrl: origin,
      token: 'bench',
      limits: { status: null },
      connections: inFlight,
    })
    return (request_id) => deployments.get({ request_id })
  },
  undici: async (origin: string): Promise<Get> => {
    const { Pool } = await import('undici')
    const pool = new Pool(origin, { connections: inFlight })
    return async (id) => {
      const { body } = await pool.request({ method: 'GET', path: pathOf(id), headers })
      return JSON.parse(await body.text())
    }
  },
  ky: async (origin: string): Promise<Get> => {
    const { default: ky } = await import('ky')
    const client = ky.extend({ headers })
    return (id) => client.get(`${origin}${pathOf(id)}`).json()
  },
  axios: async (origin: string): Promise<Get> => {
    const { default: axios } = await import('axios')
    const client = axios.create({
      baseURL: origin,
      httpAgent: new Agent({ keepAlive: true, maxSockets: inFlight }),
      headers,
    })
    return async (id) => (await client.get<unknown>(pathOf(id))).data
  },
  got: async (origin: string): Promise<Get> => {
    const { default: got } = await import('got')
    const client = got.extend({ agent: { http: new Agent({ keepAlive: true, maxSockets: inFlight }) }, headers })
    return (id) => client.get(`${origin}${pathOf(id)}`).json()
  },
} satisfies Readonly<Record<string, (origin: string) => Promise<Get>>>

export type HttpClientName = keyof typeof httpClients
