/** The emulator over HTTP: authentication, limits, faults and delays around the handlers, and a listening server. */
export { createNetwork, createRequestHandler } from './request-handler.js'
export { listen, type Listening, type ListenOptions } from './server.js'
