import { createManualClock } from '@muster/core/clock'
import { expect, test } from 'vitest'
import { createElection, type Lease } from './lease.js'
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

test('a process that failed to become leader pauses before it retries, so that another process can lead', async () => {
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

test('a lease is held while renewed, not trusted after a failed renewal, and lost to another process', async () => {
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

test('a lease is trusted from the time of its request, however late its answer came', async () => {
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
  // The lease was requested at 250 and confirmed at 1050, so it is valid until 1150.
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

test('a leader that stops releases its lease only after its work as a leader has ended', async () => {
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

/** Creates an election that records the requested duration of each lease. */
function asking() {
  const asked: number[] = []
  const renewal = { takesMs: 0 }
  const clock = createManualClock()
  const partition = new MemoryPartition(clock)
  const store = openMemoryStore(partition, clock, () => {})
  const terms: Lease[] = []
  const ledAt: number[] = []
  const election = createElection({
    store: {
      ...store,
      acquire: (owner, leaseMs) => {
        asked.push(leaseMs)
        return store.acquire(owner, leaseMs)
      },
      renew: async (token, leaseMs) => {
        asked.push(leaseMs)
        const renewed = await store.renew(token, leaseMs)
        await clock.sleep(renewal.takesMs)
        return renewed
      },
    },
    owner: 'a',
    clock,
    leaseMs: 1000,
    lead: (lease) => {
      terms.push(lease)
      ledAt.push(clock.now())
      return untilEnd(lease)
    },
    problem: () => {},
  })
  election.start()
  return { clock, partition, terms, ledAt, renewal, election, lastLease: () => asked.at(-1) }
}

test('a process that is stopped while it takes over reports no problem', async () => {
  const { clock, problems, elect } = open(({ signal }) => clock.sleep(60_000, signal))
  const election = elect('a')
  election.start()
  await clock.advance(1000)
  await clock.until(election.stop())
  expect(problems).toEqual([])
  expect(clock.sleepers).toBe(0)
})

test('a lease is lengthened up to ten times for slow renewals, and shortened again for quick renewals', async () => {
  const { clock, terms, renewal, election, lastLease } = asking()
  await clock.advance(2000)
  expect(lastLease()).toBe(1000)
  renewal.takesMs = 600
  await clock.advance(5000)
  expect(lastLease()).toBe(4 * (250 + 600))
  renewal.takesMs = 3000
  await clock.advance(20_000)
  expect(lastLease()).toBe(10_000)
  expect(terms).toHaveLength(1)
  renewal.takesMs = 0
  await clock.advance(60_000)
  expect(lastLease()).toBeLessThan(1100)
  expect(terms).toHaveLength(1)
  await clock.until(election.stop())
})

test('a leader whose renewal is answered too late continues to lead if no other process took over', async () => {
  const { clock, terms, renewal, election } = asking()
  await clock.advance(1100)
  renewal.takesMs = 1500
  await clock.advance(300)
  renewal.takesMs = 0
  await clock.advance(3000)
  expect(terms.map((lease) => [lease.isHeld(), lease.isLost()])).toEqual([[true, false]])
  await clock.until(election.stop())
})

test('a process that repeatedly loses its lease waits longer each time, until a minute has passed', async () => {
  const { clock, partition, terms, ledAt, election } = asking()
  /** Returns the milliseconds from a loss of the lease until the process leads again, in steps of a renewal. */
  const leadsAgainAfter = async () => {
    const before = terms.length
    const at = clock.now()
    partition.wipe()
    await clock.advance(20_000)
    expect(terms).toHaveLength(before + 1)
    return Math.floor(((ledAt.at(-1) ?? at) - at) / 250) * 250
  }
  await clock.advance(1000)
  expect([await leadsAgainAfter(), await leadsAgainAfter(), await leadsAgainAfter()]).toEqual([250, 1250, 2250])
  await clock.advance(60_000)
  expect(await leadsAgainAfter()).toBe(250)
  await clock.until(election.stop())
})
