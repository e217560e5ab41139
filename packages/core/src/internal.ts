/** Exports for the other packages of this repository. They may change without notice. */
export type { ContainerLogStorage, DeploymentSession, StopDeployment } from './api/deployment.js'
export type { DeploymentQuery, DeploymentUser } from './api/deployments.js'
export { type Maybe, names, type PageInput, type TimestampA, type TimestampB } from './api/fields.js'
export type { FleetPolicyChanges } from './api/fleets.js'
export type { DeployLegacy } from './api/legacy.js'
export { type ValueLimits, withValueLimits } from './api/value-limits.js'
export type { ListLocations } from './api/locations.js'
export type { ReadMetrics } from './api/metrics.js'
export type { RelayPort } from './api/relays.js'
export { settingsWith } from './api/settings.js'
export type { SessionConfig, VersionChanges, VersionPort, VersionVariable } from './api/versions.js'
export { type CallFacts, nameErrors } from './client/errors.js'
export { nextPage, refusesPage } from './client/pages.js'
export { headerOf, retryAfterMs } from './client/refusal.js'
export { deepFreeze } from './client/cache.js'
export { type HttpAnswer, createTransport } from './client/transport.js'
export { deploymentPhase, sameStatus } from './deployment-status.js'
export {
  chordSquared,
  type Coordinates,
  EARTH_RADIUS_KM,
  greatCircleKm,
  isLatitude,
  isLongitude,
  kmOf,
  middleOf,
  pointOf,
} from './geo.js'
export { handlerOf, problemDocument, problemResponse, type Reply } from './http/answers.js'
export { type Attempts, createAttempts, prefixed } from './http/attempts.js'
export { createBodies, readBody } from './http/bodies.js'
export { type ApiOptions, createHttpApi, type Exchange, type Handlers } from './http/http-api.js'
export { inputProblem } from './http/input.js'
export { eventStream, longPoll, type StreamEvent } from './http/long-answers.js'
export { type DescribeRoute, idText, type OwnRoute, queryInteger, routesFor } from './http/own-routes.js'
export { createOpenWaits, type OpenWaits } from './http/open-waits.js'
export { ownOpenApiDocument } from './http/own-openapi.js'
export { addressUnknown, createHostCheck } from './http/request-headers.js'
export { addressBlock, addressBlocks, addressPrefix, canonicalIp } from './ip.js'
export { isObject } from './is-object.js'
export {
  type Json,
  jsonContent,
  openApiDocument,
  type OpenApiDocument,
  type OperationText,
  present,
  schemaRef,
} from './openapi.js'
export type { ErrorsOf } from './operation.js'
export { createPathMatcher, type PathMatch, type PathMatcher } from './path-matcher.js'
export { giveToOwner } from './process/give-to-owner.js'
export { makeFolder } from './process/make-folder.js'
export { ENDING_SIGNALS, parentsNow, terminationRequested } from './process/termination.js'
export { Scheduler, type RunOptions, type SchedulerOptions, type CallSlot } from './rate-limit/scheduler.js'
export { createHeap } from './runtime/heap.js'
export { bareToken } from './client/config.js'
export { createBucket } from './rate-limit/token-bucket.js'
export { addressKeys, messageOf, scrub, scrubEnd, secretFlags, secretKeys, warnThat } from './redact.js'
export { type AbortListener, listenToAbort, stopListeningToAbort } from './runtime/abort-listeners.js'
export { type Awaitable, linkedSignal, manyWaitOn, unlessAborted, whenKnown, within } from './runtime/abort-signals.js'
export {
  callSafely,
  createEventsWithProblems,
  type Events,
  type ListenerProblem,
  type WithProblems,
} from './runtime/events.js'
export { groupBy } from './runtime/group-by.js'
export { growingTo } from './runtime/growing-cache.js'
export { newId, unguessable } from './runtime/ids.js'
export { oneAtATime } from './runtime/one-at-a-time.js'
export { createOwnPauses, type OwnPauses } from './runtime/own-pauses.js'
export { createSets } from './runtime/sets.js'
export { isWellFormed } from './runtime/text.js'
export { backoffMs, createTicker, createYielder, type Ticker, type Yielder } from './runtime/timers.js'
export { didYouMean, nearestName } from './nearest-name.js'
export { fetchedUrl } from './validation/fetched-url.js'
export { jsonFault, jsonIn, read, readJson } from './validation/read.js'
export { callable, having, ipAddress } from './validation/schemas.js'
export { faultOfShownName } from './validation/shown-name.js'
export { type Fault, mayHoldSecret, validate, validateAll, type ValidatedWhole } from './validation/validate.js'
export { pathOf, wireName } from './wire.js'
export { isWebhookSecret, webhookSignature } from './client/webhooks.js'
