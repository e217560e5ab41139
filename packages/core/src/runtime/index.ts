/** What `@muster/core/runtime` offers: the mechanisms of long-running code, one of each. */
export { whenKnown, type Awaitable } from './awaitable.js'
export { backoffMs, type Backoff } from './backoff.js'
export {
  createEvents,
  createEventsWithProblems,
  type Events,
  type ListenerProblem,
  type WithProblems,
} from './events.js'
export { growingTo } from './growing-cache.js'
export { newId, unguessable } from './ids.js'
export { linkedSignal, manyWaitOn, type LinkedSignal } from './linked-signal.js'
export { unlessAborted, within } from './race.js'
export { createTicker, type Ticker, type TickerOptions } from './ticker.js'
export { createYielder, type Yielder } from './yielder.js'
