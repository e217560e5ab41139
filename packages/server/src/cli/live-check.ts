import { randomUUID } from 'node:crypto'
import {
  AlreadyTerminated,
  type Client,
  type Coordinates,
  createClient,
  MusterError,
  NotFound,
  RouteMissing,
} from '@muster/core'
import { type Clock, systemClock } from '@muster/core/clock'
import { messageOf } from '@muster/core/internal'
import { matchmakerTag } from '@muster/matchmaker/internal'
import type { Config } from '../config/index.js'
import { closeSources, deploysOf, openSources, readService, type ServiceReading } from '../running/index.js'

interface LiveOptions {
  readonly config: Config
  /** True: creates one server, which costs money, reads it until it is READY, and stops it. */
  readonly deploys: boolean
  /** Called with each result as soon as it is known. */
  readonly said: (reading: ServiceReading) => void
  /** Called before money is spent. */
  readonly announce: (text: string) => void
  /** Aborting this signal ends the check early. A created server is stopped in any case. */
  readonly signal?: AbortSignal | undefined
  readonly clock?: Clock | undefined
}

/** Milliseconds for which the stop of the server is repeated. */
const STOP_WITHIN_MS = 180_000
/** Milliseconds between two attempts of a stop or a search. */
const AGAIN_MS = 2000
/** Maximum number of searches by tag for a create without a response. With `AGAIN_MS`, they take 30 seconds. */
const MOST_SEARCHES = 15

/**
 * Tests whether the deployment service of a configuration does what Muster needs. Resolves with true if everything
 * works. The test costs no money unless `deploys` is true: one server is then created, and its stop is repeated until
 * confirmed.
 */
export async function checkLive(options: LiveOptions): Promise<boolean> {
  const { config, deploys, said, signal, clock = systemClock } = options
  const client = config.service && openClient(config.service, clock)
  const sources = openSources(config, clock)
  let works = true
  const tell = (reading: ServiceReading) => {
    works &&= reading.works
    said(reading)
  }
  try {
    for (const reading of await readService({ client, sources, config, clock, signal })) tell(reading)
    if (!deploys) return works
    if (!works) {
      tell({ what: 'deployment', works: false, says: 'no server was created, because a check above failed' })
      return false
    }
    if (client === undefined) {
      tell({
        what: 'deployment',
        works: false,
        says: 'no server was created, because the configuration has no service',
      })
      return false
    }
    for await (const reading of deployOnce(client, { ...options, clock })) tell(reading)
    return works
  } finally {
    await Promise.all([client?.close(), closeSources(sources)])
  }
}

const openClient = ({ url: baseUrl, token, ...rest }: NonNullable<Config['service']>, clock: Clock) =>
  createClient({ ...rest, baseUrl, token: token.reveal(), clock, cacheTtlMs: 0 })

/** Runs one server from its create to its confirmed stop. */
async function* deployOnce(
  client: Client,
  { config, announce, signal, clock }: LiveOptions & { readonly clock: Clock },
): AsyncGenerator<ServiceReading> {
  const [deploy] = deploysOf(config)
  if (deploy === undefined) return
  const { application, version, readyTimeoutMs } = deploy
  const what = `${application} ${version}`
  const place = await firstPlace(client, deploy)
  announce(`Creates one server of ${what}${place.name} and stops it, ${priceOf(config, readyTimeoutMs)}.`)
  // If this process is killed, a running Muster of the configured name finds the server by its first tag, and stops it.
  const ownTag = `check-${randomUUID().slice(0, 13)}`
  const began = clock.now()
  const seconds = () => `${((clock.now() - began) / 1000).toFixed(1)} s`
  let requestId: string | undefined
  try {
    const created = await client.deployments.create(
      {
        application,
        version,
        users: [{ user_type: 'geo_coordinates', user_data: place.at }],
        tags: [matchmakerTag(config.name), ownTag],
      },
      { signal },
    )
    requestId = created.request_id
    yield { what: 'create', works: true, says: `${requestId} after ${seconds()}` }
    const ready = await client.deployments.waitUntilReady(requestId, { timeoutMs: readyTimeoutMs, signal })
    const ports = Object.keys(ready.ports ?? {})
    const reached =
      ports.length === 0 ? 'without a port' : `with the port${ports.length === 1 ? '' : 's'} ${ports.join(', ')}`
    yield { what: 'READY', works: true, says: `after ${seconds()}, ${reached}` }
  } catch (error) {
    requestId ??= error instanceof MusterError ? error.requestId : undefined
    const says = messageOf(error)
    const hint = error instanceof RouteMissing ? '. See service.settings.createDeploymentPath' : ''
    yield { what: requestId === undefined ? 'create' : 'READY', works: false, says: `${says}${hint}` }
    // If the service lacks the route, nothing was created. After any other error, a server may exist whose response was
    // lost.
    if (requestId === undefined && !(error instanceof RouteMissing)) requestId = await found(client, ownTag, clock)
  } finally {
    if (requestId !== undefined) yield await stopped(client, requestId, clock)
  }
}

async function firstPlace(
  client: Client,
  { application, version }: { readonly application: string; readonly version: string },
): Promise<{ readonly at: Coordinates; readonly name: string }> {
  const { locations } = await client.locations.list({ app: application, version, limit: 1 })
  const [first] = locations
  const at = { latitude: Number(first?.latitude ?? 0), longitude: Number(first?.longitude ?? 0) }
  return { at, name: first?.city ? ` in ${first.city}` : '' }
}

function priceOf({ spending: { pricePerMinute, currency } }: Config, readyTimeoutMs: number): string {
  const minutes = Math.ceil((readyTimeoutMs + STOP_WITHIN_MS) / 60_000)
  return pricePerMinute === undefined
    ? `after ${minutes} minutes at most; what that costs is not known without spending.pricePerMinute`
    : `for ${(minutes * pricePerMinute).toFixed(2)} ${currency} at most (${minutes} minutes)`
}

/** Finds the deployment of a create whose response was lost, by its tag; undefined if none is found. */
async function found(client: Client, tag: string, clock: Clock): Promise<string | undefined> {
  const filters = [{ field: 'tags', operator: 'in', value: [tag] }]
  for (let search = 0; search < MOST_SEARCHES; search += 1) {
    const { data } = await client.deployments
      .list({ query: { filters }, limit: 10 })
      .catch(() => ({ data: [] as { readonly request_id: string; readonly tags?: readonly string[] | null }[] }))
    const entry = data.find(({ tags }) => tags?.includes(tag) === true)
    if (entry !== undefined) return entry.request_id
    await clock.sleep(AGAIN_MS)
  }
  return undefined
}

/** Repeats the stop until the service confirms it. */
async function stopped(client: Client, requestId: string, clock: Clock): Promise<ServiceReading> {
  const until = clock.now() + STOP_WITHIN_MS
  for (;;) {
    try {
      await client.deployments.stop({ request_id: requestId })
      return { what: 'stop', works: true, says: 'confirmed' }
    } catch (error) {
      if (error instanceof AlreadyTerminated) return { what: 'stop', works: true, says: 'it had ended already' }
      if (error instanceof NotFound || clock.now() >= until) {
        const says = messageOf(error).replace(/\.$/, '')
        return { what: 'stop', works: false, says: `${says}. The server ${requestId} may still run: stop it by hand` }
      }
      await clock.sleep(AGAIN_MS)
    }
  }
}
