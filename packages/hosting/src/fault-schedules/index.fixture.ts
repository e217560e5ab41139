/** Exports for the fault schedules of other packages. */
export { createGameProcess, type GameProcess, type GameWorld, type ServerCalls } from './game-process.fixture.js'
export { anyFate, anyFault, chance, createFault, oneOf } from './random-faults.fixture.js'
export { copiedLog } from './disk.fixture.js'
export { delayMs, type Life } from './life.fixture.js'
export { runSchedules } from './run-schedules.fixture.js'
export type { OpenStorage, OpenStorageOf, Storage, Ticket, TicketsOf } from './storage.fixture.js'
