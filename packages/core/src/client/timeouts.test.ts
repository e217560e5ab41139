import { describe, expect, test } from 'vitest'
import { inVirtualTime, ready, later } from './client.fixture.js'

describe('the deadline of a call', () => {
  test('the deadline of a call includes its time in the queue', async () => {
    const { clock, client } = inVirtualTime(async () => ready())
    const calls = Array.from({ length: 60 }, (_, index) =>
      client.deployments.get({ request_id: `r${index}` }, { timeoutMs: 1500 }),
    )
    const results = await clock.until(Promise.allSettled(calls))
    const late = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []))
    expect(late).toHaveLength(20)
    expect(late[0]).toMatchObject({
      name: 'TimedOut',
      sent: false,
      queuedMs: 1500,
      inFlightMs: 0,
      retryWaitMs: 0,
      timeoutMs: 1500,
    })
    expect(client.queues()['status']?.queued).toBe(0)
  })

  test('the deadline of a call includes the wait for the answer, and its error says that it was sent', async () => {
    const { clock, client } = inVirtualTime(() => new Promise(() => {}))
    const call = client.fleets.create({ name: 'f' }, { timeoutMs: 700 })
    await expect(clock.until(call)).rejects.toMatchObject({
      name: 'TimedOut',
      sent: true,
      inFlightMs: 700,
      queuedMs: 0,
    })
    expect(client.queues()['other']?.inFlight).toBe(0)
  })

  test('the deadline of a call includes a hanging token function, and the error says: not sent', async () => {
    const { clock, client, times } = inVirtualTime(async () => ready(), { token: () => new Promise(() => {}) })
    await expect(clock.until(client.deployments.get({ request_id: 'a' }, { timeoutMs: 700 }))).rejects.toMatchObject({
      name: 'TimedOut',
      sent: false,
    })
    expect(client.queues()['status']?.inFlight).toBe(0)
    expect(times).toEqual([])
  })

  test('an abort ends any wait of a call at once with the abort reason, and frees the place of the call', async () => {
    for (const hang of [later('30'), new Response('', { status: 503, headers: { 'retry-after': '20' } }), undefined]) {
      const { clock, client } = inVirtualTime(async () => hang?.clone() ?? (await new Promise<Response>(() => {})))
      const controller = new AbortController()
      const call = client.deployments.get({ request_id: 'a' }, { signal: controller.signal, timeoutMs: 60_000 })
      call.catch(() => {})
      await clock.advance(100)
      controller.abort('enough')
      await expect(call).rejects.toBe('enough')
      await clock.advance(0)
      expect(client.queues()['status']).toMatchObject({ queued: 0, inFlight: 0 })
    }
  })
})
