import { StoreUnavailable } from '@muster/core'
import type { Clock } from '@muster/core/clock'
import { backoffMs, manyWaitOn } from '@muster/core/internal'
import {
  type Assignment,
  type Store,
  type Ticket,
  type TicketService,
  AlreadyAssigned,
  UnknownTicket,
} from '@muster/matchmaker'
import type {
  Attributes,
  Lobbies,
  LobbyApiOptions,
  LobbyMatchmaker,
  LobbyStore,
  MatchReport,
  RelaySessions,
} from '@muster/relay'
import { type Matching, type MatchingOptions, serviceClock } from './matching.js'

/** Pauses between two attempts to report to a lobby or to withdraw its ticket, while the store fails. */
const RETRY = { baseMs: 500, capMs: 10_000, jitter: 0 }

/**
 * Keeps the keys of started lobbies whose tickets have no server yet. In a folder the tickets outlive the process, but
 * the lobbies do not.
 */
function createKeptKeys(store: Pick<Store, 'records'> | undefined) {
  const keys = new Set<string>()
  const recordOf = (key: string) => ({ key, value: '1' })
  const records = store?.records('lobby', () => Array.from(keys, recordOf))
  for (const { key } of records?.stored() ?? []) keys.add(key)
  return {
    /** The keys of an earlier process, whose lobbies are lost. */
    lost: [...keys],
    add: (key: string) => {
      if (records === undefined) return
      records.write([recordOf(key)])
      keys.add(key)
    },
    remove: (key: string) => {
      if (keys.delete(key)) records?.remove(key)
    },
  }
}

/**
 * Passes started lobbies to the matchmaker. The players of a lobby become one ticket, whose id is the key of the start.
 */
function createLobbyParties(
  service: TicketService,
  { on, onTakeover, matchmaker: own, shared, store }: OpenLobbiesOptions['matching'],
  queue: string,
  clock: Clock,
  onProblem: (error: unknown) => void,
) {
  const closing = manyWaitOn()
  const kept = createKeptKeys(shared.lobbies === undefined ? store : undefined)
  /** Repeats work until it succeeds or the signal aborts. The first failure is a problem. */
  const repeated = async (work: () => Promise<unknown>, signal: AbortSignal): Promise<void> => {
    for (let failures = 1; !signal.aborted; failures += 1) {
      try {
        return void (await work())
      } catch (error) {
        if (failures === 1) onProblem(error)
        await clock.sleep(backoffMs(failures, 0, RETRY), signal).catch(() => {})
      }
    }
  }
  /** Reports the match of a ticket that could not be withdrawn. Its lobby must not stay open beside the match. */
  let reportAssigned = async (_ticketId: string): Promise<void> => {}
  const withdraw = async (ticketId: string): Promise<void> => {
    try {
      await service.cancelTicket(ticketId)
    } catch (error) {
      if (error instanceof AlreadyAssigned) return reportAssigned(ticketId)
      // If the ticket has ended, nothing remains to be cancelled.
      if (!(error instanceof UnknownTicket)) throw error
    }
  }
  const matchmaker: LobbyMatchmaker = {
    handOver: async ({ key, players }, { signal }) => {
      try {
        kept.add(key)
        await service.createTicket({ id: key, queue, players: players.map(({ id, ip }) => ({ id, ip })) })
      } catch (error) {
        // The ticket may have been created although the store has not answered. No lobby would follow it.
        if (error instanceof StoreUnavailable) await repeated(() => withdraw(key), signal)
        kept.remove(key)
        throw error
      }
      return { reference: key }
    },
    withdraw,
  }
  return {
    matchmaker,
    /** Ends the attempts to report. */
    close: () => closing.abort(),
    /** Reports what happens to the lobbies' tickets and matches back to the lobbies. */
    reportTo: (lobbies: Lobbies) => {
      /** Repeats a report until the store takes it. A late report of a past start has no effect. */
      const deliver = (one: MatchReport) =>
        repeated(async () => {
          try {
            await lobbies.reportMatch(one)
          } catch (error) {
            if (error instanceof StoreUnavailable) throw error
            onProblem(error)
          }
        }, closing.signal)
      const report = (keys: readonly string[], ofKey: (key: string) => MatchReport) => {
        for (const key of keys) {
          kept.remove(key)
          void deliver(ofKey(key))
        }
      }
      const withdrawLost = async (key: string) => {
        await own?.ready()
        await withdraw(key)
        kept.remove(key)
      }
      // Nobody follows these tickets any more, so no server must be started for them.
      for (const key of kept.lost) void repeated(() => withdrawLost(key), closing.signal)
      const reportNow = async (key: string, send: (one: MatchReport) => Promise<unknown>) => {
        const one = reportOf(key, await service.getTicket(key))
        if (one !== undefined) await send(one)
      }
      reportAssigned = (key) => reportNow(key, lobbies.reportMatch)
      /** Reports what the previous leader may have left unreported. */
      const catchUp = async () => {
        for (const key of await lobbies.matchKeys()) await reportNow(key, deliver)
      }
      onTakeover?.(() => void repeated(catchUp, closing.signal))
      // A lobby recognizes its own ticket by the key.
      on('serverAssigned', ({ matchId, tickets, assignment }) => {
        const keys = tickets.map(({ id }) => id)
        report(keys, (key) => ({ key, status: 'assigned', assignment: attributesOf(matchId, assignment) }))
      })
      on('matchOver', ({ ticketIds }) => report(ticketIds, (key) => ({ key, status: 'ended', reason: 'over' })))
      on('expired', ({ ticket }) => report([ticket.id], (key) => ({ key, status: 'ended', reason: 'expired' })))
      on('cancelled', ({ ticket, reason }) => report([ticket.id], (key) => ({ key, status: 'ended', reason })))
    },
  }
}

/** Returns what to report about the ticket of a start; undefined while it waits. */
function reportOf(key: string, ticket: Ticket | undefined): MatchReport | undefined {
  const { status, cancelReason, ended, matchId, assignment } = ticket ?? {}
  if (ticket === undefined || ended !== undefined) return { key, status: 'ended', reason: 'over' }
  if (status === 'CANCELLED') return { key, status: 'ended', reason: cancelReason ?? 'cancelled' }
  if (matchId === undefined || assignment === undefined) return undefined
  return { key, status: 'assigned', assignment: attributesOf(matchId, assignment) }
}

/**
 * Maximum number of ports in a lobby's attributes. A lobby has at most 32 attributes, two of which are `match` and
 * `host`.
 */
const MOST_PORTS = 30

/** Characters that the name of an attribute cannot have. A port may have any name. */
const NOT_OF_NAME = /[^\w.-]/g
/** Maximum length of a port's name in the name of an attribute, which has at most 64 characters. */
const LONGEST_PORT = 59

/**
 * Returns an assignment as attributes: `{ match: …, host: …, 'port.game': 'host:31000' }`. In the name of a port, each
 * character that the name of an attribute cannot have becomes `_`.
 */
function attributesOf(matchId: string, { fqdn, ports }: Assignment): Attributes {
  const links = Object.entries(ports).slice(0, MOST_PORTS)
  return {
    match: matchId,
    host: fqdn,
    ...Object.fromEntries(
      links.map(([name, { link, external }]) => [
        `port.${name.replaceAll(NOT_OF_NAME, '_').slice(0, LONGEST_PORT)}`,
        link ?? `${fqdn}:${external}`,
      ]),
    ),
  }
}

/**
 * Returns the store without due lobbies until the matchmaker answers, because its time is not known before. This
 * process may wait for the previous one to end.
 */
function dueOnceTimed(store: LobbyStore, service: Pick<TicketService, 'getTicket'>): LobbyStore {
  let isTimed = false
  const answers = async () => {
    await service.getTicket('none')
    return true
  }
  return {
    ...store,
    due: async (now, limit) => {
      isTimed ||= await answers().catch(() => false)
      return isTimed ? store.due(now, limit) : []
    },
  }
}

interface OpenLobbiesOptions extends Pick<MatchingOptions, 'config' | 'client' | 'webhookUrl' | 'clock' | 'onProblem'> {
  readonly service: TicketService
  readonly matching: Pick<Matching, 'on' | 'onTakeover' | 'shared' | 'matchmaker' | 'store'>
}

/** The lobbies of the program, and their relay sessions and parties. */
export type OpenLobbies = NonNullable<Awaited<ReturnType<typeof openLobbies>>>

/** Opens the lobbies; undefined if the configuration enables none. */
export async function openLobbies(options: OpenLobbiesOptions) {
  const { config, client, service, matching, webhookUrl, onProblem } = options
  const clock = matching.shared.lobbies === undefined ? options.clock : serviceClock(service, options.clock)
  const { enabled, startAs, queue, rules, limits } = config.lobbies
  if (!enabled) return undefined
  // The package is imported lazily, because many programs have no lobbies.
  const { createLobbies, createLobbyApi, createRelaySessions } = await import('@muster/relay')
  const report = (during: string) => (error: unknown) => onProblem(during, error)
  const store = matching.shared.lobbies && dueOnceTimed(matching.shared.lobbies, service)
  const shared = { store, limitStore: matching.shared.limitStore, rules, limits, clock }
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
    const parties = createLobbyParties(service, matching, queueName, clock, report('lobbies'))
    const lobbies = createLobbies({ ...shared, matchmaker: parties.matchmaker })
    parties.reportTo(lobbies)
    const { close, ...rest } = opened(lobbies)
    return {
      ...rest,
      close: (timeoutMs: number) => {
        parties.close()
        return close(timeoutMs)
      },
    }
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
  relay.events.on('deleteFailed', ({ sessionId, error }) =>
    onProblem('relay delete', new Error(`the relay session ${sessionId} could not be deleted: ${error}`)),
  )
  relay.events.on('doubtful', ({ error }) =>
    onProblem('relay create', new Error(`a relay session may exist whose create was not answered: ${error}`)),
  )
  return opened(createLobbies({ ...shared, relay }), relay)
}
