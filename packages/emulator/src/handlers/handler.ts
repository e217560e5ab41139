import type { Api, InputOf, OperationId, OutputOf, SuccessOf } from '@muster/core/api'
import type { ErrorsOf } from '@muster/core/internal'
import type { DeploymentFault, WebhookFault } from '../deployments/index.js'
import type { PacketFault, RelayFault } from '../relays/index.js'
import type { World } from '../world.js'
import { applyMask, parseMask } from './lists.js'

/**
 * The contract between the API description and the handlers: one handler per operation. A missing handler, a status
 * that the operation does not declare, an answer of another shape and an undeclared input key are compile errors.
 */
export type Handlers = { readonly [Group in keyof Api]: HandlersOf<Group> }

export type HandlersOf<Group extends keyof Api> = { readonly [Name in keyof Api[Group]]: Handler<Api[Group][Name]> }

/** Handles one operation. The input has been validated and the caller authorized. A thrown error is answered by 500. */
export type Handler<Op> = (input: InputOf<Op>, context: RequestContext) => Answer<Op> | Promise<Answer<Op>>

export interface RequestContext {
  readonly operation: OperationId
  readonly world: World
  /** The declared fault of the deployment that this request creates, if any. */
  readonly deploymentFault: DeploymentFault | undefined
  /** The declared fault of the webhooks of the deployment or relay session that this request creates. */
  readonly webhookFault: WebhookFault | undefined
  /** The declared fault of the relay session that this request creates. */
  readonly relayFault: RelayFault | undefined
  /** The declared fault of the packets of the relay session that this request creates. */
  readonly packetFault: PacketFault | undefined
}

type Answer<Op> =
  | ([OutputOf<Op>] extends [undefined] ? never : Success<OutputOf<Op>, SuccessOf<Op>>)
  | ([OutputOf<Op>] extends [undefined] ? NoContent : 204 extends SuccessOf<Op> ? NoContent : never)
  | Failure<ErrorsOf<Op>>

export interface Success<Body, Status extends number = never> {
  readonly kind: 'success'
  /** The status of the answer; undefined for the operation's usual status. */
  readonly status: Status | undefined
  readonly body: Body
}

export interface NoContent {
  readonly kind: 'no content'
}

export interface Failure<Status extends number> {
  readonly kind: 'failure'
  readonly status: Status
  readonly body: { readonly message: string; readonly [key: string]: unknown }
}

/** A success, with the operation's usual status or with another declared one. */
export function ok<Body>(body: Body): Success<Body>
export function ok<Body, const Status extends number>(status: Status, body: Body): Success<Body, Status>
export function ok(...given: [body: unknown] | [status: number, body: unknown]): Success<unknown, number> {
  const [status, body] = given.length === 1 ? [undefined, given[0]] : given
  return { kind: 'success', status, body }
}

const nothing: NoContent = { kind: 'no content' }

/** A success without a body: 204. */
export const noContent = (): NoContent => nothing

/** An error that the operation declares. The fields of `extra` are added to the body, beside the message. */
export function fail<const Status extends number>(
  status: Status,
  message: string,
  extra: Readonly<Record<string, unknown>> = {},
): Failure<Status> {
  return { kind: 'failure', status, body: { ...extra, message } }
}

/** Applies the X-Fields header to the body of a list; every field of such a body may be missing. */
export function masked<Body extends object>(
  body: Body,
  fields: string | undefined,
): Success<Partial<Body>> | Failure<400> {
  if (fields === undefined) return ok(body)
  const mask = parseMask(fields)
  return 'problem' in mask ? fail(400, `X-Fields: ${mask.problem}`) : ok(applyMask(mask, body) as Partial<Body>)
}
