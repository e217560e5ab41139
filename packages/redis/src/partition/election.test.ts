import { createManualClock } from '@muster/core/clock'
import { expect, test } from 'vitest'
import { createElection, type Lease } from './election.js'
import { MemoryPartition } from './store/memory-partition.fixture.js'
import { openMemoryStore, type StoreHook } from './store/memory-store.fixture.js'

function open(lead: (lease: Lease) => Promise<void>, hook: StoreHook = () => {}) {
  const clock = createManualClock()
  const partition = new MemoryPartition(clock)
  const problems: unknown[] = []
  const elect = (owner: string, own = lead) =>
    createElection({
      store: openMemoryStore(partition, clock, hook),
      owner,
      clock,
      leaseMs: 1000,
      lead: own,
      problem: (error) => problems.push(error),
    })
  return { clock, partition, problems, elect }
}

const untilEnd = ({ signal }: Lease) =>
  new Promise<void>((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })

test('a process that fails to lead lets another one try, and does not try again at once', async () => {
  let tries = 0
  const { clock, problems, elect } = open(async () => {
    tries += 1
    throw new Error('cannot lead')
  })
  const failing = elect('a')
  failing.start()
  await clock.advance(10_000)
  expect(tries).toBeLessThanOrEqual(11)
  expect(tries).toBeGreaterThan(5)
  expect(problems).toHaveLength(tries)
  const terms: Lease[] = []
  const able = elect('b', (lease) => {
    terms.push(lease)
    return untilEnd(lease)
  })
  able.start()
  await clock.advance(2000)
  expect(terms).toHaveLength(1)
  await clock.until(Promise.all([failing.stop(), able.stop()]))
  expect(clock.sleepers).toBe(0)
})

test('a lease is held while it is renewed, not trusted while it is not, and lost when another has it', async () => {
  let lease: Lease | undefined
  let isAway = false
  const { clock, partition, elect } = open(
    (given) => {
      lease = given
      return untilEnd(given)
    },
    (method) => {
      if (isAway && method === 'renew') throw new Error('away')
    },
  )
  const election = elect('a')
  election.start()
  await clock.advance(5000)
  const first = lease
  expect([first?.isHeld(), first?.isLost()]).toEqual([true, false])
  isAway = true
  await clock.advance(850)
  expect(first?.isHeld()).toBe(true)
  await clock.advance(100)
  expect(first?.isHeld()).toBe(false)
  await clock.advance(1000)
  expect(first?.isLost()).toBe(true)
  isAway = false
  await clock.advance(2000)
  const second = lease
  expect(second?.isHeld()).toBe(true)
  partition.wipe()
  await clock.advance(300)
  expect(second?.isLost()).toBe(true)
  await clock.until(election.stop())
})

test('a lease is trusted from when it was asked for, however long the answer took', async () => {
  let lease: Lease | undefined
  let slowMs = 0
  const { clock, elect } = open(
    (given) => {
      lease = given
      return untilEnd(given)
    },
    async (method, moment) => {
      if (method === 'renew' && moment === 'after' && slowMs > 0) await clock.sleep(slowMs)
    },
  )
  const election = elect('a')
  election.start()
  await clock.advance(100)
  slowMs = 800
  // Asked at 250, known at 1050, good until 1150.
  await clock.advance(1000)
  expect(lease?.isHeld()).toBe(true)
  await clock.advance(100)
  expect(lease?.isHeld()).toBe(false)
  slowMs = 0
  await clock.advance(2000)
  expect(lease?.isHeld()).toBe(true)
  lease?.lose()
  expect([lease?.isHeld(), lease?.isLost()]).toEqual([false, true])
  await clock.until(election.stop())
})

test('a process that stops holds its lease until its term has ended, and then releases it', async () => {
  let end = () => {}
  const ending = new Promise<void>((resolve) => {
    end = resolve
  })
  const { clock, partition, elect } = open(() => ending)
  const election = elect('a')
  election.start()
  await clock.advance(100)
  let isStopped = false
  const stopping = election.stop().then(() => (isStopped = true))
  await clock.advance(5000)
  expect(isStopped).toBe(false)
  expect(partition.acquire('b', 1000)).toMatchObject({ kind: 'held', owner: 'a' })
  end()
  await clock.until(stopping)
  expect(partition.acquire('b', 1000)).toMatchObject({ kind: 'acquired' })
})
