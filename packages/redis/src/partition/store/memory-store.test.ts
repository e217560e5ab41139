import { createManualClock } from '@muster/core/clock'
import { MemoryPartition } from './memory-partition.fixture.js'
import { openMemoryStore } from './memory-store.fixture.js'
import { testPartitionStore } from './store-suite.fixture.js'

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
