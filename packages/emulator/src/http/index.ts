/** The emulator over HTTP: authentication, limits, faults and delays around the handlers, and a server that listens. */
export { createNetwork, createRequestHandler } from './request-handler.js'
export { listen, type Listening, type ListenOptions } from './server.js'
