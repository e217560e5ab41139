import {
  createPathMatcher,
  operations,
  pathOf,
  type Operation,
  type OperationId,
  type PathMatcher,
  type Settings,
} from '@muster/core/api'

export interface Route {
  readonly id: OperationId
  readonly operation: Operation
}

/** Creates the router, which finds the operation for a method and path. Pure. */
export const createRouter = (settings: Settings): PathMatcher<Route> =>
  createPathMatcher(
    Array.from(operations, ([id, operation]) => ({
      method: operation.method,
      path: pathOf(operation, settings),
      value: { id, operation },
    })),
  )
