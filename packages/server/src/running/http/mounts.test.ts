import { createServer, request, Agent, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { systemClock } from '@muster/core/clock'
import { afterEach, expect, test } from 'vitest'
import { createMounts, type Mounts } from './mounts.js'

const served = async () => new Response('served')
let server: Server | undefined
const agent = new Agent({ keepAlive: true, maxSockets: 1 })
afterEach(async () => {
  agent.destroy()
  server?.closeAllConnections()
  await new Promise((resolve) => server?.close(resolve))
})

async function open(of: keyof Mounts, admits: () => boolean) {
  const mounts = createMounts({
    apis: () => ({ tickets: served, lobbies: undefined, document: served }),
    webhooks: served,
    console: served,
    metrics: (_, response) => response.end('measured'),
    ready: async () => ({ is: true, why: [] }),
    isClosing: () => false,
    hasAdmin: false,
    guard: { admits },
    clock: systemClock,
  })
  server = createServer(mounts[of])
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  /** Sends the request on the previous connection, as long as that stays open. */
  return (method: string, path: string, body?: string) =>
    new Promise<{ status: number | undefined; headers: object; text: string }>((resolve, reject) => {
      const asked = request({ port, host: '127.0.0.1', agent, method, path }, (answer) => {
        let text = ''
        answer.on('data', (chunk) => (text += String(chunk)))
        answer.on('end', () => resolve({ status: answer.statusCode, headers: answer.headers, text }))
      })
      asked.on('error', reject)
      asked.end(body)
    })
}

test('a request that the load guard refuses gets a retry time, and keeps its connection', async () => {
  let isLate = true
  const ask = await open('all', () => !isLate)
  const { status, headers, text } = await ask('POST', '/tickets', 'x'.repeat(100_000))
  expect([status, headers, JSON.parse(text)]).toMatchObject([503, { 'retry-after': '2' }, { code: 'busy' }])
  expect(headers).toMatchObject({ connection: 'keep-alive' })
  isLate = false
  expect(await ask('POST', '/tickets', 'x')).toMatchObject({ status: 200, text: 'served' })
})

test('the load guard never refuses health, metrics, the console and webhooks', async () => {
  const ask = await open('all', () => false)
  for (const path of ['/healthz', '/readyz', '/metrics', '/console/', '/webhooks/servers/m/x'])
    expect([path, (await ask('GET', path)).status]).toEqual([path, 200])
})

test('beyond the connection limit, only operators are answered', async () => {
  const ask = await open('beyond', () => true)
  expect((await ask('GET', '/healthz')).status).toBe(200)
  expect((await ask('GET', '/console/')).status).toBe(200)
  const refused = await ask('GET', '/me')
  expect(refused).toMatchObject({ status: 503, headers: { connection: 'close', 'retry-after': '2' } })
})
