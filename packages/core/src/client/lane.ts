import type { Operation } from '../operation.js'

/**
 * Which queue an operation waits in, and which connections it uses: those of its documented limit, by name. Of the
 * operations without one, reads are apart from changes, because slow reads must not hold up what stops a server.
 */
export const laneOf = ({ limit, method }: Pick<Operation, 'limit' | 'method'>): string =>
  limit?.name ?? (method === 'GET' ? otherReads : otherChanges)

export const otherReads = 'other'
export const otherChanges = 'other changes'
