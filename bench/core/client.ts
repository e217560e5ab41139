import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { atLeast, atMost, median, type Figures } from '../figure.js'
import { httpClients, type HttpClientName } from './http-clients.js'

const WARM_UP = 8000
const REQUESTS = 2000
const ROUNDS = 15

const names = Object.keys(httpClients) as HttpClientName[]
const rivals = ['ky', 'axios', 'got'] as const

/**
 * Measures the CPU time of a client's process for a GET of a 2 KB status on loopback, with 50 requests in flight. The
 * clients take turns. Each client is compared with the others of the same round, and the median over all rounds counts.
 */
export async function clientFigures(): Promise<Figures> {
  const server = fork(new URL('./status-server.js', import.meta.url))
  const [{ port, bytes }] = (await once(server, 'message')) as [{ port: number; bytes: number }]
  const load = new URL('./client-load.js', import.meta.url)
  const clients = new Map(names.map((name) => [name, fork(load, [name, `http://127.0.0.1:${port}`])]))

  for (const client of clients.values()) await cpuPerRequest(client, WARM_UP)
  const rounds: Record<HttpClientName, number>[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const microseconds = {} as Record<HttpClientName, number>
    for (const [name, client] of clients) microseconds[name] = await cpuPerRequest(client, REQUESTS)
    rounds.push(microseconds)
  }
  for (const child of [server, ...clients.values()]) child.disconnect()

  const against = (one: HttpClientName, other: HttpClientName) => rounds.map((round) => round[one] / round[other])
  return {
    figures: [
      atMost('client: CPU per GET, against undici Pool and JSON.parse', against('muster', 'undici'), 5, '×'),
      ...rivals.map((name) =>
        atLeast(`client: CPU per GET of ${name}, against ours`, against(name, 'muster'), 1.5, '×'),
      ),
    ],
    peers: {
      'client: bytes of the answer': bytes,
      'client: CPU microseconds per GET': Object.fromEntries(
        names.map((name) => [name, Math.round(median(rounds.map((round) => round[name])))]),
      ),
    },
  }
}

async function cpuPerRequest(client: ChildProcess, requests: number): Promise<number> {
  client.send(requests)
  const [spent] = (await once(client, 'message')) as [number]
  return spent
}
