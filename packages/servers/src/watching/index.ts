/** One watcher that reads the status of all deployments. */
export { type ContainerLogReader, createContainerLogReader } from './container-logs.js'
export { sweep } from './list-sweep.js'
export type { StatusChange } from './status-reader.js'
export { createWatcher, type Watcher } from './watcher.js'
