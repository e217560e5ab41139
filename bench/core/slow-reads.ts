import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createClient } from '@muster/core'
import { systemClock } from '@muster/core/clock'
import { atMost, type Figures } from '../figure.js'
import { runsOf } from '../runs.js'

const RUNS = 3
const READS = 600
/** Milliseconds in which the service answers a read. */
const SLOW_MS = 2000
/** Milliseconds after which as many reads are in flight as possible. */
const LATER_MS = 500

const users = [{ user_type: 'ip_address', user_data: { ip_address: '203.0.113.7' } }] as const

/** Measures how long a create and a stop take, with a new connection, while 600 reads of logs take two seconds each. */
export async function slowReadFigures(): Promise<Figures> {
  const runs = await runsOf(RUNS, timesBesideReads)
  const beside = `beside ${READS} of ${SLOW_MS / 1000} s`
  return {
    figures: [
      atMost(
        `slow reads: a create ${beside}`,
        runs.map(({ create }) => create),
        500,
        'ms',
      ),
      atMost(
        `slow reads: a stop ${beside}`,
        runs.map(({ stop }) => stop),
        500,
        'ms',
      ),
    ],
    peers: {},
  }
}

async function timesBesideReads(): Promise<{ readonly create: number; readonly stop: number }> {
  const server = createServer((request, response) => {
    request.resume()
    const answer = () =>
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"request_id":"abc","message":"so"}')
    if (request.method === 'GET') setTimeout(answer, SLOW_MS)
    else answer()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const client = createClient({ baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, token: 'bench' })
  const reads = Promise.allSettled(
    Array.from({ length: READS }, (_, nth) => client.deployments.logs({ request_id: `id${nth}` })),
  )
  await systemClock.sleep(LATER_MS)

  const timeOf = async (call: () => Promise<unknown>) => {
    const began = systemClock.now()
    await call()
    return systemClock.now() - began
  }
  const create = await timeOf(() => client.deployments.create({ application: 'game', version: '1', users }))
  const stop = await timeOf(() => client.deployments.stop({ request_id: 'abc' }, { priority: 10 }))
  await reads
  await client.close()
  server.close()
  return { create, stop }
}
