import { createManualClock } from '@muster/core/clock'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createCounters } from '../counters.js'
import { defaultDeploymentSettings } from '../settings.js'
import { idOf, studio } from './studio.fixture.js'
import { createWebhooks, isLoopback } from './webhooks.js'

interface Received {
  readonly path: string | undefined
  readonly method: string | undefined
  readonly type: string | undefined
  readonly body: Readonly<Record<string, unknown>>
}

let server: Server
let origin: string
let received: Received[]
/** The receiver's status; undefined for no response. */
let answer: number | undefined

beforeEach(async () => {
  received = []
  answer = 200
  server = createServer((request, response) => {
    void text(request).then((body) => {
      received.push({
        path: request.url,
        method: request.method,
        type: request.headers['content-type'],
        body: JSON.parse(body) as Received['body'],
      })
      if (answer !== undefined) response.writeHead(answer, { location: '/elsewhere' }).end('thanks')
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})

afterEach(async () => {
  server.closeAllConnections()
  server.close()
  await once(server, 'close')
})

const all = () => ({
  webhook_on_ready: { url: `${origin}/ready` },
  webhook_on_error: { url: `${origin}/error` },
  webhook_on_terminated: { url: `${origin}/terminated` },
})
const arrivals = (count: number) => expect.poll(() => received, { interval: 5 }).toHaveLength(count)
const paths = () => received.map(({ path, body }) => [path, body['current_status']])

test('ready and terminated webhooks are posted once each, with the status of the deployment', async () => {
  const { clock, deploy, emulator, status, stop } = await studio()
  const id = await deploy(all())
  await clock.advance(10_999)
  expect(emulator.counters.webhooks.sent).toBe(0)
  await clock.advance(1)
  await arrivals(1)
  expect(received[0]).toMatchObject({ path: '/ready', method: 'POST', type: 'application/json' })
  expect(received[0]?.body).toEqual(await status(id))
  await stop(id)
  await clock.advance(1000)
  await arrivals(2)
  expect(paths()).toEqual([
    ['/ready', 'Status.READY'],
    ['/terminated', 'Status.TERMINATED'],
  ])
  const delivered = { sent: 2, delivered: 2, failed: 0, refused: 0 }
  await expect.poll(() => emulator.counters.webhooks, { interval: 5 }).toEqual(delivered)
})

test('an error webhook is posted, even if no server could be allocated', async () => {
  const { clock, create, deploy } = await studio({
    faults: [
      { operation: 'deployments.create', deployment: 'error', nth: [1] },
      { operation: 'deployments.create', deployment: 'no capacity', nth: [2] },
    ],
  })
  await deploy(all())
  await clock.advance(11_000)
  await arrivals(1)
  const { body } = await create(all())
  await arrivals(2)
  expect(paths()).toEqual([
    ['/error', 'Status.ERROR'],
    ['/error', 'Status.ERROR'],
  ])
  expect(received[1]?.body).toMatchObject({ request_id: idOf(body), error: true })
})

test('a failed webhook call is not repeated, and its redirect not followed', async () => {
  const { clock, deploy, emulator } = await studio()
  answer = 307
  await deploy(all())
  await clock.advance(11_000)
  await expect.poll(() => emulator.counters.webhooks, { interval: 5 }).toMatchObject({ sent: 1, failed: 1 })
  answer = 500
  await deploy(all())
  await clock.advance(11_000)
  const failed = { sent: 2, delivered: 0, failed: 2 }
  await expect.poll(() => emulator.counters.webhooks, { interval: 5 }).toMatchObject(failed)
  expect(received.map(({ path }) => path)).toEqual(['/ready', '/ready'])
})

test('closing the emulator aborts webhook calls in progress', async () => {
  const { clock, deploy, emulator } = await studio()
  answer = undefined
  await deploy(all())
  await clock.advance(11_000)
  await arrivals(1)
  await emulator.close()
  await expect.poll(() => emulator.counters.webhooks, { interval: 5 }).toMatchObject({ failed: 1 })
})

describe('declared faults of webhooks', () => {
  const faulty = (webhooks: 'lost' | 'early' | 'repeated' | 'forged' | { lateMs: number }) =>
    studio({ faults: [{ operation: 'deployments.create', webhooks, count: 1 }] })

  test('a declared fault can lose a webhook', async () => {
    const { clock, deploy } = await faulty('lost')
    await deploy(all())
    const healthy = await deploy(all())
    await clock.advance(11_000)
    await arrivals(1)
    expect(received[0]?.body).toMatchObject({ request_id: healthy })
  })

  test('a declared fault can repeat a webhook', async () => {
    const { clock, deploy } = await faulty('repeated')
    await deploy(all())
    await clock.advance(11_000)
    await arrivals(2)
    expect(received[0]).toEqual(received[1])
  })

  test('a declared fault can delay a webhook until it is outdated', async () => {
    const { clock, deploy, stop, status } = await faulty({ lateMs: 5000 })
    const id = await deploy({ webhook_on_ready: { url: `${origin}/ready` } })
    await clock.advance(11_000)
    await stop(id)
    await clock.advance(4999)
    expect(received).toEqual([])
    await clock.advance(1)
    await arrivals(1)
    expect(received[0]?.body).toMatchObject({ current_status: 'Status.READY', elapsed_time: 11 })
    expect(await status(id)).toMatchObject({ current_status: 'Status.TERMINATED' })
  })

  test('a declared fault can send a webhook before the create is answered', async () => {
    const { create, status } = await faulty('early')
    const created = await create(all())
    expect(created.status).toBe(202)
    expect(paths()).toEqual([['/ready', 'Status.READY']])
    expect(received[0]?.body).toMatchObject({ request_id: idOf(created.body) })
    expect(await status(idOf(created.body))).toMatchObject({ current_status: 'Status.READY' })
  })

  test('a declared fault can forge a webhook that claims READY at another address', async () => {
    const { clock, deploy, status } = await faulty('forged')
    const id = await deploy(all())
    await arrivals(1)
    expect(received[0]?.body).toMatchObject({
      request_id: id,
      current_status: 'Status.READY',
      public_ip: '203.0.113.254',
    })
    expect(await status(id)).toMatchObject({ current_status: 'Status.INITIALIZING' })
    await clock.advance(11_000)
    await arrivals(2)
    expect(received[1]?.body).toEqual(await status(id))
  })
})

test('webhooks leave this machine only if that is allowed', async () => {
  const urls = [
    'http://198.51.100.7/hook',
    'https://example.com/hook',
    'http://127.0.0.1.example.com/',
    'http://localhost.example.com/',
    'http://[2001:db8::1]/',
  ]
  expect(urls.filter(isLoopback)).toEqual([])
  const here = [
    'http://127.0.0.1:80/',
    'http://localhost/hook',
    'https://LOCALHOST:1',
    'http://[::1]:80/',
    'http://127.9.8.7/',
    'http://0x7f.1/',
  ]
  expect(here.filter((url) => !isLoopback(url))).toEqual([])

  const sent: string[] = []
  const fetch = async (url: string) => {
    sent.push(url)
    return new Response()
  }
  for (const webhookHosts of ['loopback', 'any'] as const) {
    const { clock, deploy, emulator } = await studio({ fetch, deployments: { webhookHosts } })
    await deploy({ webhook_on_ready: { url: 'https://example.com/hook' } })
    await clock.advance(11_000)
    expect(emulator.counters.webhooks).toMatchObject(
      webhookHosts === 'any' ? { sent: 1, refused: 0 } : { sent: 0, refused: 1 },
    )
  }
  expect(sent).toEqual(['https://example.com/hook'])
})

describe('the sender of webhooks', () => {
  const sender = (settings: Partial<typeof defaultDeploymentSettings>) => {
    const clock = createManualClock()
    const counters = createCounters().webhooks
    const open: { readonly url: string; readonly end: () => void }[] = []
    const fetch = (url: string, { signal }: RequestInit) =>
      new Promise<Response>((resolve, reject) => {
        open.push({ url, end: () => resolve(new Response()) })
        signal?.addEventListener('abort', () => reject(signal.reason))
      })
    const webhooks = createWebhooks({ ...defaultDeploymentSettings, ...settings, fetch, counters, clock })
    return { clock, counters, open, webhooks }
  }

  test('the webhook sender gives up after ten seconds', async () => {
    const { clock, counters, webhooks } = sender({})
    const over = vi.fn<() => void>()
    void webhooks.send('http://127.0.0.1/', {}).then(over)
    await clock.advance(9999)
    expect([counters.failed, over.mock.calls.length]).toEqual([0, 0])
    await clock.advance(1)
    expect([counters.failed, over.mock.calls.length]).toEqual([1, 1])
    expect(clock.sleepers).toBe(0)
  })

  test('at most webhookConcurrency webhook calls are in flight, and further calls follow in order', async () => {
    const { clock, counters, open, webhooks } = sender({ webhookConcurrency: 2 })
    for (const name of 'abcd') void webhooks.send(`http://127.0.0.1/${name}`, {})
    expect(open.map(({ url }) => url.at(-1))).toEqual(['a', 'b'])
    open[1]?.end()
    await clock.advance(0)
    expect(open.map(({ url }) => url.at(-1))).toEqual(['a', 'b', 'c'])
    webhooks.close()
    await clock.advance(0)
    expect(open).toHaveLength(3)
    expect(counters).toEqual({ sent: 3, delivered: 1, failed: 2, refused: 0 })
    await webhooks.send('http://127.0.0.1/late', {})
    expect(counters.sent).toBe(3)
  })
})
