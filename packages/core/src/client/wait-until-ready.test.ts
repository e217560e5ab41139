import { describe, expect, test } from 'vitest'
import type { Deployment } from '../api/index.js'
import { createManualClock, seededRandom } from '../time.js'
import type { CallOptions } from './call.js'
import {
  ConnectionLost,
  Forbidden,
  InvalidInput,
  NotFound,
  ServerError,
  TimedOut,
  UnexpectedResponse,
} from './errors.js'
import { createWaitUntilReady, type WaitOptions } from './wait-until-ready.js'

const view = (status: string, more: Partial<Deployment> = {}): Deployment => ({
  request_id: 'abc',
  current_status: status,
  ...more,
})

/**
 * Waits on a manual clock until a deployment is READY. The reads return these statuses in order, and then the last one
 * repeatedly.
 */
async function wait(statuses: readonly (Deployment | Error)[], options?: WaitOptions, random = seededRandom(1)) {
  const clock = createManualClock({ start: 0 })
  const reads: number[] = []
  const given: CallOptions[] = []
  const read = async (input: { readonly request_id: string }, callOptions: CallOptions) => {
    expect(input).toEqual({ request_id: 'abc' })
    const next = statuses[Math.min(reads.length, statuses.length - 1)]
    reads.push(clock.now())
    given.push(callOptions)
    if (next instanceof Error) throw next
    return next as Deployment
  }
  let settled = false
  const result = createWaitUntilReady(read, { clock, random })('abc', options)
    .then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    )
    .finally(() => {
      settled = true
    })
  while (!settled) await clock.next()
  return { ...((await result) as { value?: Deployment; error?: unknown }), reads, given, took: clock.now() }
}

describe('the outcome of waitUntilReady', () => {
  test('waitUntilReady resolves to the deployment when it is READY', async () => {
    const ready = view('Status.READY', { fqdn: 'abc.example' })
    const { value, reads } = await wait([
      view('Status.SEEKING'),
      view('DEPLOYING'),
      view('Status.SOMETHING_NEW'),
      ready,
    ])
    expect(value).toBe(ready)
    expect(reads).toHaveLength(4)
  })

  test('waitUntilReady fails on ERROR with the message of the service, without addresses', async () => {
    const { error } = await wait([view('Status.ERROR', { error_detail: 'cannot reach 198.51.100.7' })])
    expect(error).toMatchObject({
      name: 'DeploymentFailed',
      requestId: 'abc',
      detail: 'cannot reach [address]',
      message: 'deployments.waitUntilReady: deployment abc failed: cannot reach [address]',
    })
  })

  test.each(['Status.TERMINATING', 'Status.TERMINATED'])(
    'waitUntilReady fails when the deployment is %s',
    async (status) => {
      expect((await wait([view(status)])).error).toMatchObject({ name: 'AlreadyTerminated', requestId: 'abc' })
    },
  )

  test('waitUntilReady fails at its deadline, with the last status', async () => {
    const { error, took } = await wait([view('Status.DEPLOYING')], { timeoutMs: 20_000 })
    expect(error).toMatchObject({
      name: 'TimedOut',
      timeoutMs: 20_000,
      message:
        'deployments.waitUntilReady: deployment abc was not ready after 20000 ms, its status was Status.DEPLOYING',
    })
    expect(took).toBe(20_000)
  })

  test('waitUntilReady fails as soon as a read fails with an error that no retry can fix', async () => {
    const forbidden = new Forbidden('no')
    expect(await wait([view('Status.SEEKING'), forbidden])).toMatchObject({
      error: forbidden,
      reads: [0, expect.any(Number)],
    })
  })

  test('waitUntilReady rejects at once on an abort, with the reason', async () => {
    const clock = createManualClock()
    const controller = new AbortController()
    const waiting = createWaitUntilReady(async () => view('Status.SEEKING'), { clock, random: seededRandom(1) })(
      'abc',
      { signal: controller.signal },
    )
    await clock.advance(100)
    controller.abort('enough')
    await expect(waiting).rejects.toBe('enough')
    expect(clock.sleepers).toBe(0)
  })
})

describe('the wait for READY', () => {
  test.each([
    new ServerError('down'),
    new ConnectionLost('lost', { sent: true }),
    new TimedOut('late', { sent: true, timeoutMs: 1 }),
  ])('waitUntilReady continues after %s, which may be transient', async (failure) =>
    expect((await wait([failure, failure, view('READY')])).value).toEqual(view('READY')),
  )

  test('waitUntilReady continues for a limited time if a new deployment is not yet known', async () => {
    const unknown = new NotFound('no such deployment')
    expect((await wait([unknown, unknown, view('READY')])).value).toEqual(view('READY'))
    const { error, took } = await wait([unknown])
    expect(error).toBe(unknown)
    expect(took).toBeGreaterThanOrEqual(5000)
    expect(took).toBeLessThan(12_000)
  })

  test('waitUntilReady continues after up to four unreadable answers in a row', async () => {
    const unreadable = new UnexpectedResponse('not JSON')
    const four = Array.from({ length: 4 }, () => unreadable)
    expect((await wait([...four, view('Status.SEEKING'), ...four, view('READY')])).value).toEqual(view('READY'))
    expect(await wait([...four, unreadable, view('READY')])).toMatchObject({ error: unreadable })
  })

  test('waitUntilReady retries failed reads until its deadline; the last one is the cause of its error', async () => {
    const failure = new ServerError('down')
    expect((await wait([failure], { timeoutMs: 3000 })).error).toMatchObject({ name: 'TimedOut', cause: failure })
  })
})

describe('the polls of waitUntilReady', () => {
  test('waitUntilReady lengthens its pause by half after each poll, up to maxPollMs, half of it random', async () => {
    const { reads } = await wait(
      [view('Status.SEEKING')],
      { timeoutMs: 60_000, pollMs: 1000, maxPollMs: 4000 },
      () => 0.999999,
    )
    const gaps = reads.slice(1).map((at, index) => Math.round(at - (reads[index] ?? 0)))
    expect(gaps.slice(0, 6)).toEqual([1000, 1500, 2250, 3375, 4000, 4000])
    const shortest = await wait([view('Status.SEEKING')], { timeoutMs: 60_000, pollMs: 1000, maxPollMs: 4000 }, () => 0)
    expect(shortest.reads[1]).toBe(500)
  })

  test('waitUntilReady polls with the priority and signal of the caller, and at most the remaining time', async () => {
    const { signal } = new AbortController()
    const { given, reads } = await wait([view('Status.SEEKING'), view('READY')], {
      timeoutMs: 9000,
      priority: 4,
      signal,
    })
    expect(given).toEqual([
      { signal, priority: 4, timeoutMs: 9000 },
      { signal, priority: 4, timeoutMs: 9000 - (reads[1] ?? 0) },
    ])
  })
})

test.each([{ pollMs: 0 }, { maxPollMs: Number.NaN }, { timeoutMs: -1 }, { priority: 0.5 }])(
  'waitUntilReady refuses the options %j',
  async (options) => {
    const [field] = Object.keys(options)
    await expect(
      createWaitUntilReady(async () => view('READY'), { clock: createManualClock(), random: seededRandom(1) })(
        'abc',
        options,
      ),
    ).rejects.toThrow(expect.objectContaining({ name: 'InvalidInput', field }))
    expect(InvalidInput.prototype.name).toBe('InvalidInput')
  },
)
