import { createManualClock } from '@muster/core/clock'
import { expect, test } from 'vitest'
import { MemoryPartition } from './memory-partition.fixture.js'
import { openMemoryStore } from './memory-store.fixture.js'
import { testPartitionStore } from './store-suite.fixture.js'
import type { PartitionStore } from './store.js'
import { tokenOf } from './suite/stores.fixture.js'

testPartitionStore('a partition in memory', async (bounds) => {
  const clock = createManualClock()
  const partition = new MemoryPartition(clock, bounds)
  const [store, other] = [openMemoryStore(partition, clock), openMemoryStore(partition, clock)]
  return {
    store,
    other,
    pass: (ms) => clock.advance(ms),
    wipe: async () => partition.wipe(),
    close: async () => {
      await store.close()
      await other.close()
    },
  }
})

test('an ended match has its result even if the leader dies after any step of a large commit', async () => {
  const matchIds = Array.from({ length: 600 }, (_, nth) => `m${nth}`)
  const all = async <Item>(
    load: (at: string | undefined) => Promise<{ items: readonly Item[]; next: string | undefined }>,
  ) => {
    const items: Item[] = []
    let at: string | undefined
    do {
      const page = await load(at)
      items.push(...page.items)
      at = page.next
    } while (at !== undefined)
    return items
  }
  let steps = 0
  for (let last = 1, isWhole = false; !isWhole; last += 1) {
    const clock = createManualClock()
    const partition = new MemoryPartition(clock)
    let isDying = false
    const store: PartitionStore = openMemoryStore(partition, clock, (method, moment) => {
      if (!isDying || method !== 'commit' || moment !== 'after') return
      steps += 1
      if (steps === last) throw new Error('killed')
    })
    const token = await tokenOf(store)
    await store.commit(token, { hosting: matchIds.map((matchId) => [{ key: `m:${matchId}`, text: 'intent' }]) })
    isDying = true
    steps = 0
    const over = {
      hosting: matchIds.map((matchId) => [{ key: `m:${matchId}`, ends: [] }]),
      notes: matchIds.map((matchId) => ({ key: `result ${matchId}`, text: 'won' })),
    }
    isWhole = await store.commit(token, over).then(
      () => true,
      () => false,
    )
    isDying = false
    const running = new Set((await all((at) => store.loadHosting(at))).map(({ key }) => key))
    const noted = new Set((await all((at) => store.loadNotes(at))).map(({ key }) => key))
    expect(matchIds.filter((id) => !running.has(`m:${id}`) && !noted.has(`result ${id}`))).toEqual([])
    await store.close()
  }
  expect(steps).toBeGreaterThanOrEqual(6)
})
