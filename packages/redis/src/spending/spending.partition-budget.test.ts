import { createManualClock } from '@muster/core/clock'
import { expect, test } from 'vitest'
import { type SpendingRequest, createPartitionBudget, type SpendingLease } from './spending.js'

function setUp(least = 2) {
  const clock = createManualClock()
  const asks: (SpendingRequest & {
    readonly answer: (lease: SpendingLease) => void
    readonly fail: (error: Error) => void
  })[] = []
  const failures: unknown[] = []
  const ask = (what: SpendingRequest) =>
    new Promise<SpendingLease>((answer, fail) => {
      asks.push({ ...what, answer, fail })
    })
  const budget = createPartitionBudget(ask, least, clock, (error) => failures.push(error))
  const answer = async (servers: number, creates: number, version = '1') => {
    asks.at(-1)?.answer({ version, granted: { servers, creates } })
    await clock.advance(100)
  }
  const plan = (times: number) => {
    for (let n = 0; n < times; n++) budget.planned()
  }
  return { clock, asks, budget, failures, answer, plan }
}

test('a shared budget has one request in flight at a time, and at most one every 100 ms', async () => {
  const { clock, asks, budget, answer } = setUp()
  expect(budget.servers(0)).toBe(0)
  budget.servers(0)
  expect(asks).toHaveLength(1)
  await answer(2, 2)
  expect(budget.servers(0)).toBe(2)
  expect(asks).toHaveLength(2)
  await answer(2, 2)
  await clock.advance(0)
  budget.servers(0)
  expect(asks).toHaveLength(3)
  await clock.advance(99)
  budget.servers(0)
  expect(asks).toHaveLength(3)
})

test('during a budget request, a partition uses no more of the shared budget than it requests', async () => {
  const { budget, answer } = setUp()
  budget.servers(0)
  await answer(10, 10)
  // The request that this call makes returns all but two.
  expect(budget.servers(3)).toBe(2)
  expect(budget.creates()).toBe(2)
})

test('creates that a partition plans during a budget request count against the answer of that request', async () => {
  const { asks, budget, answer, plan } = setUp()
  budget.servers(0)
  await answer(2, 2)
  budget.servers(0)
  plan(2)
  await answer(2, 2)
  expect(budget.creates()).toBe(0)
  budget.servers(2)
  expect(asks.at(-1)?.creates).toEqual({ planned: 2, ahead: 4 })
})

test('a partition reports its planned creates again if the answer of the budget was lost', async () => {
  const { clock, asks, budget, failures, answer, plan } = setUp()
  budget.servers(0)
  await answer(2, 2)
  plan(1)
  budget.servers(1)
  asks.at(-1)?.fail(new Error('lost'))
  await clock.advance(100)
  expect(failures).toEqual([new Error('lost')])
  budget.servers(1)
  expect(asks.at(-1)?.creates.planned).toBe(1)
})

test('a shared budget starts over if another process has requested for the partition', async () => {
  const { clock, asks, budget, answer, plan } = setUp()
  budget.servers(0)
  expect(asks.at(-1)).toMatchObject({ version: '', isNew: true })
  await answer(5, 5, 'a')
  plan(3)
  budget.servers(3)
  expect(asks.at(-1)).toMatchObject({ version: 'a', isNew: false })
  asks.at(-1)?.answer({ version: 'b', granted: undefined })
  await clock.advance(100)
  expect([budget.servers(0), budget.creates()]).toEqual([0, 0])
  expect(asks.at(-1)).toMatchObject({ version: 'b', isNew: true, creates: { planned: 0 } })
})
