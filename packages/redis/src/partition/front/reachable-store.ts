import { RedisError } from '../../connection/errors.js'
import { PartitionUnavailable } from '../errors.js'
import type { PartitionStore } from '../store/store.js'

/** What a front asks the store for somebody who waits for the answer. */
export type FrontStore = Pick<
  PartitionStore,
  'create' | 'createTogether' | 'read' | 'cancel' | 'playerTickets' | 'readNotes'
>

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
    createTogether: (tickets) => answered(store.createTogether(tickets)),
    read: (ids) => answered(store.read(ids)),
    cancel: (id, players, by) => answered(store.cancel(id, players, by)),
    readNotes: (keys) => answered(store.readNotes(keys)),
    playerTickets: (playerIds) => answered(store.playerTickets(playerIds)),
  }
}
