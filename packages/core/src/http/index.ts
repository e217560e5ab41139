/** The exports of `@muster/core/http`: shared parts of HTTP APIs that are built from described operations. */
export type { Caller, RequestLimits } from './admission.js'
export { Problem, type Connection, type HttpHandler } from './answers.js'
export { createMemoryLimitStore, type AttemptLimit, type LimitStore } from './attempts.js'
export type { BodyLimits } from './bodies.js'
export type { CorsOptions } from './cors.js'
export type { Authenticate } from './http-api.js'
export { nodeListener } from './node-listener.js'
export { bearerToken, clientAddress, type AddressOf, type ClientAddressOptions } from './request-headers.js'
