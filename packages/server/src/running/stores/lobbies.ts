import {
  type Assignment,
  type Matchmaker,
  type TicketService,
  AlreadyAssigned,
  UnknownTicket,
} from '@muster/matchmaker'
import { onMatchEnd } from '@muster/matchmaker/internal'
import type { Attributes, Lobbies, LobbyApiOptions, LobbyMatchmaker, MatchReport, RelaySessions } from '@muster/relay'
import type { Matching, MatchingOptions } from './matching.js'

/**
 * Passes started lobbies to the matchmaker. The players of a lobby become one ticket, whose id is the key of the start.
 */
function createLobbyParties(
  service: TicketService,
  on: Matchmaker['on'],
  queue: string,
  onProblem: (error: unknown) => void,
) {
  const matchmaker: LobbyMatchmaker = {
    handOver: async ({ key, players }) => {
      await service.createTicket({ id: key, queue, players: players.map(({ id, ip }) => ({ id, ip })) })
      return { reference: key }
    },
    withdraw: async (ticketId) => {
      try {
        await service.cancelTicket(ticketId)
      } catch (error) {
        // If the ticket has ended or its players have the server's address, nothing remains to be cancelled.
        if (!(error instanceof UnknownTicket || error instanceof AlreadyAssigned)) throw error
      }
    },
  }
  return {
    matchmaker,
    /** Reports what happens to the lobbies' tickets and matches back to the lobbies. */
    reportTo: (lobbies: Lobbies) => {
      /** The ticket ids of running matches, by match id. Lobbies recognize their own tickets by the key. */
      const playing = new Map<string, readonly string[]>()
      const report = (keys: readonly string[], reportOf: (key: string) => MatchReport) => {
        for (const key of keys) lobbies.reportMatch(reportOf(key)).catch(onProblem)
      }
      on('serverAssigned', ({ matchId, tickets, assignment }) => {
        const keys = tickets.map(({ id }) => id)
        playing.set(matchId, keys)
        report(keys, (key) => ({ key, status: 'assigned', assignment: attributesOf(matchId, assignment) }))
      })
      onMatchEnd(on, (matchId) => {
        const keys = playing.get(matchId) ?? []
        playing.delete(matchId)
        report(keys, (key) => ({ key, status: 'ended', reason: 'over' }))
      })
      on('expired', ({ ticket }) => report([ticket.id], (key) => ({ key, status: 'ended', reason: 'expired' })))
      on('cancelled', ({ ticket, reason }) => report([ticket.id], (key) => ({ key, status: 'ended', reason })))
    },
  }
}

/**
 * Maximum number of ports in a lobby's attributes. A lobby has at most 32 attributes, two of which are `match` and
 * `host`.
 */
const MOST_PORTS = 30

/** Returns an assignment as attributes: `{ match: …, host: …, 'port.game': 'host:31000' }`. */
function attributesOf(matchId: string, { fqdn, ports }: Assignment): Attributes {
  const links = Object.entries(ports).slice(0, MOST_PORTS)
  return {
    match: matchId,
    host: fqdn,
    ...Object.fromEntries(links.map(([name, { link, external }]) => [`port.${name}`, link ?? `${fqdn}:${external}`])),
  }
}

interface OpenLobbiesOptions extends Pick<MatchingOptions, 'config' | 'client' | 'webhookUrl' | 'clock' | 'onProblem'> {
  readonly service: TicketService
  readonly matching: Pick<Matching, 'on' | 'shared'>
}

/** The lobbies of the program, and their relay sessions and parties. */
export type OpenLobbies = NonNullable<Awaited<ReturnType<typeof openLobbies>>>

/** Opens the lobbies; undefined if the configuration enables none. */
export async function openLobbies(options: OpenLobbiesOptions) {
  const { config, client, service, matching, webhookUrl, clock, onProblem } = options
  const { enabled, startAs, queue, rules, limits } = config.lobbies
  if (!enabled) return undefined
  // The package is imported lazily, because many programs have no lobbies.
  const { createLobbies, createLobbyApi, createRelaySessions } = await import('@muster/relay')
  const report = (during: string) => (error: unknown) => onProblem(during, error)
  const shared = { store: matching.shared.lobbies, limitStore: matching.shared.limitStore, rules, limits, clock }
  const keepLobbies = matching.shared.lobbies !== undefined
  const opened = (lobbies: Lobbies, relay?: RelaySessions) => {
    lobbies.events.on('problem', ({ during, error }) => onProblem(`lobbies ${during}`, error))
    return {
      lobbies,
      createApi: (api: LobbyApiOptions) => createLobbyApi(lobbies, api),
      webhook: relay?.webhook,
      close: async (timeoutMs: number) => {
        try {
          await lobbies.close({ keepLobbies, timeoutMs })
        } finally {
          await relay?.close({ timeoutMs })
        }
      },
    }
  }

  if (startAs === 'match') {
    const queueName = queue ?? config.queues[0]?.name ?? ''
    const parties = createLobbyParties(service, matching.on, queueName, report('lobbies'))
    const lobbies = createLobbies({ ...shared, matchmaker: parties.matchmaker })
    parties.reportTo(lobbies)
    return opened(lobbies)
  }

  // Cannot happen, because the configuration check rejects relay lobbies without the deployment service.
  if (client === undefined) return undefined
  const relay = createRelaySessions({
    client: client.relays,
    owner: config.name.replaceAll('_', '-'),
    webhookBaseUrl: webhookUrl,
    ...config.relay,
    clock,
  })
  relay.events.on('problem', ({ during, error }) => onProblem(`relay ${during}`, error))
  return opened(createLobbies({ ...shared, relay }), relay)
}
