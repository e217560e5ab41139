/** The server browser: which servers are listed, how players search them, and their seats. */
export type { Browser } from './browser-definition.js'
export { ServerBrowser } from './server-browser.js'
