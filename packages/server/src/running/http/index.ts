/** The HTTP listeners of the server, and what guards them. */
export { createAnswerCounts } from './answers.js'
export { type Listener, openListeners } from './listener.js'
export { createLoadGuard, type LoadGuard } from './load-guard.js'
export { createLazyMetrics, createMetricsDoor, type LazyMetrics } from './metrics-endpoint.js'
export { createMounts, startingMounts } from './mounts.js'
