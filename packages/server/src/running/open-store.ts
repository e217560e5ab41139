import { openLocalMatching } from './local-matching.js'
import type { Store, StoreOptions } from './store.js'

/** Rejects with an error that says what to do. */
export async function openStore(options: StoreOptions): Promise<Store> {
  if (options.config.store.kind !== 'redis') return { openMatching: openLocalMatching, close: async () => {} }
  // Not at the top: few programs need it, and its package may not be installed.
  const { openRedisStore } = await import('./redis-store.js')
  return openRedisStore(options, options.config.store)
}
