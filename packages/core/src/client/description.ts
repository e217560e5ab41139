import type { OperationId } from '../api/api.js'
import type { Operation } from '../operation.js'

let loading: Promise<ReadonlyMap<OperationId, Operation>> | undefined

/**
 * The description of all operations, loaded when it is first asked for: with the schemas it takes longer to
 * load than all else in this package, and a program that has only imported the package needs none of it.
 */
export function loadDescription(): Promise<ReadonlyMap<OperationId, Operation>> {
  return (loading ??= import('../api/api.js').then(({ operations }) => new Map(operations)))
}
