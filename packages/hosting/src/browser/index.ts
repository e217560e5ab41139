/** The server browser: which servers are listed, what players find of them, and their seats. */
export type { Browser } from './browser-definition.js'
export { createServerBrowser, type ServerBrowser } from './server-browser.js'
export { createStartServers } from './start-servers.js'
