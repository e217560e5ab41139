/** Where servers come from. */
export { openEnrolledSource } from './enrolled-source.js'
export type { GateHeld } from './source-gate.js'
export type { CreateOutcome, OpenSource, ServerChange, ServerHint, ServerSource } from './source.js'
export { createSources, type Sources } from './sources.js'
export { createWebhookReceiver } from './webhooks.js'
