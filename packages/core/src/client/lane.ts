import type { Operation } from '../operation.js'

/**
 * The name of an operation's queue and connections: its documented limit's name. Operations without a limit have one
 * lane for reads and one for changes, because slow reads must not delay a call that stops a server.
 */
export const laneOf = ({ limit, method }: Pick<Operation, 'limit' | 'method'>): string =>
  limit?.name ?? (method === 'GET' ? otherReads : otherChanges)

export const otherReads = 'other'
export const otherChanges = 'other changes'
