import type { Clock } from '@muster/core/clock'
import { growingTo } from '@muster/core/internal'
import type { Ticket, TicketService } from '@muster/matchmaker'
import { createJoinTokens, createServerKeys, type JoinTokenOptions } from '@muster/matchmaker/internal'
import { LRUCache } from 'lru-cache'
import { SECRET_KEY } from '../notes.js'
import { PartitionUnavailable } from '../partition-errors.js'
import { serverIn } from '../rpc.js'
import type { PartitionStore } from '../store/index.js'
import type { RpcClient } from './rpc-client.js'
import { createServerWaits } from './server-waits.js'

/** The parameters of a method of the service. */
type Given<Name extends keyof TicketService> = Parameters<TicketService[Name]>

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

/** What a follower does for game servers. */
export function createServerService(options: ServerServiceOptions) {
  const { ask, store, clock, joinTokens, serverSecret } = options
  const waits = createServerWaits(clock)
  /** Until when a token counts as that of a server, in epoch milliseconds. */
  const known = new LRUCache<string, number>(growingTo(KNOWN))

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
    joinToken: (...[ticket, playerId]: Given<'joinToken'>) => keys.joinToken(ticket, playerId),
    joinKeys: async () => {
      if (joinTokens.alg === 'EdDSA') await readSecret()
      return keys.joinKeys()
    },
    /** Reads what the join tokens of these tickets are made with. */
    prepare: async (tickets: readonly Ticket[]) => {
      if (tickets.some(({ assignment }) => assignment !== undefined)) await readSecret()
    },

    /** A guess is refused here. The leader says whether the server of a token that we made is still there. */
    isServerSecret: async (token: string) => {
      await readSecret()
      if (keys.credentialIn(token) === undefined) return false
      if ((known.get(token) ?? -Infinity) > clock.now()) return true
      const isKnown = await ask('isServerSecret', token)
      if (isKnown) known.set(token, clock.now() + KNOWN_MS)
      return isKnown
    },
    reportServer: (...[token, report]: Given<'reportServer'>) => {
      waits.reporting(serverIn(token))
      return ask('reportServer', token, report)
    },
    waitForServerOrders: async (...[token, { instance, version, waitMs, signal }]: Given<'waitForServerOrders'>) => {
      await waits.wait(serverIn(token), { version, waitMs, signal })
      return ask('waitForServerOrders', token, { instance, version, waitMs: 0 })
    },
  }
}
