import { stat } from 'node:fs/promises'
import { type CallOptions, type Client, createClient, NotFound, RouteMissing, Unauthorized } from '@muster/core'
import type { Clock } from '@muster/core/clock'
import { messageOf } from '@muster/core/internal'
import { matchmakerTag } from '@muster/matchmaker/internal'
import { type Config, endsInVersion } from '../config/index.js'
import type { OpenSources } from './sources.js'
import { isStartable } from './startable.js'

/** Something that the program needs from the deployment service, and whether it works. */
export interface ServiceReading {
  /** What was read, e.g. `locations` or `version my-game 1.0`. */
  readonly what: string
  readonly works: boolean
  /** The result, or the fault and its remedy. It contains no secret and no address. */
  readonly says: string
}

interface ServiceReadOptions {
  /** The client; undefined without the deployment service, in which case only the sources are read. */
  readonly client: Client | undefined
  readonly config: Pick<Config, 'service' | 'name' | 'queues' | 'pools' | 'sources'>
  readonly sources: OpenSources
  readonly clock: Clock
  readonly signal?: AbortSignal | undefined
}

/** Maximum milliseconds of one read, including its retries. */
const TIMEOUT_MS = 15_000

/**
 * Reads what the program will need from the service: locations, applications, the version of each queue and pool, and
 * the list by tag. Sends each source a poll with an empty list of servers, and looks for the program of each `launch`.
 * Reading costs no money. Rejects only with `signal.reason`.
 */
export async function readService(options: ServiceReadOptions): Promise<readonly ServiceReading[]> {
  const { client, config, sources, signal } = options
  const call = { signal, timeoutMs: TIMEOUT_MS }
  const read = createReader(options)
  const readings = client === undefined ? [] : await readingsOf(client, config, call, read)
  for (const [name, source] of Object.entries(sources)) {
    const ask = async () => {
      await source.poll([], call)
      const fault = await launchFault(config, name)
      return fault === undefined ? works('it answers a poll') : fails(fault)
    }
    readings.push(await read(`source ${name}`, ask, `See sources.${name}.`))
  }
  return readings
}

type ServiceReader = ReturnType<typeof createReader>

/** Creates the function that makes one read. If the read fails, the function returns the fault instead of throwing. */
function createReader(options: ServiceReadOptions) {
  const base = { known: undefined as Promise<string> | undefined }
  return async (
    what: string,
    ask: () => Promise<Omit<ServiceReading, 'what'>>,
    hint?: string,
  ): Promise<ServiceReading> => {
    try {
      return { what, ...(await ask()) }
    } catch (error) {
      options.signal?.throwIfAborted()
      const says = messageOf(error).replace(/\.$/, '')
      if (hint !== undefined) return { what, works: false, says: `${says}. ${hint}` }
      if (error instanceof Unauthorized) return { what, works: false, says: `${says}. See service.token.` }
      if (!(error instanceof RouteMissing)) return { what, works: false, says }
      base.known ??= baseHint(options)
      return { what, works: false, says: `${says}. ${await base.known}` }
    }
  }
}

async function readingsOf(
  client: Client,
  config: ServiceReadOptions['config'],
  call: CallOptions,
  read: ServiceReader,
): Promise<ServiceReading[]> {
  const readings = [
    await read('locations', async () => {
      const { locations, total_count: total } = await client.locations.list({ limit: 1 }, call)
      const count = total ?? locations.length
      return count > 0 ? works(many(count, 'place')) : fails('there is no place where servers could run')
    }),
    await read('applications', async () => {
      const { applications, total_count: total } = await client.applications.list({ limit: 1 }, call)
      return works(many(total ?? applications.length, 'application'))
    }),
  ]
  for (const { application, version } of deploysOf(config)) {
    const what = `version ${application} ${version}`
    readings.push(
      await read(what, async () => {
        const found = await client.versions
          .get({ app_name: application, version_name: version }, call)
          .catch((error: unknown) => {
            if (error instanceof NotFound) return undefined
            throw error
          })
        if (found === undefined) return fails('is not there: no server of it can be created')
        return found.is_active === false
          ? fails('is not active: no server of it can be created')
          : works(`${found.docker_image ?? 'an image'}:${found.docker_tag ?? ''}`)
      }),
    )
  }
  const tag = matchmakerTag(config.name)
  readings.push(
    await read(`servers with the tag ${tag}`, async () => {
      const filters = [{ field: 'tags', operator: 'in', value: [tag] }]
      const { data, total_count: total } = await client.deployments.list({ query: { filters }, limit: 10 }, call)
      const strangers = data.filter(({ tags }) => tags?.includes(tag) !== true)
      return strangers.length > 0
        ? fails('the list is not filtered by tag: see service.settings.deploymentQueryParameter')
        : works(`${total ?? data.length} run`)
    }),
  )
  return readings
}

const many = (count: number, one: string) => `${count} ${one}${count === 1 ? '' : 's'}`
const works = (says: string) => ({ works: true, says })
const fails = (says: string) => ({ works: false, says })

/** Returns the application versions that queues and pools deploy, without duplicates. */
export function deploysOf({
  queues,
  pools,
}: Pick<Config, 'queues' | 'pools'>): readonly Config['pools'][number]['deploy'][] {
  const own = pools.filter(({ source }) => source === undefined)
  const all = [...queues.filter(({ pool }) => pool === undefined), ...own].map(({ deploy }) => deploy)
  return [...new Map(all.map((deploy) => [JSON.stringify([deploy.application, deploy.version]), deploy])).values()]
}

/** Returns why a source cannot launch the servers of its pools; undefined if it can, or launches none. */
async function launchFault(
  { sources, pools }: Pick<Config, 'sources' | 'pools'>,
  name: string,
): Promise<string | undefined> {
  const { command: [program = ''] = [], folder = '.' } = sources[name]?.launch ?? {}
  if (program === '') return undefined
  const isFolder = await stat(folder).then(
    (found) => found.isDirectory(),
    () => false,
  )
  if (!isFolder) return `sources.${name}.launch.folder: there is no such folder, so no server can start`
  const used = pools.filter(({ source }) => source === name)
  const filled = used.map(({ deploy: { application, version } }) =>
    program.replaceAll('{application}', application).replaceAll('{version}', version),
  )
  for (const one of new Set(filled)) {
    if (!(await isStartable(one, folder)))
      return `sources.${name}.launch.command: there is no program ${JSON.stringify(one)}, so no server can start`
  }
  return undefined
}

/**
 * Returns a hint about a missing route: whether the service responds at the same address without the version at its
 * end.
 */
async function baseHint({ config, clock, signal }: ServiceReadOptions): Promise<string> {
  if (config.service === undefined) return ''
  const { url, token, settings } = config.service
  const version = endsInVersion(url)
  if (version === undefined)
    return 'See service.url: the paths of the service begin below it, with /v1 or what service.settings says.'
  const baseUrl = url.replace(/\/v\d+\/*$/i, '')
  const client = createClient({ baseUrl, token: token.reveal(), settings, clock, cacheTtlMs: 0 })
  try {
    await client.locations.list({ limit: 1 }, { signal, timeoutMs: TIMEOUT_MS })
    return `service.url ends in ${version}, and the service answers without it: leave it out.`
  } catch {
    signal?.throwIfAborted()
    return `service.url ends in ${version}, which is most often wrong: the paths of the service have their own version.`
  } finally {
    await client.close()
  }
}
