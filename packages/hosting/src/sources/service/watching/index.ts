/** The watcher, which reads the status of all deployments. */
export { createContainerLogReader } from './container-logs.js'
export { sweep } from './list-sweep.js'
export { Watcher } from './watcher.js'
