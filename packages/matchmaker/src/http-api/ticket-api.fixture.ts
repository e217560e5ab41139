import { createManualClock, seededRandom, type ManualClock } from '@muster/core/clock'
import { bearerToken, clientAddress } from '@muster/core/http'
import { expect } from 'vitest'
import { createMatchmaker } from '../create-matchmaker.js'
import type { QueueDefinition } from '../queues/queue.js'
import { createTestService } from '@muster/hosting/service-fixture'
import { ticketRoutes } from './routes.js'
import { COMMANDS, type TicketService } from '../commands.js'
import { createTicketApi } from './ticket-api.js'
import type { TicketApiOptions } from './api-options.js'
import { createFakeService } from './ticket-service.fixture.js'

export interface Answer {
  readonly status: number
  // Tests read any key of the body; its shape is checked against the API description.
  readonly json: never
  readonly headers: Headers
}

export interface CallOptions {
  readonly from?: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly signal?: AbortSignal | undefined
}

/**
 * Creates the ticket API over a matchmaker that matches nobody, with a clock that does not move. Tokens are callers'
 * ids; `backend` is a backend.
 */
export const setUp = (options: Partial<TicketApiOptions> = {}) => setUpOver(createFakeService, options)

/** Creates the ticket API over a real matchmaker with these queues, which ticks when the test says so. */
export const setUpReal = (queues: readonly QueueDefinition[], options: Partial<TicketApiOptions> = {}) =>
  setUpOver((clock) => {
    const { deployments } = createTestService({ clock })
    return createMatchmaker({ deployments, queues, clock, random: seededRandom(2) })
  }, options)

let isLater = false
/** Makes the services of `setUp` return promises from now on, like the service of several processes. */
export function answerLater(): void {
  isLater = true
}

const commands: Readonly<Record<string, readonly string[]>> = COMMANDS

/** Returns the same service, but its answers come some turns of the event loop later. */
const later = <Service extends TicketService>(service: Service): Service =>
  new Proxy(service, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== 'function' || commands[String(name)]?.[1] === 'at once') return value
      return async (...input: unknown[]) => {
        await Promise.resolve()
        const answer: unknown = await Reflect.apply(value, target, input)
        await Promise.resolve()
        return answer
      }
    },
  })

function setUpOver<Service extends TicketService>(
  make: (clock: ManualClock) => Service,
  options: Partial<TicketApiOptions>,
) {
  const clock = createManualClock({ start: Date.UTC(2026, 0, 31, 8, 15) })
  const service = make(clock)
  const errors: unknown[] = []
  const api = createTicketApi(isLater ? later(service) : service, {
    authenticate: (request) => {
      const id = bearerToken(request)
      if (id === undefined) return undefined
      return id.startsWith('backend') ? { id, role: 'backend' } : { id }
    },
    address: clientAddress({ trustedProxies: ['10.0.0.0/8'] }),
    clock,
    random: seededRandom(1),
    onError: (error) => errors.push(error),
    ...options,
  })

  const request = (
    who: string | undefined,
    method: string,
    path: string,
    body?: unknown,
    { from = '192.0.2.1', headers = {}, signal }: CallOptions = {},
  ) =>
    api(
      new Request(`http://localhost${path}`, {
        method,
        headers: {
          ...(who === undefined ? {} : { authorization: who }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
        ...(signal === undefined ? {} : { signal }),
      }),
      { remoteAddress: from },
    )

  const call = async (...[who, method, path, body, given]: Parameters<typeof request>): Promise<Answer> => {
    const response = await request(who, method, path, body, given)
    const text = await response.text()
    const json: unknown = text === '' ? undefined : JSON.parse(text)
    assertDescribed(method, path, response, json)
    return { status: response.status, json: json as never, headers: response.headers }
  }
  return { clock, service, errors, api, request, call }
}

/** Checks that an answer fits its description and has no further keys. */
function assertDescribed(method: string, path: string, response: Response, json: unknown): void {
  const [pathname = ''] = path.split('?')
  const fitting = Object.values(ticketRoutes).filter(
    (one) => one.method === method && new RegExp(`^${one.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(pathname),
  )
  const route = fitting.find((one) => one.path === pathname) ?? fitting[0]
  if (route === undefined) return
  if (response.ok && route.output !== undefined) expect(route.output.parse(json)).toEqual(json)
  if (response.ok) expect(route.success).toContain(response.status)
  else expect([...route.errors, 400, 401, 413, 415, 429, 499, 500]).toContain(response.status)
}
