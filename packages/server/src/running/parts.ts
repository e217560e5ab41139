import { randomBytes } from 'node:crypto'
import { type Client, createClient } from '@muster/core'
import type { Clock } from '@muster/core/clock'
import {
  createGroupStore,
  type GroupStore,
  mmdbLocate,
  type MmdbLocate,
  type Store,
  type TicketService,
} from '@muster/matchmaker'
import type { Config } from '../config/index.js'
import { createConsole, type ConsoleOptions } from '../console/index.js'
import type { Log } from '../telemetry/log.js'
import type { ApiParts, ApisInForce } from './apis.js'
import { closeSources, openSources } from './sources.js'
import {
  openLobbies,
  openLocalMatching,
  type Matching,
  type MatchingOptions,
  type MatchingStore,
  type MatchingStoreOptions,
} from './stores/index.js'

/** Opens the storage of the program. Rejects with an error that names a remedy. */
async function openMatchingStore(options: MatchingStoreOptions): Promise<MatchingStore> {
  if (options.config.store.kind !== 'redis') return { openMatching: openLocalMatching, close: async () => {} }
  // The module is imported lazily, because few programs use Redis and it takes time to load.
  const { openRedisStore } = await import('./stores/redis-matching.js')
  return openRedisStore(options, options.config.store)
}

interface PartsOptions {
  readonly inForce: ApisInForce
  readonly devToken?: string | undefined
  readonly adaptService?: ((service: TicketService) => TicketService) | undefined
  readonly clock: Clock
  readonly log: Pick<Log, 'debug' | 'info'>
  readonly onProblem: MatchingOptions['onProblem']
  readonly onRefused: ApiParts['onRefused']
  /** Returns the options of the console, once there is a matchmaker. */
  readonly consoleOptions: (
    matching: Matching,
    client: Client | undefined,
    locate: MmdbLocate | undefined,
  ) => ConsoleOptions
}

/** The parts that live as long as the program, regardless of reloads. */
export type ProgramParts = Awaited<ReturnType<typeof openParts>>

/** Closes a part. @param leftMs returns the milliseconds that remain for closing. */
type Close = (leftMs: () => number) => Promise<void>

/** Opens all parts. If one fails, the parts that are already open are closed. */
export async function openParts(options: PartsOptions) {
  const closes: Close[] = []
  /** Closes all open parts, the last opened one first. Another call does nothing. */
  const closeAll: Close = async (leftMs) => {
    for (const close of closes.splice(0).toReversed())
      await close(leftMs).catch((error: unknown) => options.onProblem('close', error))
  }
  try {
    return { ...(await open(options, (close) => void closes.push(close))), close: closeAll }
  } catch (error) {
    await closeAll(() => 1000)
    throw error
  }
}

async function open(options: PartsOptions, opened: (close: Close) => void) {
  const { inForce, devToken, adaptService = same, clock, log, onProblem } = options
  const { config } = inForce
  const store = await openMatchingStore({ config, clock, onProblem })
  opened(store.close)
  const client = openClient(inForce, store.limiter, clock)
  if (client !== undefined) opened((leftMs) => client.close({ timeoutMs: leftMs() }))
  const sources = openSources(config, clock)
  opened(() => closeSources(sources))
  const locate = config.locate && mmdbLocate(config.locate)

  const webhooks = webhookUrls(config)
  const common = { config, client, clock, onProblem }
  const matching = await store.openMatching({ ...common, sources, locate, webhookUrl: webhooks?.servers, log })
  opened((leftMs) => matching.close(leftMs()))
  const console = config.console.enabled ? createConsole(options.consoleOptions(matching, client, locate)) : undefined
  if (console !== undefined) opened(console.close)
  const service = adaptService(
    console === undefined || matching.matchmaker === undefined
      ? matching.service
      : console.recording(matching.matchmaker),
  )
  const lobbies = await openLobbies({ ...common, service, matching, webhookUrl: webhooks?.relays })
  if (lobbies !== undefined) opened((leftMs) => lobbies.close(leftMs()))

  const api: ApiParts = {
    service,
    shared: matching.shared,
    groups: matching.shared.groups ?? ownGroups(config, service, matching.store, clock),
    lobbies,
    client,
    locate,
    streamKey: matching.streamKey ?? randomBytes(32),
    devToken,
    clock,
    onProblem,
    onRefused: options.onRefused,
    acted: (act) => {
      const { who, what, id } = act
      // A backend may end each match of the game this way. Such lines would hide the actions of operators.
      if (what === 'stop-match') log.debug(`${who} did ${what}`, { who, what, id })
      // Without a console there is no audit log, so operators' actions are written to the program's log here.
      else if (console === undefined) log.info(`${who} did ${what}`, { who, what, id })
      else console.acted(act)
    },
  }
  return { client, sources, locate, matching, console, lobbies, api }
}

/** Creates the client of the deployment service; undefined if none is configured. */
function openClient(inForce: ApisInForce, limiter: MatchingStore['limiter'], clock: Clock): Client | undefined {
  const { service } = inForce.config
  if (service === undefined) return undefined
  const { url: baseUrl, share, timeoutMs, settings } = service
  // A reloaded token applies from the next call on. If the section is removed, the last token applies until the
  // restart.
  let last = service.token
  const token = () => (last = inForce.config.service?.token ?? last).reveal()
  return createClient({ baseUrl, token, share, timeoutMs, settings, limiter, clock })
}

const same = (service: TicketService) => service

/** Creates the store of groups. The ticket API does not own it, because groups must survive a reload. */
function ownGroups({ limits }: Config, service: TicketService, store: Store | undefined, clock: Clock): GroupStore {
  return createGroupStore({
    clock,
    idleMs: limits.groupIdleMs ?? 300_000,
    mostGroups: limits.groups ?? 100_000,
    isAlive: async ({ id }) => (await service.getTicket(id)) !== undefined,
    store,
  })
}

/** Returns the URLs for the service's webhooks; undefined if webhooks are off. */
function webhookUrls({ listen, webhook, service }: Config) {
  if (service === undefined || listen.publicUrl === undefined || webhook.enabled === false) return undefined
  const base = `${listen.publicUrl.replace(/\/+$/, '')}/webhooks`
  return { servers: `${base}/servers`, relays: `${base}/relays` }
}
