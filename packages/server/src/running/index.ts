/** The running server: assembly, start, reload and shutdown. */
export {
  type OpenConfigFile,
  openConfigFile,
  replaceFile,
  tellNotReloaded,
  tellWarnings,
  watchFile,
} from './reload/config-file.js'
export { definitionIn, editQueue, NotEdited } from './reload/edit-queue.js'
export { deploysOf, readService, type ServiceReading } from './service-reads.js'
export { closeSources, openSources } from './sources.js'
export { type MusterServer, startServer } from './start-server.js'
export { isStartable } from './startable.js'
