import type { ContainerLogStorage, DeploymentStopped } from '../api/deployment.js'
import type { SettingsOption } from '../api/settings.js'
import type { Clock, Random } from '../time.js'
import type { Operation } from '../operation.js'
import { checkCallOptions, loadDescription } from './call.js'
import { Progress } from './request.js'
import { configure } from './config.js'
import { decodeGone } from './decode.js'
import { AlreadyTerminated, InvalidInput } from './errors.js'
import type { ClientDispatcher } from './transport.js'
import { createPipeline } from './client.js'

export interface SelfStopOptions {
  /** The injected variables. Default: `process.env`. */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined
  /**
   * Prefix of the variables' names, such as SERVICE for SERVICE_DELETE_URL and SERVICE_DELETE_TOKEN. Default: the value
   * of MUSTER_SERVICE_PREFIX; else SERVICE or ARBITRIUM (live fact), whichever has a variable _REQUEST_ID; else
   * SERVICE.
   */
  readonly prefix?: string | undefined
  /** Where the container's logs go. True: to the storage of the version. False: nowhere. A name: to this storage. */
  readonly containerLogStorage?: ContainerLogStorage | undefined
  readonly signal?: AbortSignal | undefined
  /** Milliseconds for the whole call, including retries. Default 30,000. */
  readonly timeoutMs?: number | undefined
  readonly settings?: SettingsOption | undefined
  readonly dispatcher?: ClientDispatcher | undefined
  readonly clock?: Clock | undefined
  readonly random?: Random | undefined
}

const id = 'deployments.selfStop'

/**
 * Stops the deployment from inside its container, by sending the injected delete token to the injected URL. Needs no
 * client and no API token. Failed attempts that are safe to repeat are repeated. A deployment that is already
 * terminated counts as a success. The container gets SIGTERM soon after.
 *
 * @throws {InvalidInput} if a variable is missing, e.g. outside of a container.
 */
export async function selfStop(options: SelfStopOptions = {}): Promise<DeploymentStopped> {
  if (typeof options !== 'object' || options === null)
    throw new InvalidInput(`${id}: the options must be an object`, { operation: id })
  const { environment = process.env, containerLogStorage, ...rest } = options
  const { prefix = prefixIn(environment), signal, timeoutMs, ...connection } = rest
  checkCallOptions(id, { signal, timeoutMs })
  signal?.throwIfAborted()
  const url = deleteUrl(required(environment, `${prefix}_DELETE_URL`), `${prefix}_DELETE_URL`)
  const authorization = deleteToken(required(environment, `${prefix}_DELETE_TOKEN`), `${prefix}_DELETE_TOKEN`)

  // The operation carries its own token, so the client's token is never read.
  const config = configure({ ...connection, baseUrl: url.origin, token: () => authorization, connections: 1 })
  if (containerLogStorage !== undefined) {
    url.searchParams.set(config.settings.containerLogStorageParameter, String(containerLogStorage))
  }
  const operation = (await loadDescription()).get(id) as Operation
  const request = {
    id,
    operation,
    template: operation.path,
    call: id,
    input: { request_id: environment[`${prefix}_REQUEST_ID`], authorization },
    priority: 0,
    mayWrite: undefined,
    cancellation: new AbortController(),
    progress: new Progress(config.clock.now()),
    path: `${url.pathname}${url.search}`,
    headers: ['authorization', authorization],
    body: undefined,
  } as const
  const { flights, close } = createPipeline(config)
  try {
    return (await flights.board(request, signal, timeoutMs ?? config.timeoutMs)) as DeploymentStopped
  } catch (error) {
    if (error instanceof AlreadyTerminated) return decodeGone(request, error) as DeploymentStopped
    throw error
  } finally {
    await close(0)
  }
}

/**
 * Finds the prefix of the injected variables. A copy of `servicePrefixIn` in @muster/game-server, a package without
 * dependencies.
 */
const prefixIn = (environment: Readonly<Record<string, string | undefined>>): string =>
  environment['MUSTER_SERVICE_PREFIX'] ||
  (['SERVICE', 'ARBITRIUM'].find((prefix) => environment[`${prefix}_REQUEST_ID`]) ?? 'SERVICE')

function required(environment: Readonly<Record<string, string | undefined>>, name: string): string {
  const value = environment[name]
  if (value === undefined || value === '') {
    throw new InvalidInput(
      `${id}: the environment has no ${name}; the service injects it into the containers of deployments`,
      {
        operation: id,
        field: name,
      },
    )
  }
  return value
}

/** Parses the injected URL. Errors do not contain its value. */
function deleteUrl(text: string, name: string): URL {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) {
    throw new InvalidInput(`${id}: ${name} is not an http or https URL`, { operation: id, field: name })
  }
  return new URL(text)
}

/** Checks the injected token, which must arrive unchanged. Errors do not contain its value. */
function deleteToken(text: string, name: string): string {
  if (/^[!-~]([ -~]*[!-~])?$/.test(text)) return text
  throw new InvalidInput(`${id}: ${name} must be printable ASCII without a space at either end`, {
    operation: id,
    field: name,
  })
}
