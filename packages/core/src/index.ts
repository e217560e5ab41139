/** The exports of `@muster/core`: the client of the service, and what is needed to use it. */
export { createClient } from './client/client.js'
export type { ClientOptions, LimitOption, Token } from './client/config.js'
export type { CallOptions } from './client/call.js'
export type { Call, Client, CloseOptions, DeploymentWaits, Pages } from './client/client-types.js'
export type { WaitOptions } from './client/wait-until-ready.js'
export type { RetryOptions } from './client/retry.js'
export {
  AlreadyTerminated,
  ClientClosed,
  Conflict,
  ConnectionLost,
  DependencyFailed,
  DeploymentFailed,
  Forbidden,
  InvalidInput,
  MusterError,
  NoCapacity,
  NotFound,
  RateLimited,
  RouteMissing,
  ServerError,
  StoreUnavailable,
  TimedOut,
  Unauthorized,
  UnexpectedResponse,
  SendAborted,
} from './client/errors.js'
export type {
  CallEvent,
  ClientEvents,
  PacedEvent,
  RequestEvent,
  ResponseEvent,
  RetryEvent,
  ThrottledEvent,
  UnreadableEvent,
} from './client/call-events.js'
export { type ClientDispatcher, inProcess } from './client/transport.js'
export { selfStop, type SelfStopOptions } from './client/self-stop.js'
export {
  parseDeploymentWebhook,
  parseRelayWebhook,
  parseResultWebhook,
  type DeploymentHint,
  type RelayHint,
  type WebhookOptions,
} from './client/webhooks.js'
export type { Limiter, LimiterState, Permit } from './rate-limit/limiter-types.js'
export { greatCircleKm, type Coordinates } from './geo.js'
export { canonicalIp, isPublicIp } from './ip.js'
