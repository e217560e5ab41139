import { inspect } from 'node:util'
import { beforeAll, describe, expect, test } from 'vitest'
import { createManualClock } from '../manual-clock.js'
import { createClient } from './client.js'
import { loadDescription } from './description.js'
import { AlreadyTerminated, DeploymentFailed, InvalidInput, NotFound, ServerError, TimedOut, Unauthorized } from './errors.js'
import { inProcess } from './in-process.js'
import type { ClientOptions } from './options.js'
import type { WaitOptions } from './wait-until-ready.js'

beforeAll(loadDescription)

/** A status, or the HTTP status of a failure; null never answers, and an object is the answer. */
type Told = string | number | object | null

/** The nth read is told the nth of these, all after them the last. */
function setUp(told: readonly Told[], options: Partial<ClientOptions> = {}) {
  const clock = createManualClock()
  const began = clock.now()
  /** Milliseconds from the beginning at which each read arrived. */
  const reads: number[] = []
  const dispatcher = inProcess(async () => {
    const now = told[Math.min(reads.push(clock.now() - began), told.length) - 1]
    if (now === null || now === undefined) return new Promise<Response>(() => {})
    if (typeof now === 'number') return Response.json({ message: 'as told' }, { status: now })
    return Response.json(typeof now === 'object' ? now : { request_id: 'abc', current_status: now })
  })
  // The longest waits, and each failure is its call's last.
  const client = createClient({
    baseUrl: 'http://service.invalid', token: 'secret', clock, random: () => 1, retry: { attempts: 1 }, dispatcher, ...options,
  })
  const wait = (waitOptions?: WaitOptions) => client.deployments.waitUntilReady('abc', waitOptions)
  const failure = (waitOptions?: WaitOptions): Promise<unknown> =>
    clock.until(wait(waitOptions).then((ready) => expect.unreachable(`it is ${inspect(ready)}`), (error: unknown) => error), 50)
  return { client, clock, reads, wait, failure, now: () => clock.now() - began }
}

describe('ready', () => {
  test.each(['Status.READY', 'READY', 'ready', 'status.ready'])('%s', async (status) => {
    const { wait, reads } = setUp([status])
    expect(await wait()).toEqual({ request_id: 'abc', current_status: status })
    expect(reads).toEqual([0])
  })

  test('after whatever came before, known or not', async () => {
    const view = { request_id: 'abc', current_status: 'Status.READY', fqdn: 'a.example', ports: { game: { external: 30_000 } } }
    const { clock, wait, reads } = setUp(['Status.SEEKING', 'DEPLOYING', 'Status.WARMING_UP', '', 'Status.READY_SOON', 'Status.NOT_READY', view])
    expect(await clock.until(wait())).toEqual(view)
    expect(reads).toHaveLength(7)
  })

  test('waits grow by half up to the longest', async () => {
    const { clock, wait, reads } = setUp([...Array<Told>(9).fill('Status.DEPLOYING'), 'Status.READY'])
    await clock.until(wait())
    const waits = reads.slice(1).map((read, index) => read - (reads[index] as number))
    expect(waits).toEqual([500, 750, 1125, 1687.5, 2531.25, 3796.875, 5000, 5000, 5000])
  })

  test('waits as short and as long as is said, of which chance takes up to a half', async () => {
    const { clock, wait, reads } = setUp([...Array<Told>(4).fill('Status.DEPLOYING'), 'Status.READY'], { random: () => 0 })
    await clock.until(wait({ pollMs: 100, maxPollMs: 200 }))
    expect(reads).toEqual([0, 50, 125, 225, 325])
  })
})

describe('never ready', () => {
  test.each(['Status.ERROR', 'ERROR', 'error'])('%s', async (current_status) => {
    const { failure, reads } = setUp(['Status.DEPLOYING', { request_id: 'abc', current_status, error: true, error_detail: 'no image for 192.0.2.7' }])
    const error = await failure()
    expect(error).toBeInstanceOf(DeploymentFailed)
    expect(error).toMatchObject({
      requestId: 'abc',
      operation: 'deployments.waitUntilReady',
      detail: 'no image for [address]',
      message: 'deployments.waitUntilReady: deployment abc failed: no image for [address]',
    })
    expect(reads).toHaveLength(2)
  })

  test('in error without a word', async () => {
    const error = await setUp([{ request_id: 'abc', current_status: 'Status.ERROR', error_detail: null }]).failure()
    expect(error).toMatchObject({ name: 'DeploymentFailed', detail: '', message: 'deployments.waitUntilReady: deployment abc failed' })
  })

  test.each(['Status.TERMINATED', 'Status.TERMINATING', 'TERMINATED', 'terminating'])('%s', async (status) => {
    const { failure, reads } = setUp(['Status.DEPLOYING', status])
    const error = await failure()
    expect(error).toBeInstanceOf(AlreadyTerminated)
    expect(error).toMatchObject({ requestId: 'abc', message: expect.stringContaining(status) })
    expect(reads).toHaveLength(2)
  })

  test('a token that is refused ends it at once', async () => {
    const { failure, reads } = setUp([401])
    expect(await failure()).toBeInstanceOf(Unauthorized)
    expect(reads).toHaveLength(1)
  })
})

describe('not found', () => {
  test('at first, it may only be new', async () => {
    const { clock, wait, reads } = setUp([404, 404, 404, 'Status.READY'])
    expect(await clock.until(wait())).toMatchObject({ current_status: 'Status.READY' })
    expect(reads).toHaveLength(4)
  })

  test('for 5 seconds', async () => {
    const { failure, now, reads } = setUp([404])
    expect(await failure()).toBeInstanceOf(NotFound)
    expect(reads.at(-1)).toBeGreaterThanOrEqual(5000)
    expect(reads.at(-2)).toBeLessThan(5000)
    expect(now()).toBeLessThan(10_100)
  })

  test('later, it is gone', async () => {
    const { failure, reads } = setUp([...Array<Told>(6).fill('Status.DEPLOYING'), 404])
    expect(await failure()).toBeInstanceOf(NotFound)
    expect(reads).toHaveLength(7)
  })
})

test('a service that is away for a while is waited for', async () => {
  const { clock, wait, reads } = setUp(['Status.DEPLOYING', 503, 500, 'Status.READY'])
  expect(await clock.until(wait())).toMatchObject({ current_status: 'Status.READY' })
  expect(reads).toHaveLength(4)
})

describe('the end of the time', () => {
  test('between two reads, with the last status', async () => {
    const { clock, failure, reads, now } = setUp(['Status.DEPLOYING'])
    const error = await failure({ timeoutMs: 3000 })
    expect(error).toBeInstanceOf(TimedOut)
    expect(error).toMatchObject({
      requestId: 'abc', timeoutMs: 3000, sent: true,
      message: 'deployments.waitUntilReady: deployment abc was not ready after 3000 ms, its status was Status.DEPLOYING',
    })
    expect(now()).toBe(3000)
    expect(reads).toEqual([0, 500, 1250, 2375])
    expect(clock.sleepers).toBe(0)
  })

  test('during a read', async () => {
    const { clock, failure, now } = setUp(['Status.SEEKING', null])
    const error = await failure({ timeoutMs: 3000 })
    expect(error).toMatchObject({ name: 'TimedOut', timeoutMs: 3000, message: expect.stringContaining('SEEKING') })
    expect(error).toHaveProperty('cause', expect.any(TimedOut))
    expect(now()).toBe(3000)
    expect(clock.sleepers).toBe(0)
  })

  test('of failed reads, with the last failure', async () => {
    const { failure, now } = setUp([503])
    const error = await failure({ timeoutMs: 2000 })
    expect(error).toMatchObject({ name: 'TimedOut', message: expect.stringContaining('unknown') })
    expect(error).toHaveProperty('cause', expect.any(ServerError))
    expect(now()).toBe(2000)
  })

  test('10 minutes by default', async () => {
    const { failure, now } = setUp(['Status.DEPLOYING'])
    expect(await failure()).toMatchObject({ name: 'TimedOut', timeoutMs: 600_000 })
    expect(now()).toBe(600_000)
  })
})

describe('abort', () => {
  test.each([
    ['during a read', null],
    ['between two reads', 'Status.DEPLOYING'],
  ])('%s: at once, with the reason', async (_, told) => {
    const { clock, wait, reads, now } = setUp([told])
    const abort = new AbortController()
    const waiting = wait({ signal: abort.signal }).catch((reason: unknown) => reason)
    await clock.advance(100)
    abort.abort('enough')
    expect(await waiting).toBe('enough')
    expect(now()).toBe(100)
    await clock.advance(60_000)
    expect(reads).toHaveLength(1)
    expect(clock.sleepers).toBe(0)
  })

  test('before: nothing is read', async () => {
    const { wait, reads } = setUp(['Status.READY'])
    await expect(wait({ signal: AbortSignal.abort('enough') })).rejects.toBe('enough')
    expect(reads).toEqual([])
  })
})

test.each([{ pollMs: 0 }, { pollMs: Number.NaN }, { maxPollMs: -1 }, { maxPollMs: Infinity }, { timeoutMs: 0 }, { priority: 0.5 }])(
  'an option that makes no sense is named: %o',
  async (options) => {
    const { wait, reads } = setUp(['Status.READY'])
    const error = await wait(options).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(InvalidInput)
    expect(error).toMatchObject({ field: Object.keys(options)[0], message: expect.stringContaining(String(Object.values(options)[0])) })
    expect(reads).toEqual([])
  },
)
