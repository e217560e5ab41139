import type { Client } from '@muster/core'
import type { Clock } from '@muster/core/clock'
import type { HttpHandler } from '@muster/core/http'
import type { TicketService } from '@muster/matchmaker'
import type { Lobbies, LobbyApiOptions, RelaySessions } from '@muster/relay'
import type { Config } from '../config/config.js'
import { createLobbyParties } from './lobby-parties.js'
import type { Matching } from './matching.js'

export interface OpenLobbiesOptions {
  readonly config: Config
  readonly client: Client
  readonly service: TicketService
  readonly matching: Pick<Matching, 'on' | 'shared'>
  /** Public URL at which `webhook` is mounted. */
  readonly webhookUrl: string | undefined
  readonly clock: Clock
  readonly onProblem: (during: string, error: unknown) => void
}

/** The lobbies of the program, and what they become. */
export interface OpenLobbies {
  readonly lobbies: Lobbies
  readonly createApi: (options: LobbyApiOptions) => HttpHandler
  readonly webhook: ((request: Request) => Promise<Response>) | undefined
  readonly close: (timeoutMs: number) => Promise<void>
}

/** Undefined where the configuration has no lobbies. */
export async function openLobbies(options: OpenLobbiesOptions): Promise<OpenLobbies | undefined> {
  const { config, client, service, matching, webhookUrl, clock, onProblem } = options
  const { enabled, startAs, queue, rules, limits } = config.lobbies
  if (!enabled) return undefined
  // Not at the top: many programs have no lobbies.
  const { createLobbies, createLobbyApi, createRelaySessions } = await import('@muster/relay')
  const report = (during: string) => (error: unknown) => onProblem(during, error)
  const shared = { store: matching.shared.lobbies, limitStore: matching.shared.limitStore, rules, limits, clock }
  const keepLobbies = matching.shared.lobbies !== undefined

  if (startAs === 'match') {
    const parties = createLobbyParties({
      service,
      on: matching.on,
      queue: queue ?? config.queues[0]?.name ?? '',
      onProblem: report('lobbies'),
    })
    const lobbies = createLobbies({ ...shared, matchmaker: parties.matchmaker })
    lobbies.events.on('problem', ({ during, error }) => onProblem(`lobbies ${during}`, error))
    parties.reportTo(lobbies)
    return {
      lobbies,
      createApi: (api) => createLobbyApi(lobbies, api),
      webhook: undefined,
      close: (timeoutMs) => lobbies.close({ keepLobbies, timeoutMs }),
    }
  }

  const relay: RelaySessions = createRelaySessions({
    client: client.relays,
    owner: config.name.replaceAll('_', '-'),
    webhookBaseUrl: webhookUrl,
    ...config.relay,
    clock,
  })
  relay.events.on('problem', ({ during, error }) => onProblem(`relay ${during}`, error))
  const lobbies = createLobbies({ ...shared, relay })
  lobbies.events.on('problem', ({ during, error }) => onProblem(`lobbies ${during}`, error))
  return {
    lobbies,
    createApi: (api) => createLobbyApi(lobbies, api),
    webhook: relay.webhook,
    close: async (timeoutMs) => {
      const results = await Promise.allSettled([lobbies.close({ keepLobbies, timeoutMs })])
      await relay.close({ timeoutMs })
      for (const result of results) if (result.status === 'rejected') throw result.reason
    },
  }
}
