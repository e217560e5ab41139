/** Where servers come from. */
export type { CreateOutcome, OpenSource, ServerChange, ServerHint, ServerSource } from './source.js'
export { createWebhookReceiver } from './webhooks.js'
