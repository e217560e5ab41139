import type { Deployment, Settings } from '@muster/core/api'
import { seededRandom, type Random } from '@muster/core/clock'
import { manyWaitOn } from '@muster/core/internal'
import { buildWorld } from './world.js'
import type { Counters } from './counters.js'
import { createFaults, type Faults } from './faults.js'
import { handlers } from './handlers/index.js'
import { createNetwork, createRequestHandler, listen, type Listening, type ListenOptions } from './http/index.js'
import { toResponse } from './reply.js'
import { createRateLimits } from './rate-limits.js'
import { type EmulatorOptions, resolveOptions } from './options.js'
import { createPage } from './page/page.js'
import type { RelaySummary } from './relays/index.js'

/** The whole service, emulated in this process. */
export interface Emulator {
  /**
   * Responds to a request like the service does. The host in the request's URL is ignored. Rejects with
   * ConnectionDropped if a declared fault ends the connection, and after `close`.
   */
  fetch(request: Request): Promise<Response>
  /**
   * Starts an HTTP server. Containers that are created after the first call get its URL, so that they can stop
   * themselves.
   */
  listen(options?: ListenOptions): Promise<Listening>
  /** The declared faults. They can be added and withdrawn at any time. */
  readonly faults: Faults
  /** The settings for a client of this service: `createClient({ baseUrl, token, settings: emulator.settings })`. */
  readonly settings: Settings
  /** Live counters since the emulator was created. */
  readonly counters: DeepReadonly<Counters>
  /** Returns the current state of the service. */
  inspect(): EmulatorState
  /** Returns the variables of a deployment's container, secrets included; undefined for an unknown id. */
  environment(requestId: string): Readonly<Record<string, string>> | undefined
  /**
   * Replaces a deployment's sessions. `sessions` is the number of users by session id.
   * @throws RangeError for an unknown deployment, for a version that uses no sessions, and if a session has more users
   *   than the version allows.
   */
  setSessions(requestId: string, sessions: Readonly<Record<string, number>>): void
  /** Closes the HTTP servers, and ends deployments and pending requests. */
  close(): Promise<void>
}

/** The state of the emulated service, as names and views without secrets. */
export interface EmulatorState {
  readonly applications: readonly { readonly name: string; readonly versions: readonly string[] }[]
  readonly storages: readonly string[]
  readonly fleets: readonly string[]
  /** All deployments, the oldest first. */
  readonly deployments: readonly Deployment[]
  readonly relaySessions: readonly RelaySummary[]
}

type DeepReadonly<T> = { readonly [Key in keyof T]: T[Key] extends object ? DeepReadonly<T[Key]> : T[Key] }

/**
 * Creates an emulator of the whole service.
 * @throws TypeError naming the invalid option and its value.
 */
export function createEmulator(options: EmulatorOptions = {}): Emulator {
  const resolved = resolveOptions(options)
  const { clock, random, limits, maxBodyBytes } = resolved

  const closing = manyWaitOn()
  // Containers use the URL of the first HTTP server. Before `listen`, they get a host name that never resolves.
  const listening: Listening[] = []
  const isListening = () => listening.length > 0
  const url = () => listening[0]?.url ?? 'http://emulator.invalid'

  // Each purpose has its own random source, so that jitter and faults do not change what is deployed.
  const forWorld = fork(random)
  const faults = createFaults(resolved.faults, fork(random))
  const forNetwork = fork(random)
  const { world, close: closeWorld } = buildWorld(
    resolved,
    { random: forWorld, packetRandom: fork(random), gameRandom: fork(random) },
    { url, isListening },
  )
  const handle = createRequestHandler({
    world,
    handlers,
    maxBodyBytes,
    faults,
    network: createNetwork(clock, forNetwork, resolved, closing.signal),
    limits: limits && createRateLimits(limits.algorithm),
    tooManyAnswer: limits ?? { retryAfter: false, body: 'json' },
    token: resolved.token,
    page: resolved.page
      ? createPage({ world, faults, token: resolved.token, isTokenKnown: options.token === undefined })
      : undefined,
    onError: resolved.onError,
  })

  let closed: Promise<void> | undefined
  const end = async () => {
    closing.abort(new Error('the emulator is closed'))
    // All are closed concurrently, because a running request may wait for a webhook, which `closeWorld` cancels.
    await Promise.all([...listening.map((server) => server.close()), closeWorld()])
  }

  return {
    fetch: async (request) => {
      closing.signal.throwIfAborted()
      return toResponse(await handle(request))
    },
    listen: async (where = {}) => {
      closing.signal.throwIfAborted()
      const server = await listen(handle, where)
      listening.push(server)
      if (closing.signal.aborted) await server.close()
      closing.signal.throwIfAborted()
      return server
    },
    faults,
    settings: resolved.settings,
    counters: world.counters,
    inspect: () => ({
      applications: world.applications
        .values()
        .map(({ name, versions }) => ({ name, versions: versions.values().map((version) => version.name) })),
      storages: world.storages.values().map(({ name }) => name),
      fleets: world.fleets.values().map(({ name }) => name),
      deployments: world.deployments.list(),
      relaySessions: world.relays.list(),
    }),
    environment: (requestId) => world.deployments.environment(requestId),
    setSessions: (requestId, sessions) => world.deployments.setSessions(requestId, sessions),
    close: () => (closed ??= end()),
  }
}

const fork = (random: Random): Random => seededRandom(Math.floor(random() * 2 ** 32))
