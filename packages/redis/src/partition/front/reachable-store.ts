import { RedisError } from '../../connection/errors.js'
import { PartitionUnavailable } from '../errors.js'
import type { PartitionStore } from '../store/store.js'

/** What a front asks the store for somebody who waits for the answer. */
export type FrontStore = Pick<PartitionStore, 'create' | 'read' | 'cancel' | 'playerTickets'>

/** The store, whose failures tell callers that they may try again. */
export function reachableStore(store: FrontStore): FrontStore {
  const answered = async <T>(answer: Promise<T>): Promise<T> => {
    try {
      return await answer
    } catch (error) {
      if (!(error instanceof RedisError)) throw error
      throw new PartitionUnavailable(`the partition cannot be reached: ${error.message}`, { cause: error })
    }
  }
  return {
    create: (tickets) => answered(store.create(tickets)),
    read: (ids) => answered(store.read(ids)),
    cancel: (id, players) => answered(store.cancel(id, players)),
    playerTickets: (playerIds) => answered(store.playerTickets(playerIds)),
  }
}
