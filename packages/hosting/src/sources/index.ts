/** The sources of servers: the deployment service, allocators, and enrolled servers. */
export { openEnrolledSource } from './enrolled-source.js'
export type { SourceBlock } from './source-circuit-breaker.js'
export type { CreateOutcome, OpenSource, ServerChange, ServerHint, ServerSource } from './source.js'
export { createSources, type Sources, type OpenedSource } from './sources.js'
export { createWebhookReceiver } from './service/webhooks.js'
