/**
 * A second deployment service, written only from public facts and independently of the emulator, so that both cannot
 * share a misreading. It has the operations that a matchmaker calls, and refuses everything that is not described.
 */
import { json } from 'node:stream/consumers'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

type Json = Record<string, unknown>

interface Deployment {
  readonly id: string
  readonly tags: readonly string[]
  readonly startedAt: number
  isStopped: boolean
}

export interface StrictServiceOptions {
  readonly token: string
  /** Every nth create loses its response after the server was made, e.g. 20 loses 5 %. */
  readonly loseEvery: number
  /** Milliseconds from a create to a server that is ready. */
  readonly readyAfterMs: number
}

const place = { city: 'Frankfurt', country: 'Germany', continent: 'Europe', administrative_division: 'Hesse' }
const location = { ...place, timezone: 'Europe/Berlin', latitude: 50.11, longitude: 8.68 }
const port = { name: 'game', link: 'game.example.com:31000', internal: 7777, external: 31000, protocol: 'UDP' }
const address = { fqdn: 'game.example.com', public_ip: '192.0.2.10', ports: { game: { ...port, tls_upgrade: false } } }
const game = { app_name: 'game', app_version: '1', error: false, max_duration: 60 }

type Check = (value: unknown) => boolean
const isText: Check = (value) => typeof value === 'string' && value !== ''
const object = (fields: Readonly<Record<string, Check>>) => (value: unknown) =>
  typeof value === 'object' &&
  value !== null &&
  Object.entries(fields).every(([name, holds]) => holds((value as Json)[name]))
const list = (holds: Check) => (value: unknown) => Array.isArray(value) && value.every((one) => holds(one))
const isHook = object({ url: isText })

/** The check of each field of a create. */
const members: Readonly<Record<string, Check>> = {
  application: isText,
  version: isText,
  require_cached_locations: (value) => value === null || typeof value === 'boolean',
  users: list(object({ user_type: isText, user_data: object({}) })),
  environment_variables: list(
    object({ key: isText, value: (text) => typeof text === 'string', is_hidden: (is) => typeof is === 'boolean' }),
  ),
  tags: list((tag) => typeof tag === 'string' && tag.length >= 1 && tag.length <= 40),
  webhook_on_ready: isHook,
  webhook_on_error: isHook,
  webhook_on_terminated: isHook,
}

function faultOf(body: Json): string | undefined {
  const missing = ['application', 'version', 'users'].find((name) => !Object.hasOwn(body, name))
  if (missing !== undefined) return `${missing} is required`
  const wrong = Object.entries(body).find(([name, value]) => members[name]?.(value) !== true)
  return wrong && `${wrong[0]} is not known, or not as described`
}

/** Returns a page with the fields that every list has. The list's key is absent if there are no entries. */
function paged(key: string, rows: readonly unknown[], { searchParams }: URL): Json {
  const number = Number(searchParams.get('page') ?? 1)
  const limit = Number(searchParams.get('limit') ?? 10)
  const pages = Math.max(1, Math.ceil(rows.length / limit))
  const next = number < pages ? number + 1 : null
  const previous = number > 1 ? number - 1 : null
  const around = { next_page_number: next, previous_page_number: previous, paginator: { num_pages: pages } }
  const pagination = { number, ...around, has_next: next !== null, has_previous: previous !== null }
  const shown = rows.slice((number - 1) * limit, number * limit)
  return { ...(shown.length > 0 && { [key]: shown }), total_count: rows.length, pagination }
}

/** Starts the service on loopback. */
export async function startStrictService({ token, loseEvery, readyAfterMs }: StrictServiceOptions) {
  const deployments = new Map<string, Deployment>()
  const counts = { creates: 0, notDescribed: [] as string[], refused: [] as string[] }
  const there = () => [...deployments.values()].filter(({ isStopped }) => !isStopped)
  const isReady = (one: Deployment) => !one.isStopped && Date.now() - one.startedAt >= readyAfterMs
  const entry = ({ id: request_id, tags, startedAt }: Deployment) => {
    return { ...address, request_id, tags, start_time: new Date(startedAt).toISOString() }
  }
  const status = (one: Deployment): Json => ({
    ...entry(one),
    ...game,
    ...(isReady(one) ? { running: true, location } : { running: false }),
    current_status: `Status.${one.isStopped ? 'TERMINATED' : isReady(one) ? 'READY' : 'DEPLOYING'}`,
    elapsed_time: Math.floor((Date.now() - one.startedAt) / 1000),
  })

  /** Returns the listed deployments. The service allows one filter per field, and a matchmaker needs only `tags`. */
  function listed(url: URL): readonly Deployment[] {
    const query = JSON.parse(url.searchParams.get('query') ?? '{}') as { filters?: { field: string; value: unknown }[] }
    const tags = query.filters?.find(({ field }) => field === 'tags')?.value
    return there().filter((one) => tags === undefined || [tags].flat().some((tag) => one.tags.includes(String(tag))))
  }

  async function answer(request: IncomingMessage, url: URL): Promise<readonly [number, Json?] | 'lost'> {
    const route = `${request.method} ${url.pathname}`
    const [, , , id = ''] = url.pathname.split('/')
    if (request.headers.authorization !== `token ${token}`) return [401, { message: 'Unauthorized' }]
    if (route === 'POST /v2/deployments') {
      const body = (await json(request)) as Json
      const fault = faultOf(body)
      if (fault !== undefined) return [422, { message: fault }]
      counts.creates++
      const request_id = counts.creates.toString(16).padStart(12, '0')
      const tags = (body['tags'] ?? []) as readonly string[]
      deployments.set(request_id, { id: request_id, tags, startedAt: Date.now(), isStopped: false })
      return counts.creates % loseEvery === 0 ? 'lost' : [202, { request_id }]
    }
    if (route === 'GET /v1/locations') return [200, paged('locations', [location], url)]
    const rows = () => listed(url).map((one) => ({ ...entry(one), ready: isReady(one) }))
    if (route === 'GET /v1/deployments') return [200, paged('data', rows(), url)]
    const one = deployments.get(id)
    if (route === `GET /v1/status/${id}`) return one ? [200, status(one)] : [404, { message: 'Not Found' }]
    if (route === `DELETE /v1/stop/${id}`) {
      if (one === undefined) return [404, { message: 'Not Found' }]
      if (one.isStopped) return [410, { message: 'Instance Already terminated' }]
      one.isStopped = true
      return [200, { message: 'stopped', deployment_summary: status(one) }]
    }
    counts.notDescribed.push(route)
    return [404]
  }

  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const url = new URL(request.url ?? '/', 'http://service')
    void answer(request, url).then((given) => {
      if (given === 'lost') return request.socket.destroy()
      const [code, body] = given
      if (code >= 400) counts.refused.push(`${request.method} ${url.pathname}: ${code} ${String(body?.['message'])}`)
      response.writeHead(code, body === undefined ? {} : { 'content-type': 'application/json' })
      return response.end(body === undefined ? '<html>not found</html>' : JSON.stringify(body))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    counts,
    /** Returns the ids of deployments that nobody has stopped. */
    running: () => there().map(({ id }) => id),
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
