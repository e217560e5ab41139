/** What `@muster/core` offers: the client of the service, and what belongs to using it. */
export { createClient } from './client/client.js'
export type { ClientOptions, LimitOption } from './client/options.js'
export type { CallOptions } from './client/call-options.js'
export type {
  Call,
  Client,
  CloseOptions,
  DeploymentWaits,
  OptionalCall,
  OptionalPages,
  Pages,
} from './client/client-types.js'
export type { WaitOptions } from './client/wait-until-ready.js'
export type { RetryOptions } from './client/retry-rules.js'
export type { Token } from './client/token.js'
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
  ServerError,
  StoreUnavailable,
  TimedOut,
  Unauthorized,
  UnexpectedResponse,
  Withheld,
  type CallFacts,
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
} from './client/events.js'
export { inProcess, type ClientDispatcher } from './client/in-process.js'
export { selfStop, type SelfStopOptions } from './client/self-stop.js'
export {
  parseDeploymentWebhook,
  parseRelayWebhook,
  type DeploymentHint,
  type RelayHint,
  type WebhookBody,
  type WebhookOptions,
} from './client/webhooks.js'
export { deploymentPhase, sameStatus, statusName, type DeploymentPhase } from './deployment-status.js'
export { scrub, secretsIn } from './redact.js'
export { createBucket, type BucketOptions } from './scheduler/bucket.js'
export type { BoundChange } from './scheduler/count-bound.js'
export type { Limiter, LimiterState, Permit } from './scheduler/limiter.js'
export {
  createScheduler,
  type RunOptions,
  type Scheduler,
  type SchedulerOptions,
  type SchedulerState,
} from './scheduler/scheduler.js'
export type { Slot } from './scheduler/slot.js'
export { chordSquared, EARTH_RADIUS_KM, greatCircleKm, kmOf, middleOf, pointOf, type Coordinates } from './geo.js'
export { addressPrefix, canonicalIp, isPublicIp } from './ip.js'
