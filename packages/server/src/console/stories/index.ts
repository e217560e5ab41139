/** What happened to a ticket, match, server or player (its story), from recorded events. */
export { createEventHistory, type EventHistoryOptions } from './event-history.js'
export { createEventRing, type EventRing, placeName, type RecordedEvent, recordEvents } from './recorded-events.js'
export { lasted, type QueueLimits } from './sentences.js'
export { type InspectedServer, mayDrain } from './standing.js'
export { createStories, type FindStories } from './stories.js'
