import type { Api, ErrorsOf, InputOf, OperationId, OutputOf, SuccessOf } from '@muster/core/api'
import type { DeploymentFault } from '../deployments/deployment-fault.js'
import type { WebhookFault } from '../deployments/webhook-fault.js'
import type { PacketFault } from '../relay-data/packet-fault.js'
import type { RelayFault } from '../relays/relay-fault.js'
import type { World } from '../world.js'

/**
 * The contract between the description and the code that answers: one handler per operation. A missing
 * handler, a status that the description does not declare for the operation, an answer of another shape
 * or an input key that it does not have do not compile.
 */
export type Handlers = { readonly [Group in keyof Api]: HandlersOf<Group> }

export type HandlersOf<Group extends keyof Api> = { readonly [Name in keyof Api[Group]]: Handler<Api[Group][Name]> }

/** The input has passed the description's schema, and the caller is authorized. What it throws is answered by 500. */
export type Handler<Op> = (input: InputOf<Op>, context: RequestContext) => Answer<Op> | Promise<Answer<Op>>

export interface RequestContext {
  readonly operation: OperationId
  readonly world: World
  /** A declared fault has chosen how the deployment that this request makes (if any) shall go wrong. */
  readonly deploymentFault: DeploymentFault | undefined
  /** The same for the webhooks of the deployment or relay session. */
  readonly webhookFault: WebhookFault | undefined
  /** The same for the relay session. */
  readonly relayFault: RelayFault | undefined
  /** The same for the packets of the relay session. */
  readonly packetFault: PacketFault | undefined
}

export type Answer<Op> =
  | ([OutputOf<Op>] extends [undefined] ? never : Success<OutputOf<Op>, SuccessOf<Op>>)
  | ([OutputOf<Op>] extends [undefined] ? NoContent : 204 extends SuccessOf<Op> ? NoContent : never)
  | Failure<ErrorsOf<Op>>

export interface Success<Body, Status extends number = never> {
  readonly kind: 'success'
  /** Undefined for the operation's usual one. */
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

/** Success with the operation's usual status, or with another one that it declares. */
export function ok<Body>(body: Body): Success<Body>
export function ok<Body, const Status extends number>(status: Status, body: Body): Success<Body, Status>
export function ok(...given: [body: unknown] | [status: number, body: unknown]): Success<unknown, number> {
  const [status, body] = given.length === 1 ? [undefined, given[0]] : given
  return { kind: 'success', status, body }
}

const nothing: NoContent = { kind: 'no content' }

/** Success without a body: 204. */
export const noContent = (): NoContent => nothing

/** An error that the operation declares. `extra` stands beside the message in the body. */
export function fail<const Status extends number>(
  status: Status,
  message: string,
  extra: Readonly<Record<string, unknown>> = {},
): Failure<Status> {
  return { kind: 'failure', status, body: { ...extra, message } }
}
