import { createManualClock } from '@muster/core/clock'
import { createModelTokens } from './model-tokens.fixture.js'
import { testTokenStore, times } from './token-store-suite.fixture.js'

testTokenStore(async (limit) => {
  const clock = createManualClock()
  const store = createModelTokens(limit, times, clock)
  return { store, warmUp: () => clock.advance(times.coldMs), wipe: async () => store.wipe() }
})
