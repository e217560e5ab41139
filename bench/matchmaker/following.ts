/**
 * Measures the time from READY to the assignment, at the service's full rate of creates, over ten minutes of the
 * emulator's time.
 */
import { createClient, inProcess, type Client } from '@muster/core'
import { createManualClock, seededRandom, type ManualClock } from '@muster/core/clock'
import { createEmulator, type Emulator } from '@muster/emulator'
import { createMatchmaker } from '@muster/matchmaker'
import { atMost, type Figures } from '../figure.js'

const CREATES_PER_SECOND = 40
const MINUTES = 10
/**
 * `NETWORK`: milliseconds of a request's round trip. `WEBHOOK`: median milliseconds until a webhook arrives, the spread
 * of that time, and the share of lost webhooks.
 */
const NETWORK = { latencyMs: 60, jitterMs: 40 }
const WEBHOOK = { medianMs: 150, spread: 0.5, lost: 0.01 }
/** Half of the deployments are READY after 10 s, and 95 % after 20 s. */
const DEPLOY_TIMES = { seekMs: 700, deployMs: 9000, cachedDeployMs: 9000, terminateMs: 1000, spread: 0.42 }
/** Milliseconds after the last create until all deployments are READY and known to be so. */
const DRAIN_MS = 90_000
const STEP_MS = 250
/** Maximum number of concurrent status reads, if each deployment is polled. */
const MOST_POLLS = 10

/** The result of one way of following deployments: milliseconds from READY until the client learned of it. */
interface Result {
  readonly p50: number
  readonly p99: number
  /** Number of deployments that were READY without ever being known to be so. */
  readonly unknown: number
  readonly rejected: number
  readonly requests: Readonly<Record<string, number>>
}

interface World {
  readonly clock: ManualClock
  readonly emulator: Emulator
  readonly client: Client
  /** The time at which each deployment became READY. */
  readonly readyAt: Map<string, number>
  /** Called by the service when a deployment is READY, however long the webhook takes to arrive. No call is lost. */
  onReady: (url: string, init: RequestInit) => void
}

async function openWorld(): Promise<World> {
  const clock = createManualClock()
  const readyAt = new Map<string, number>()
  const emulator = createEmulator({
    ...NETWORK,
    clock,
    random: seededRandom(1),
    page: false,
    deployTimes: DEPLOY_TIMES,
    deployments: { retentionMs: 1000 },
    fetch: async (url, init) => {
      const { request_id, current_status } = JSON.parse(init.body as string) as {
        request_id: string
        current_status: string
      }
      if (current_status === 'Status.READY') {
        readyAt.set(request_id, clock.now())
        world.onReady(url, init)
      }
      return new Response()
    },
  })
  const dispatcher = inProcess((request) => emulator.fetch(request))
  const client = createClient({
    baseUrl: 'http://emulator.invalid',
    token: 'dev',
    clock,
    random: seededRandom(2),
    dispatcher,
  })
  await clock.until(client.applications.create({ name: 'game', is_active: true }))
  await clock.until(
    client.versions.create({
      app_name: 'game',
      name: '1',
      docker_repository: 'registry.example.com',
      docker_image: 'studio/game',
      docker_tag: '1',
      req_cpu: 512,
      req_memory: 512,
      ports: [{ name: 'game', port: 7777, protocol: 'UDP' }],
    }),
  )
  const world: World = { clock, emulator, client, readyAt, onReady: () => {} }
  return world
}

/** Creates this many deployments, and returns the result. @param create starts the nth create. */
async function run(world: World, create: (nth: number) => void, knownAt: ReadonlyMap<string, number>): Promise<Result> {
  const { clock, emulator, client, readyAt } = world
  const start = clock.now()
  const all = CREATES_PER_SECOND * MINUTES * 60
  for (let nth = 0; nth < all; await clock.advance(STEP_MS)) {
    for (; nth < all && nth <= ((clock.now() - start) / 1000) * CREATES_PER_SECOND; nth++) create(nth)
  }
  for (let drained = 0; drained < DRAIN_MS; drained += STEP_MS) await clock.advance(STEP_MS)

  const delays = Array.from(readyAt, ([requestId, at]) => (knownAt.get(requestId) ?? clock.now()) - at).toSorted(
    (a, b) => a - b,
  )
  const { rejected, requests } = emulator.counters
  const result = {
    p50: delays[Math.floor(delays.length / 2)] ?? Number.NaN,
    p99: delays[Math.floor(delays.length * 0.99)] ?? Number.NaN,
    unknown: Array.from(readyAt.keys()).filter((requestId) => !knownAt.has(requestId)).length,
    rejected: Object.values(rejected).reduce((sum, count) => sum + count, 0),
    requests: Object.fromEntries(
      Object.entries(requests).map(([id, byStatus]) => [
        id,
        Object.values(byStatus).reduce((sum, count) => sum + count, 0),
      ]),
    ),
  }
  // Pending calls wait for the rate limits, and so for the manual clock.
  await clock.until(Promise.all([client.close(), emulator.close()]))
  return result
}

/** Measures the matchmaker, with or without webhooks. */
async function following(withWebhooks: boolean): Promise<Result> {
  const world = await openWorld()
  const { clock, client } = world
  const random = seededRandom(3)
  const knownAt = new Map<string, number>()
  const matchmaker = createMatchmaker({
    // The benchmark learns of READY at once. The matchmaker learns of it at once only by webhooks.
    deployments: {
      ...client.deployments,
      create: (input, options) =>
        client.deployments.create({ webhook_on_ready: { url: 'http://127.0.0.1/measure' }, ...input }, options),
    },
    queues: [{ name: 'q', matchSize: 2, deploy: { application: 'game', version: '1', maxDurationMs: 20_000 } }],
    clock,
    random: seededRandom(4),
    maxServers: Infinity,
    maxStarting: Infinity,
    endedTicketTtlMs: 1000,
    ...(withWebhooks ? { webhookUrl: 'http://127.0.0.1/hooks' } : {}),
  })
  matchmaker.on('serverAssigned', ({ requestId }) => void knownAt.set(requestId, clock.now()))
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
  world.onReady = (url, init) => {
    if (!withWebhooks || random() < WEBHOOK.lost) return
    const takes = WEBHOOK.medianMs * Math.exp(WEBHOOK.spread * normal())
    void clock.sleep(takes).then(() => matchmaker.webhook(new Request(url, init)))
  }
  matchmaker.start()
  const create = (nth: number) => {
    const players = [0, 1].map((index) => ({ id: `${nth}-${index}`, ip: '192.0.2.1' }))
    matchmaker.createTicket({ queue: 'q', players })
  }
  const result = await run(world, create, knownAt)
  await clock.until(matchmaker.stop())
  return result
}

/**
 * Measures the usual polling. It reads each deployment in turn until it is READY, within the same limits and with the
 * same client.
 */
async function pollingEach(): Promise<Result> {
  const world = await openWorld()
  const { client, clock } = world
  const knownAt = new Map<string, number>()
  const turns: string[] = []
  let underWay = 0
  const poll = async (): Promise<void> => {
    const request_id = turns.shift()
    if (request_id === undefined) return
    underWay += 1
    const { current_status } = await client.deployments.get({ request_id }).finally(() => (underWay -= 1))
    if (current_status === 'Status.READY') {
      knownAt.set(request_id, clock.now())
      await client.deployments.stop({ request_id })
    } else {
      turns.push(request_id)
    }
  }
  const pollOn = async (): Promise<void> => {
    for (;;) {
      for (let free = MOST_POLLS - underWay; free > 0; free--) void poll().catch(() => {})
      await clock.sleep(10)
    }
  }
  void pollOn()
  const create = () => {
    const call = client.deployments.create({
      application: 'game',
      version: '1',
      users: [{ user_type: 'ip_address', user_data: { ip_address: '192.0.2.1' } }],
      webhook_on_ready: { url: 'http://127.0.0.1/measure' },
    })
    void call.then(({ request_id }) => turns.push(request_id)).catch(() => {})
  }
  return run(world, create, knownAt)
}

export async function followingFigures(): Promise<Figures> {
  const polling = await following(false)
  const webhooks = await following(true)
  const each = await pollingEach()
  const seconds = (ms: number) => ms / 1000
  return {
    figures: [
      atMost('READY to assigned, polling only, p50', seconds(polling.p50), 0.4, 's'),
      atMost('READY to assigned, polling only, p99', seconds(polling.p99), 1.5, 's'),
      atMost('READY to assigned, with webhooks, p99', seconds(webhooks.p99), 0.7, 's'),
      atMost('requests rejected while following', polling.rejected + webhooks.rejected, 0, 'requests'),
      atMost('READY and never known to be', polling.unknown + webhooks.unknown, 0, 'deployments'),
    ],
    peers: {
      'following: polling only, webhooks, and polling each deployment': {
        polling,
        webhooks,
        each,
      },
    },
  }
}
