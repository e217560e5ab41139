import type { Clock } from '@muster/core/clock'
import type { Ticket, TicketService } from '@muster/matchmaker'
import { createJoinTokens, createServerKeys, type JoinTokenOptions } from '@muster/matchmaker/internal'
import { LRUCache } from 'lru-cache'
import { SECRET_KEY } from '../notes.js'
import { PartitionUnavailable } from '../partition-errors.js'
import { serverIn } from '../rpc.js'
import type { PartitionStore } from '../store/index.js'
import type { RpcClient } from './rpc-client.js'
import { createServerWaits, type ServerWaits } from './server-waits.js'

type Promised<Name extends keyof TicketService> = (
  ...input: Parameters<TicketService[Name]>
) => Promise<Awaited<ReturnType<TicketService[Name]>>>

/** What a follower does for game servers. */
interface ServerService extends Pick<ServerWaits, 'noticed' | 'missed' | 'close'> {
  readonly isServerSecret: Promised<'isServerSecret'>
  readonly registerServer: Promised<'registerServer'>
  readonly reportServer: Promised<'reportServer'>
  readonly waitForServerOrders: Promised<'waitForServerOrders'>
  readonly joinToken: TicketService['joinToken']
  readonly joinKeys: Promised<'joinKeys'>
  /** Reads what the join tokens of these tickets are made with. */
  prepare(tickets: readonly Ticket[]): Promise<void>
}

interface ServerServiceOptions {
  readonly ask: RpcClient['ask']
  readonly store: Pick<PartitionStore, 'readNotes'>
  readonly clock: Clock
  readonly joinTokens: JoinTokenOptions
  /** The master secret of the servers' tokens; undefined: that of the partition. */
  readonly serverSecret: string | undefined
}

/** Tokens that the leader has known lately, and milliseconds for which it is not asked again (our choice). */
const KNOWN = 10_000
const KNOWN_MS = 30_000

export function createServerService(options: ServerServiceOptions): ServerService {
  const { ask, store, clock, joinTokens, serverSecret } = options
  const waits = createServerWaits(clock)
  /** Until when a token counts as that of a server, in epoch milliseconds. */
  const known = new LRUCache<string, number>({ max: KNOWN })

  /** Shared by all processes, and written before the first server is created. */
  let master = serverSecret
  /** Whether it is read again before it is used next. */
  let isStale = serverSecret === undefined
  const masterSecret = () => {
    if (master === undefined) throw new PartitionUnavailable('No process has led yet, so the servers have no secret.')
    return master
  }
  /** Keys remember what is derived from the secret, so another secret has others. */
  const createKeys = () => ({
    ...createServerKeys(masterSecret),
    ...createJoinTokens(joinTokens, masterSecret, clock),
  })
  let keys = createKeys()
  const readSecret = async (): Promise<void> => {
    if (!isStale) return
    const [note] = await store.readNotes([SECRET_KEY])
    const read = note ?? undefined
    if (read !== master) {
      master = read
      keys = createKeys()
    }
    isStale = read === undefined
  }

  return {
    noticed: waits.noticed,
    missed: () => {
      // The store may have lost its data. Tokens are made without a wait, so the secret stays until it is read again.
      isStale = serverSecret === undefined
      waits.missed()
    },
    close: waits.close,
    joinToken: (ticket, playerId) => keys.joinToken(ticket, playerId),
    joinKeys: async () => {
      if (joinTokens.alg === 'EdDSA') await readSecret()
      return keys.joinKeys()
    },
    prepare: async (tickets) => {
      if (tickets.some(({ assignment }) => assignment !== undefined)) await readSecret()
    },

    /** A guess is refused here. The leader says whether the server of a token that we made is still there. */
    isServerSecret: async (token) => {
      await readSecret()
      if (keys.credentialIn(token) === undefined) return false
      if ((known.get(token) ?? -Infinity) > clock.now()) return true
      const isKnown = await ask('isServerSecret', token)
      if (isKnown) known.set(token, clock.now() + KNOWN_MS)
      return isKnown
    },
    registerServer: (token, registration) => ask('registerServer', token, registration),
    reportServer: (token, report) => {
      waits.reporting(serverIn(token))
      return ask('reportServer', token, report)
    },
    waitForServerOrders: async (token, { instance, version, waitMs, signal }) => {
      await waits.wait(serverIn(token), { version, waitMs, signal })
      return ask('waitForServerOrders', token, { instance, version, waitMs: 0 })
    },
  }
}
