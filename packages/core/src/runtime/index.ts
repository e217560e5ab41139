/** Shared parts of long-running code: timers, abort signals, events, ids. */
export { listenToAbort, stopListeningToAbort } from './abort-listeners.js'
export { type Awaitable, linkedSignal, unlessAborted, within } from './abort-signals.js'
export { callSafely, createEvents } from './events.js'
export { growingTo } from './growing-cache.js'
export { createSets } from './sets.js'
export { type Backoff, backoffMs, createAlarm } from './timers.js'
export { isWellFormed } from './text.js'
