/** What each operation of the emulated service does. */
export type { Failure, Handlers, NoContent, RequestContext, Success } from './handler.js'
export { handlers } from './handlers.js'
