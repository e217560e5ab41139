/** What has become of a ticket, a match, a server or a player, told from recorded events. */
export { createEventHistory, type EventHistoryOptions } from './event-history.js'
export { createEventRing, type EventRing, placeName, type RecordedEvent, recordEvents } from './recorded-events.js'
export { lasted, type Limits } from './sentences.js'
export { mayDrain } from './standing.js'
export { createStories, type FindStories } from './stories.js'
