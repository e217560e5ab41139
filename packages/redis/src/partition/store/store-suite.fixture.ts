import { describe } from 'vitest'
import { testCreating } from './suite/creating.fixture.js'
import { testHeaders } from './suite/headers.fixture.js'
import { testLeading } from './suite/leading.fixture.js'
import { testLoading } from './suite/loading.fixture.js'
import { testRecords } from './suite/servers.fixture.js'
import { testTails } from './suite/tails.fixture.js'
import type { OpenStores } from './suite/stores.fixture.js'

/**
 * The test suite for every store of a partition. Call it in the store's test file.
 * @param open returns an empty partition.
 */
export function testPartitionStore(name: string, open: OpenStores): void {
  describe(`${name}`, () => {
    testCreating(open)
    testHeaders(open)
    testRecords(open)
    testTails(open)
    testLeading(open)
    testLoading(open)
  })
}
