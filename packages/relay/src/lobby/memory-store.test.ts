import { createMemoryLobbyStore } from './memory-store.js'
import { testLobbyStore } from './store-suite.fixture.js'

testLobbyStore('the memory store', async () => {
  const store = createMemoryLobbyStore()
  return { store, other: store }
})
