import { Agent, request } from 'node:http'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { BACKEND_KEY, openServer, openService, yamlOf, type ServerUnderTest } from './server.fixture.js'

let service: Awaited<ReturnType<typeof openService>>
let folder: string
beforeAll(async () => {
  service = await openService()
  folder = await mkdtemp(join(tmpdir(), 'muster-closing-'))
})
afterAll(async () => {
  await service.emulator.close()
  await rm(folder, { recursive: true })
})

const create = async ({ ask }: ServerUnderTest, id: string) => {
  const body = { profile: 'duel', player_id: id, player_ip: '192.0.2.7', attributes: {} }
  const answer = await ask('POST', '/tickets', { token: BACKEND_KEY, body })
  return {
    status: answer.status,
    retryAfter: answer.headers.get('retry-after'),
    ticket: (await answer.json()) as Ticket,
  }
}
interface Ticket {
  readonly id: string
  readonly status: string
  readonly code?: string
}

test('during its shutdown Muster reports that on /readyz, refuses new work and still answers reads', async () => {
  const under = await openServer(yamlOf(service.url))
  const { ticket } = await create(under, 'ann')
  // The cached answer has expired by then.
  await under.ask('GET', '/readyz')
  const closing = under.server.close()
  const [ready, refused, read] = await Promise.all([
    under.ask('GET', '/readyz'),
    create(under, 'ben'),
    under.ask('GET', `/tickets/${ticket.id}`, { token: BACKEND_KEY }),
  ])
  expect([ready.status, await ready.json()]).toEqual([503, { ready: false, why: ['the process is shutting down'] }])
  expect([refused.status, refused.retryAfter, refused.ticket.code]).toEqual([503, '2', 'closing'])
  expect(read.status).toBe(200)
  expect(await closing).toBe(true)
  await expect(under.ask('GET', '/healthz')).rejects.toThrow()
})

test('open streams and long polls do not delay the shutdown of Muster', async () => {
  const under = await openServer(yamlOf(service.url))
  const { ticket } = await create(under, 'ann')
  const stream = await under.ask('GET', `/tickets/${ticket.id}/events`, { token: BACKEND_KEY })
  const poll = under.ask('GET', `/tickets/${ticket.id}?wait=25&version=1`, { token: BACKEND_KEY }).catch(() => 'ended')
  expect(await under.server.close()).toBe(true)
  await stream.text().catch(() => 'ended')
  await poll
})

test('with a store folder the next process continues with all queued players', async () => {
  const text = yamlOf(service.url, `store: { folder: ${folder} }`)
  const first = await openServer(text)
  const { ticket } = await create(first, 'ann')
  expect(ticket.status).toBe('SEARCHING')
  expect(await first.server.close()).toBe(true)

  const second = await openServer(text)
  const found = await second.ask('GET', `/tickets/${ticket.id}`, { token: BACKEND_KEY })
  expect(await found.json()).toMatchObject({ id: ticket.id, status: 'SEARCHING' })
  await second.server.close()
})

test('answers during shutdown close their connections, so that clients reconnect elsewhere', async () => {
  const under = await openServer(yamlOf(service.url))
  const agent = new Agent({ keepAlive: true })
  const connection = () =>
    new Promise<string | undefined>((resolve, reject) => {
      request(`${under.server.url}/tickets/none`, { agent, headers: { authorization: `Bearer ${BACKEND_KEY}` } })
        .on('response', (response) => response.resume().on('end', () => resolve(response.headers.connection)))
        .on('error', reject)
        .end()
    })
  expect(await connection()).toBe('keep-alive')
  const closing = under.server.close()
  expect(await connection()).toBe('close')
  agent.destroy()
  expect(await closing).toBe(true)
})
