/** The HTTP listeners of the server, and their protection against overload. */
export { createAnswerCounts } from './answers.js'
export { type ListeningServer, openListeners } from './listener.js'
export { createLoadGuard, type LoadGuard } from './load-guard.js'
export { createLazyMetrics, createMetricsEndpoint, type LazyMetrics } from './metrics-endpoint.js'
export { createMounts, startingMounts } from './mounts.js'
