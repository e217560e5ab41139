/** What `@muster/core/http` offers: the pieces that HTTP APIs made of described operations share. */
export { addressBlock, addressBlocks } from './address-block.js'
export type { Caller, RequestLimits } from './admission.js'
export {
  createAttempts,
  type AttemptLimit,
  type Attempts,
  type AttemptsOptions,
  type LocalAttempts,
} from './attempts.js'
export { bearerToken } from './bearer.js'
export { createBodies, readBody, type Bodies, type BodiesOptions, type BodyLimits } from './bodies.js'
export { addressUnknown } from './address-unknown.js'
export { clientAddress, type AddressOf, type ClientAddressOptions, type Connection } from './client-address.js'
export type { CorsOptions } from './cors.js'
export { eventStream, type EventStreamOptions, type StreamEvent } from './event-stream.js'
export { createHostCheck, type HostCheck } from './host-check.js'
export { createHttpApi } from './http-api.js'
export type { Authenticate, Exchange, Handlers, HttpApiOptions } from './http-api-options.js'
export { createMemoryLimitStore, prefixed, type LimitStore } from './limit-store.js'
export { inputProblem, type QuickRead } from './input.js'
export { longPoll, type LongPoll } from './long-poll.js'
export { nodeListener, type NodeListenerOptions } from './node-listener.js'
export { openApiDocument, type OpenApiOptions } from './openapi.js'
export { Problem, problemDocument, problemResponse, type ProblemOptions } from './problem.js'
export { handlerOf, JsonText, type HttpHandler, type Replier, type Reply } from './reply.js'
export type { Routes } from './routes.js'
