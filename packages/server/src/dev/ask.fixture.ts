import type { Dev } from './start-dev.js'

/** Sends a request. @param who a player; empty for a backend or an operator */
export const ask = (dev: Dev, who: string, method: string, path: string, body?: object) =>
  fetch(dev.urls.api + path, {
    method,
    headers: {
      authorization: who === '' ? 'Bearer TOKEN' : `Bearer TOKEN:${who}`,
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  })
