/** Tests the logs of failed servers, which the stop of a server deletes. */
import { NotFound } from '@muster/core'
import { expect, test } from 'vitest'
import { createMemoryServerLog } from '@muster/hosting/internal'
import { deploy, duel, setUp } from './matchmaker.fixture.js'

const hidden = { API_KEY: 'hunter2-of-the-backend' }
const queues = [{ ...duel, deploy: { ...deploy, hiddenEnvironment: hidden } }]
const inError = { fate: () => ({ errorMs: 1000 }) }

/** Starts a server that fails, with this container output. */
async function failing(logs: NonNullable<Parameters<typeof setUp>[0]>['service'], ms = 6000) {
  const world = setUp({ queues, service: { ...inError, ...logs } })
  const events: { readonly requestId: string; readonly reason: string; readonly logs: string }[] = []
  world.matchmaker.on('serverLogs', (event) => events.push(event))
  await world.run(250)
  world.join('ann', 'ben')
  await world.run(ms)
  return { ...world, events }
}

test('the last log lines of a failed server are read before its stop, without secrets and addresses', async () => {
  const order: string[] = []
  const world: ReturnType<typeof setUp> = setUp({
    queues,
    service: {
      ...inError,
      logs: async ({ request_id: requestId }) => {
        const { create, stop } = world.service.calls
        order.push(`logs of ${requestId} after ${stop.length} stops`)
        const token = create[0]?.environment_variables?.find(({ key }) => key === 'MUSTER_SERVER_TOKEN')?.value
        const last = `player 198.51.100.7 with ${hidden.API_KEY} and ${token}`
        return {
          logs: `${'x'.repeat(40_000)}\n${last}\nfatal: no map`,
          crash_data: { exit_code: 139, message: 'segmentation fault', restart_count: 0 },
        }
      },
    },
  })
  const events: { readonly requestId: string; readonly logs: string }[] = []
  world.matchmaker.on('serverLogs', (event) => events.push(event))
  await world.run(250)
  world.join('ann', 'ben')
  await world.run(3000)
  expect(order).toEqual(['logs of r1 after 0 stops'])
  expect(world.service.calls.stop[0]).toEqual({ request_id: 'r1' })
  expect(events).toMatchObject([{ requestId: 'r1', reason: 'failed' }])
  const { logs = '' } = events[0] ?? {}
  expect(logs).toMatch(
    /^exit code 139, segmentation fault\nx+\nplayer \[address\] with \[redacted\] and \[redacted\]\n/,
  )
  expect(logs.endsWith('fatal: no map')).toBe(true)
  expect(logs.length).toBeLessThanOrEqual(16 * 1024 + 500)
  expect(logs).not.toMatch(/hunter2|198\.51/)
})

test.each([
  ['is never answered', () => new Promise<never>(() => {})],
  ['fails, because there are none', () => Promise.reject(new NotFound('logs are not available'))],
  ['gets an empty answer', () => Promise.resolve({})],
])('a failed server is stopped within three seconds even if the request for its logs %s', async (_, logs) => {
  const { service, events } = await failing({ logs }, 5000)
  expect(service.calls.stop[0]).toEqual({ request_id: 'r1' })
  expect(events).toEqual([])
})

test('when many servers fail at once, most are stopped without reading their logs', async () => {
  let reads = 0
  const world = setUp({
    queues,
    service: { ...inError, logs: () => ((reads += 1), new Promise<never>(() => {})) },
    maxServers: 100,
    maxStarting: 100,
  })
  await world.run(250)
  for (let pair = 0; pair < 40; pair += 1) world.join(`a${pair}`, `b${pair}`)
  await world.run(10_000)
  expect(reads).toBeGreaterThanOrEqual(8)
  expect(world.service.calls.stop.length).toBeGreaterThanOrEqual(32)
})

test('after a takeover the logs of a failed server are not read, and its failure gives this reason', async () => {
  const serverLog = createMemoryServerLog()
  let reads = 0
  const logs = () => ((reads += 1), Promise.resolve({ logs: hidden.API_KEY }))
  const fate = () => ({ readyMs: 1000, errorMs: 20_000 })
  const first = setUp({ queues, serverLog, service: { fate, logs } })
  await first.run(250)
  first.join('ann', 'ben')
  await first.run(5000)
  expect(first.status('ann-ben')).toBe('HOST_ASSIGNED')
  const { clock, service } = first
  // The next process has neither the tickets nor the queue's variables.
  const next = setUp({ queues: [duel], serverLog, clock, deployments: service.deployments })
  for (let passed = 0; passed < 30_000; passed += 250) {
    await next.matchmaker.tick()
    await clock.advance(250)
  }
  expect(service.unstopped()).toEqual([])
  expect(reads).toBe(0)
  expect(next.seen.deploymentFailed).toMatchObject([
    { requestId: 'r1', reason: 'crashed', detail: expect.stringMatching(/logs were not read.*secrets/) },
  ])
})
