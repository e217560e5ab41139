import { fork } from 'node:child_process'
import { once } from 'node:events'
import { Agent } from 'node:http'
import { createClient } from '@muster/core'
import axios from 'axios'
import got from 'got'
import ky from 'ky'
import { Pool } from 'undici'
import { atLeast, atMost, median, type Figures } from '../figure.js'

const REQUESTS = 1000
const IN_FLIGHT = 50
const ROUNDS = 9

interface Variant {
  readonly name: string
  get(id: string): Promise<unknown>
  close(): Promise<void> | void
}

/**
 * CPU time of this process for a GET of a 2 KB status on loopback, 50 in flight, in microseconds. All
 * variants keep connections alive, send the same headers and parse the JSON; each request reads another
 * deployment, so that nothing can be shared. They take turns, and the median of the rounds counts.
 */
export async function clientFigures(): Promise<Figures> {
  const server = fork(new URL('./status-server.js', import.meta.url))
  const [{ port }] = (await once(server, 'message')) as [{ port: number }]
  const variants = variantsFor(`http://127.0.0.1:${port}`)
  const microseconds = new Map<string, number[]>(variants.map(({ name }) => [name, []]))
  for (let round = -1; round < ROUNDS; round += 1) {
    for (const variant of variants) {
      const spent = await cpuPerRequest(variant, round)
      if (round >= 0) microseconds.get(variant.name)?.push(spent) // the first round only warms up
    }
  }
  for (const variant of variants) await variant.close()
  server.disconnect()

  const cpu = Object.fromEntries([...microseconds].map(([name, values]) => [name, median(values)]))
  const of = (name: string) => cpu[name] ?? Number.NaN
  const ours = of('muster')
  return {
    figures: [
      atMost('client: CPU per GET against undici Pool and JSON.parse', ours / of('undici'), 1.4, '×'),
      ...['ky', 'axios', 'got'].map((name) => atLeast(`client: CPU per GET of ${name} against ours`, of(name) / ours, 4, '×')),
    ],
    peers: { 'client: CPU microseconds per GET': Object.fromEntries(Object.entries(cpu).map(([name, value]) => [name, Math.round(value)])) },
  }
}

async function cpuPerRequest({ get }: Variant, round: number): Promise<number> {
  let next = 0
  const worker = async () => {
    while (next < REQUESTS) {
      next += 1
      await get(`${round}-${next}`)
    }
  }
  const before = process.cpuUsage()
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker))
  const { user, system } = process.cpuUsage(before)
  return (user + system) / REQUESTS
}

function variantsFor(origin: string): readonly Variant[] {
  const headers = { accept: 'application/json', 'user-agent': 'muster', authorization: 'token bench' }
  const path = (id: string) => `/v1/status/${id}`

  const client = createClient({ baseUrl: origin, token: 'bench', limits: { status: null }, connections: IN_FLIGHT })
  const pool = new Pool(origin, { connections: IN_FLIGHT })
  const agent = new Agent({ keepAlive: true, maxSockets: IN_FLIGHT })
  const viaAxios = axios.create({ baseURL: origin, httpAgent: agent, headers })
  const viaGot = got.extend({ prefixUrl: origin, agent: { http: agent }, headers })
  const viaKy = ky.extend({ prefixUrl: origin, headers })

  return [
    { name: 'muster', get: (request_id) => client.deployments.get({ request_id }), close: () => client.close() },
    {
      name: 'undici',
      get: async (id) => {
        const { body } = await pool.request({ method: 'GET', path: path(id), headers })
        return JSON.parse(await body.text())
      },
      close: () => pool.close(),
    },
    { name: 'ky', get: (id) => viaKy.get(path(id).slice(1)).json(), close: () => {} },
    { name: 'axios', get: async (id) => (await viaAxios.get(path(id))).data as unknown, close: () => agent.destroy() },
    { name: 'got', get: (id) => viaGot.get(path(id).slice(1)).json(), close: () => agent.destroy() },
  ]
}
