/** What each operation of the emulated service does. */
export type { Handlers, NoContent, RequestContext, Success } from './handler.js'
export { handlers } from './handlers.js'
