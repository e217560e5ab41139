import { z } from 'zod'
import { type Method, operation, type Operation, type OperationDetails, type Placeholders } from '../operation.js'

/** An operation of one of Muster's own APIs, and who may call it. */
export interface OwnRoute<
  Input = unknown,
  Output = unknown,
  Success extends number = number,
  Who extends string = string,
> extends Operation<Input, Output, Success> {
  /** Routes for `anyone` need no token and have no caller. */
  readonly who: Who
}

/** Operations by name, described like the service's own operations. */
export type Routes = Readonly<Record<string, Operation & { readonly who?: string }>>

interface RouteDetails<Input, Output, Success extends number> extends Omit<
  OperationDetails<Input, Output, Success, number>,
  'errors'
> {
  /** Errors besides those that follow from the audience and the path. */
  readonly errors?: readonly number[]
  /** True if every id exists. Then the route has no 404, although its path has a placeholder. */
  readonly anyId?: true
}

/** Describes a route of one audience, as `operation` describes an operation. */
export interface DescribeRoute<Who extends string> {
  <
    const Route extends `${Method} /${string}`,
    Input extends Readonly<Record<Placeholders<Route>, string>>,
    Output = undefined,
    const Success extends number = [Output] extends [undefined] ? 204 : 200,
  >(
    route: Route,
    details: RouteDetails<Input, Output, Success>,
  ): OwnRoute<Input, Output, Success, Who>
}

/**
 * Describes the routes of one audience. The errors of a route are those of its audience, 404 if its path has a
 * placeholder, and its own errors. Errors that may occur before every handler (400, 401, 413, 415, 429) are not listed.
 * @param errors the errors that each route of the audience may respond with.
 */
export const routesFor =
  <const Who extends string>(who: Who, errors: readonly number[]): DescribeRoute<Who> =>
  (route, { errors: own = [], anyId, ...details }) => {
    const unknownId = route.includes('{') && anyId === undefined ? [404] : []
    return { ...operation(route, { ...details, errors: [...errors, ...unknownId, ...own] }), who }
  }

/** True if a route needs no token. */
export const isOpen = ({ who }: Routes[string]): boolean => who === 'anyone'

/** An id that a caller chooses or repeats, e.g. that of a player. Its maximum length is our choice. */
export const idText = z.string().min(1).max(128)

/** Makes the schema of a whole number in a query, where all values are texts. */
export const queryInteger = (least: number, most: number = Number.MAX_SAFE_INTEGER) =>
  z.coerce.number<string>().int().min(least).max(most)
