/** What `@muster/core/http` offers: the pieces that HTTP APIs made of described operations share. */
export { addressBlock, addressBlocks } from '../ip.js'
export type { Caller, RequestLimits } from './admission.js'
export {
  handlerOf,
  Problem,
  problemDocument,
  problemResponse,
  type Connection,
  type HttpHandler,
  type ProblemOptions,
  type Replier,
  type Reply,
} from './answers.js'
export {
  createAttempts,
  createMemoryLimitStore,
  prefixed,
  type AttemptLimit,
  type Attempts,
  type AttemptsOptions,
  type LimitStore,
  type LocalAttempts,
} from './attempts.js'
export { createBodies, readBody, type Bodies, type BodiesOptions, type BodyLimits } from './bodies.js'
export {
  createHttpApi,
  type Authenticate,
  type CorsOptions,
  type Exchange,
  type Handlers,
  type HttpApiOptions,
} from './http-api.js'
export { inputProblem, type Routes } from './input.js'
export { eventStream, longPoll, type EventStreamOptions, type LongPoll, type StreamEvent } from './long-answers.js'
export { nodeListener, type NodeListenerOptions } from './node-listener.js'
export { openApiDocument, type OpenApiOptions } from './openapi.js'
export {
  addressUnknown,
  bearerToken,
  clientAddress,
  createHostCheck,
  type AddressOf,
  type ClientAddressOptions,
  type HostCheck,
} from './request-headers.js'
