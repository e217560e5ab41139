import { InvalidInput } from '@muster/core'
import { createManualClock } from '@muster/core/clock'
import { expect, test } from 'vitest'
import { encode } from '../rpc.js'
import { NoLeader, PartitionFull } from '../partition-errors.js'
import { createRpcClient } from './rpc-client.js'

function open(post: (text: string) => Promise<void> = async () => {}) {
  const clock = createManualClock()
  const posted: string[] = []
  const problems: unknown[] = []
  let made = 0
  const asking = createRpcClient({
    post: (text) => {
      posted.push(text)
      return post(text)
    },
    follower: 'a',
    clock,
    newId: () => `${(made += 1)}`,
    timeoutMs: 3000,
    problem: (error) => problems.push(error),
  })
  return { clock, posted, problems, asking }
}

test('an RPC request with an input that JSON cannot hold rejects its caller, and nothing is sent', async () => {
  const { clock, posted, asking } = open()
  const asked = asking.ask('getBackfill', 1n as never)
  await expect(asked).rejects.toThrow(TypeError)
  await clock.advance(5000)
  expect(posted).toEqual([])
  expect(clock.sleepers).toBe(0)
})

test('an RPC request is repeated with its id until it is answered, and then leaves no timer and no entry', async () => {
  const { clock, posted, asking } = open()
  const asked = asking.ask('getBackfill', 'b1')
  await clock.advance(2500)
  expect(posted).toHaveLength(3)
  const [once, ...again] = posted.map((text) => JSON.parse(text) as object)
  expect(once).toMatchObject({ again: false })
  expect(again).toEqual([
    { ...once, again: true },
    { ...once, again: true },
  ])
  asking.receive([encode({ id: 'other', answer: 1 }), 'no JSON', encode({ id: '1', answer: { id: 'b1' } })])
  expect(await asked).toEqual({ id: 'b1' })
  await clock.advance(5000)
  expect(posted).toHaveLength(3)
  expect(clock.sleepers).toBe(0)
})

test('an RPC request that is too long is refused immediately', async () => {
  const { clock, posted, problems, asking } = open(async () => {
    throw new InvalidInput('ask: must have at most 5 bytes, got 9', { field: 'ask' })
  })
  await expect(clock.until(asking.ask('inspect'), 1)).rejects.toThrow(InvalidInput)
  expect(clock.now()).toBeLessThan(createManualClock().now() + 100)
  await clock.advance(5000)
  expect([posted.length, problems.length, clock.sleepers]).toEqual([1, 0, 0])
})

test('game servers can use only a part of the open RPC requests', async () => {
  const { clock, asking } = open()
  const registration = { instance: 'i', matches: 1 }
  const report = () => asking.ask('registerServer', 'a.b', registration).catch((error: unknown) => error)
  const reports = Array.from({ length: 700 }, report)
  const other = asking.ask('forgive', 'ann').catch((error: unknown) => error)
  const outcomes = await clock.until(Promise.all([...reports, other]))
  expect(outcomes.filter((outcome) => outcome instanceof PartitionFull)).toHaveLength(200)
  expect(outcomes.at(-1)).toBeInstanceOf(NoLeader)
  expect(clock.sleepers).toBe(0)
})

test('guesses of secrets can use only a part of the open RPC requests', async () => {
  const { clock, asking } = open()
  const guess = (number: number) => asking.ask('isServerSecret', `${number}`).catch((error: unknown) => error)
  const guesses = Array.from({ length: 500 }, (_, number) => guess(number))
  const other = asking.ask('inspect').catch((error: unknown) => error)
  await clock.advance(10)
  asking.receive([encode({ id: '1', answer: false })])
  await guesses[0]
  const late = guess(501)
  const outcomes = await clock.until(Promise.all([...guesses, other, late]))
  expect(outcomes.filter((outcome) => outcome instanceof PartitionFull)).toHaveLength(400)
  expect(outcomes[0]).toBe(false)
  expect(outcomes.slice(-2)).toEqual([expect.any(NoLeader), expect.any(NoLeader)])
  // All earlier calls are over now.
  const again = guess(502)
  await clock.advance(10)
  asking.close(new Error('closed'))
  expect(await again).toMatchObject({ message: 'closed' })
  await expect(asking.ask('inspect')).rejects.toThrow('closed')
  await clock.advance(10)
  expect(clock.sleepers).toBe(0)
})
