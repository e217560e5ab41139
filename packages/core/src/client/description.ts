import type { OperationId } from '../api/api.js'
import type { Operation } from '../operation.js'

let loading: Promise<ReadonlyMap<OperationId, Operation>> | undefined

/**
 * Loads the description of all operations when it is first needed. With its schemas it takes longer to load than
 * everything else in this package, and a program that only imports the package does not need it.
 */
export function loadDescription(): Promise<ReadonlyMap<OperationId, Operation>> {
  return (loading ??= import('../api/api.js').then(({ operations }) => new Map(operations)))
}
