/** What `@muster/servers` offers: a game server for a match, from the intent to deploy it to its confirmed stop. */
export { StoreCorrupt, StoreLocked, StoreTorn, TicketsGone } from './errors.js'
export { createFileJournal, type FileJournal, type FileJournalOptions } from './journal/file-journal.js'
export { openStore, type StoreOptions } from './store/file-store.js'
export type { Store, StoreOwner, StoreRecords } from './store/store.js'
export type { StoreRecord } from './store/store-format.js'
export { createMemoryJournal, type Journal, type JournalEntry } from './journal/journal.js'
