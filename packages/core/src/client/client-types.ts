import type { EventEmitter } from 'eventemitter3'
import type { Api } from '../api/api.js'
import type { Deployment } from '../api/deployment.js'
import type { InputOf, OutputOf, SuccessOf } from '../operation.js'
import type { SchedulerState } from '../rate-limit/index.js'
import type { CallOptions } from './call.js'
import type { ClientEvents } from './call-events.js'
import type { WaitOptions } from './wait-until-ready.js'

/**
 * Calls the operation: resolves with the body of its response, frozen, or rejects with a `MusterError` (or with
 * `signal.reason`). It waits for a documented rate limit. Every call may also reject with `InvalidInput` (400),
 * `Unauthorized` (401), `RateLimited` (429), `ServerError` (5xx), `ConnectionLost`, `TimedOut` and
 * `UnexpectedResponse`.
 */
export interface Call<Input, Output> {
  (input: Input, options?: CallOptions): Promise<Output>
}

/** A `Call` with an optional input. */
export interface OptionalCall<Input, Output> {
  (input?: Input, options?: CallOptions): Promise<Output>
}

/** Iterates over the items of all pages. Each page is fetched when it is needed. The options apply to each page. */
export interface Pages<Input, Item> {
  readonly all: (input: Input, options?: CallOptions) => AsyncGenerator<Item, void, undefined>
}

/** `Pages` with an optional input. */
export interface OptionalPages<Input, Item> {
  readonly all: (input?: Input, options?: CallOptions) => AsyncGenerator<Item, void, undefined>
}

/** The type of a response; may be undefined if the operation can succeed without content. */
type AnswerOf<Op> = 204 extends SuccessOf<Op> ? OutputOf<Op> | undefined : OutputOf<Op>

/** The objects in the list of a response. */
type ItemOf<Output> = {
  [Key in keyof Output]-?: NonNullable<Output[Key]> extends readonly (infer Item extends object)[] ? Item : never
}[keyof Output]

/** The operations with paged responses: those whose input has a page. */
export type IsPaged<Op> = string extends keyof InputOf<Op> ? false : 'page' extends keyof InputOf<Op> ? true : false

/** `{}`: the type of an optional input. */
type Nothing = Record<never, never>

type CallOf<Op> =
  Nothing extends InputOf<Op> ? OptionalCall<InputOf<Op>, AnswerOf<Op>> : Call<InputOf<Op>, AnswerOf<Op>>
type PagesOf<Op> =
  Nothing extends InputOf<Op>
    ? OptionalPages<InputOf<Op>, ItemOf<OutputOf<Op>>>
    : Pages<InputOf<Op>, ItemOf<OutputOf<Op>>>

/** A function for every operation of a description. */
export type Operations<Description> = {
  readonly [Group in keyof Description]: {
    readonly [Name in keyof Description[Group]]: CallOf<Description[Group][Name]> &
      (IsPaged<Description[Group][Name]> extends true ? PagesOf<Description[Group][Name]> : unknown)
  }
}

/** Functions that combine several calls of deployment operations. */
export interface DeploymentWaits {
  /**
   * Reads the status of one deployment, at growing intervals, until the deployment is READY. To follow many
   * deployments, list them instead.
   * @throws {DeploymentFailed} if the deployment is in error. Stop it then.
   * @throws {AlreadyTerminated} if the deployment ends or has ended
   * @throws {TimedOut} after `timeoutMs`. The deployment still exists then.
   */
  waitUntilReady(requestId: string, options?: WaitOptions): Promise<Deployment>
}

/** How long `close` waits. */
export interface CloseOptions {
  /** Milliseconds to wait for running and queued calls. Default 10,000; 0 ends them immediately. */
  readonly timeoutMs?: number | undefined
}

/** The client: a function for each of the 58 operations, by resource. */
export interface Client extends Operations<Api> {
  readonly deployments: Operations<Api>['deployments'] & DeploymentWaits
  /** Events of all calls, e.g. `client.events.on('response', ({ operation, status, durationMs }) => …)`. */
  readonly events: EventEmitter<ClientEvents>
  /**
   * Returns the number of waiting and running calls, by rate limit: `createDeployment`, `status`, `listDeployments`,
   * `legacyDeploy` and `other`.
   */
  queues(): Readonly<Record<string, SchedulerState>>
  /**
   * Accepts no more calls, waits for the running calls, and closes the connections, so that the process can end. Calls
   * that have not ended after `timeoutMs` reject with `ClientClosed`. That error says whether they may have been
   * executed.
   */
  close(options?: CloseOptions): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
  /** Returns data for logs: the service's address and the queues, without secrets. */
  toJSON(): Readonly<Record<string, unknown>>
}
