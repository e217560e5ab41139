/** The console's HTTP API and pages, and its requirements of the server. */
export { createConsole } from './console.js'
export { createFileEventStore } from './event-store.js'
export type { ApplyQueue, ConsoleOptions, OpenEvents, Processes } from './options.js'
export { withHidden } from './queue-cards.js'
