/** What `@muster/core/runtime` offers: the mechanisms of long-running code, one of each. */
export {
  type Awaitable,
  linkedSignal,
  type LinkedSignal,
  manyWaitOn,
  unlessAborted,
  whenKnown,
  within,
} from './abort-signals.js'
export {
  type Backoff,
  backoffMs,
  createTicker,
  createYielder,
  type Ticker,
  type TickerOptions,
  type Yielder,
} from './timers.js'
export {
  createEvents,
  createEventsWithProblems,
  type Events,
  type ListenerProblem,
  type WithProblems,
} from './events.js'
export { growingTo } from './growing-cache.js'
export { newId, unguessable } from './ids.js'
