import { expect, onTestFinished, test } from 'vitest'
import type { Limiter, Permit } from '../rate-limit/limiter-types.js'
import { createManualClock } from '../time.js'
import type { CallOptions } from './call.js'
import { createClient } from './client.js'
import { InvalidInput, TimedOut, SendAborted } from './errors.js'
import { inProcess } from './transport.js'
import type { ClientOptions } from './config.js'
import { answer, serve } from './server.fixture.js'

const input = { request_id: 'abc', name: 'blue' }

async function setUp(options: Partial<ClientOptions> = {}) {
  const server = await serve((_, response) => answer(response, 200, { name: 'blue' }))
  const client = createClient({ baseUrl: server.url, token: 'secret', retry: { baseMs: 0 }, ...options })
  onTestFinished(() => client.close())
  const create = (callOptions?: CallOptions) => client.tags.create(input, callOptions)
  const read = (callOptions?: CallOptions) => client.tags.get({ request_id: 'abc', tag_name: 'blue' }, callOptions)
  return { server, client, create, read }
}

/**
 * Creates a limiter, and a list of the calls of its permits.
 * @param holds returns true if the nth permit is still valid
 */
function permits(holds: (nth: number) => boolean) {
  const seen: string[] = []
  let given = 0
  const permit = (nth: number): Permit => ({
    mayWrite: () => holds(nth),
    written: () => void seen.push(`${nth} written`),
    answered: () => void seen.push(`${nth} answered`),
    release: () => void seen.push(`${nth} released`),
  })
  const limiter: Limiter = {
    reserve: () => permit(++given),
    throttled: () => {},
    inspect: () => ({ tokens: 1, rate: 1 }),
  }
  return { seen, limiter: () => limiter }
}

const failure = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => expect.unreachable('the call succeeded'),
    (error: unknown) => error,
  )

test('a call whose mayWrite returns false is withheld: nothing reaches the service', async () => {
  const { server, client, create } = await setUp()
  const responses: (string | undefined)[] = []
  client.events.on('response', ({ error }) => responses.push(error))
  const error = await failure(create({ mayWrite: () => false }))
  expect(error).toBeInstanceOf(SendAborted)
  expect(error).toMatchObject({ operation: 'tags.create', requestId: 'abc', sent: false })
  expect(server.requests).toHaveLength(0)
  expect(responses).toEqual(['SendAborted'])
  await create()
  expect(server.requests).toHaveLength(1)
})

test('mayWrite is called once a connection is open, right before each attempt, and not afterwards', async () => {
  const { server, create } = await setUp()
  const asked: number[] = []
  const mayWrite = () => asked.push(server.requests.length) > 0
  await create({ mayWrite })
  await create({ mayWrite })
  expect(asked).toEqual([0, 1])
})

test('a read with mayWrite does not share its request with a read without mayWrite', async () => {
  const { server, read } = await setUp()
  const results = await Promise.allSettled([read({ mayWrite: () => false }), read(), read()])
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled'])
  expect(server.requests).toHaveLength(1)
})

test('a call whose mayWrite is not a function is refused', async () => {
  const { create } = await setUp()
  const error = await failure(create({ mayWrite: true as never }))
  expect(error).toBeInstanceOf(InvalidInput)
  expect(error).toMatchObject({ field: 'mayWrite' })
})

test('an expired permit is returned unused, and its call waits for another permit', async () => {
  const { seen, limiter } = permits((nth) => nth > 2)
  const { server, client } = await setUp({ limiter, limits: { other: { limit: 1 } } })
  const requests: number[] = []
  client.events.on('request', ({ attempt }) => requests.push(attempt))
  await client.tags.create(input)
  expect(server.requests).toHaveLength(1)
  expect(seen).toEqual(['1 released', '2 released', '3 written', '3 answered', '3 answered'])
  expect(requests).toEqual([1, 1, 1])
})

test('a call whose permits always expire times out, and the error gives that reason', async () => {
  const clock = createManualClock()
  let asked = 0
  const { limiter } = permits(() => false)
  const slow = { ...limiter(), reserve: async () => (await clock.sleep(100), ++asked, limiter().reserve(0)) }
  const reached: string[] = []
  const dispatcher = inProcess(async ({ url }) => (reached.push(url), Response.json({})))
  const client = createClient({ baseUrl: 'http://service.invalid', token: 't', clock, dispatcher, limiter: () => slow })
  const error = await clock.until(failure(client.deployments.get({ request_id: 'abc' }, { timeoutMs: 1000 })))
  expect(error).toBeInstanceOf(TimedOut)
  expect(error).toMatchObject({ sent: false, cause: { message: expect.stringContaining('the permit') } })
  expect(asked).toBeGreaterThan(5)
  expect(reached).toEqual([])
})

test('a call that times out because its limiter gives no permits names the cause in its error', async () => {
  const clock = createManualClock()
  const obstacle = new Error('the store is away')
  const limiter: Limiter = {
    reserve: (now) => now + 100,
    throttled: () => {},
    inspect: () => ({ tokens: 0, rate: 1 }),
    obstacle: () => obstacle,
  }
  const client = createClient({ baseUrl: 'http://service.invalid', token: 't', clock, limiter: () => limiter })
  const error = await clock.until(failure(client.deployments.get({ request_id: 'abc' }, { timeoutMs: 1000 })))
  expect(error).toBeInstanceOf(TimedOut)
  expect(error).toMatchObject({ sent: false, cause: obstacle })
})
