import { createManualClock, seededRandom } from '../time.js'
import { createClient } from './client.js'
import { inProcess } from './transport.js'
import type { ClientOptions } from './config.js'
import { deployment, serve } from './server.fixture.js'

/** Creates a client of a real server on loopback. The test closes both. */
export async function overNetwork(handler: Parameters<typeof serve>[0], options: Partial<ClientOptions> = {}) {
  const server = await serve(handler)
  return {
    server,
    client: createClient({ baseUrl: server.url, token: 'account-secret', random: seededRandom(1), ...options }),
  }
}

/** Creates a client whose `dispatcher` answers instead of a service. */
export const clientOf = (options: Partial<ClientOptions>) =>
  createClient({ baseUrl: 'http://service.invalid', token: 'tok', random: () => 0.5, ...options })

/** Creates a client on a manual clock, with a function as its server. */
export function inVirtualTime(
  handle: (request: Request, nth: number) => Promise<Response>,
  options: Partial<ClientOptions> = {},
) {
  const clock = createManualClock({ start: 0 })
  const times: number[] = []
  const dispatcher = inProcess((request) => {
    times.push(clock.now())
    return handle(request, times.length)
  })
  const client = clientOf({ token: 'account-secret', clock, random: seededRandom(1), dispatcher, ...options })
  return { clock, client, times }
}

export const ready = (id = 'abc') => Response.json(deployment(id))
export const later = (seconds: number | string = '') =>
  new Response('', { status: 429, headers: seconds === '' ? {} : { 'retry-after': `${seconds}` } })
