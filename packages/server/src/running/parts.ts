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
import type { ApiParts, InForce } from './apis.js'
import { closeSources, openSources } from './sources.js'
import {
  openLobbies,
  openLocalMatching,
  type Matching,
  type MatchingOptions,
  type MatchingStore,
  type MatchingStoreOptions,
} from './stores/index.js'

/** Rejects with an error that says what to do. */
async function openMatchingStore(options: MatchingStoreOptions): Promise<MatchingStore> {
  if (options.config.store.kind !== 'redis') return { openMatching: openLocalMatching, close: async () => {} }
  // Not at the top: few programs need it, and it takes time to load.
  const { openRedisStore } = await import('./stores/redis-matching.js')
  return openRedisStore(options, options.config.store)
}

interface PartsOptions {
  readonly inForce: InForce
  readonly devToken?: string | undefined
  readonly adaptService?: ((service: TicketService) => TicketService) | undefined
  readonly clock: Clock
  readonly log: MatchingOptions['log']
  readonly onProblem: MatchingOptions['onProblem']
  readonly onRefused: ApiParts['onRefused']
  /** Options of the console, once there is something to look at. */
  readonly consoleOptions: (
    matching: Matching,
    client: Client | undefined,
    locate: MmdbLocate | undefined,
  ) => ConsoleOptions
}

/** What lives as long as the program, whatever its configuration becomes. */
export type Parts = Awaited<ReturnType<typeof openParts>>

/** @param leftMs milliseconds that are left. */
type Close = (leftMs: () => number) => Promise<void>

/** Opens all parts, or none: what was opened is closed again when a later part fails. */
export async function openParts(options: PartsOptions) {
  const closes: Close[] = []
  /** Ends all of them, the last opened first. Calling it again changes nothing. */
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
    // Without a console nobody asks who did it, but the log says so.
    acted: console?.acted ?? (({ who, what, id }) => log.info(`${who} did ${what}`, { who, what, id })),
  }
  return { client, sources, locate, matching, console, lobbies, api }
}

/** Undefined without the deployment service. */
function openClient(inForce: InForce, limiter: MatchingStore['limiter'], clock: Clock): Client | undefined {
  const { service } = inForce.config
  if (service === undefined) return undefined
  const { url: baseUrl, share, timeoutMs, settings } = service
  // A reloaded token counts from the next call on. Without the section, the last one counts until the restart.
  let last = service.token
  const token = () => (last = inForce.config.service?.token ?? last).reveal()
  return createClient({ baseUrl, token, share, timeoutMs, settings, limiter, clock })
}

const same = (service: TicketService) => service

/** Groups outlive a reload, so they are not the ticket API's own. */
function ownGroups({ limits }: Config, service: TicketService, store: Store | undefined, clock: Clock): GroupStore {
  return createGroupStore({
    clock,
    idleMs: limits.groupIdleMs ?? 300_000,
    mostGroups: limits.groups ?? 100_000,
    isAlive: async ({ id }) => (await service.getTicket(id)) !== undefined,
    store,
  })
}

/** Where the service sends its webhooks; undefined without them. */
function webhookUrls({ listen, webhook, service }: Config) {
  if (service === undefined || listen.publicUrl === undefined || webhook.enabled === false) return undefined
  const base = `${listen.publicUrl.replace(/\/+$/, '')}/webhooks`
  return { servers: `${base}/servers`, relays: `${base}/relays` }
}
