import type { Clock } from '@muster/core/clock'
import { growingTo } from '@muster/core/internal'
import type { Ticket, TicketService } from '@muster/matchmaker'
import { createJoinTokens, createServerKeys } from '@muster/matchmaker/internal'
import { LRUCache } from 'lru-cache'
import { SECRET_KEY } from '../notes.js'
import { PartitionUnavailable } from '../partition-errors.js'
import type { JoinAlgorithm } from '../partition-options.js'
import { serverIn } from '../rpc.js'
import type { PartitionStore } from '../store/index.js'
import type { RpcClient } from './rpc-client.js'
import { createServerWaits } from './server-waits.js'

/** The parameters of a method of the service. */
type ServiceInput<Name extends keyof TicketService> = Parameters<TicketService[Name]>

interface ServerServiceOptions {
  readonly ask: RpcClient['ask']
  readonly store: Pick<PartitionStore, 'readPartitionRecords'>
  readonly clock: Clock
  /** The master secret of the servers' tokens; undefined to use the partition's own secret. */
  readonly serverSecret: string | undefined
  /** True if the leader has another secret. */
  readonly hasOtherSecret: () => boolean
  /** Returns the algorithm with which the leader's game servers check join tokens. */
  readonly joinAlgorithm: () => JoinAlgorithm
  /** Resolves once `hasOtherSecret` and `joinAlgorithm` are at most about a second old. */
  readonly compared: () => Promise<void>
}

/**
 * Maximum number of cached tokens that the leader has confirmed, and milliseconds until a token is checked again (our
 * choice).
 */
const KNOWN = 10_000
const KNOWN_MS = 30_000

/** Creates a follower's methods for game servers. */
export function createServerService(options: ServerServiceOptions) {
  const { ask, store, clock, serverSecret } = options
  const waits = createServerWaits(clock)
  /** Expiry of each known token of a server, in epoch milliseconds. */
  const known = new LRUCache<string, number>(growingTo(KNOWN))

  /** The master secret. All processes share it, and it is written before the first server is created. */
  let master = serverSecret
  /** True if the secret has to be read again before its next use. */
  let isStale = serverSecret === undefined
  const masterSecret = () => {
    if (master === undefined)
      throw new PartitionUnavailable(
        'No process has led yet, so the secret of the game servers does not exist. Retry later.',
      )
    return master
  }
  /** Creates keys from the secret. They cache what they derive from it, so another secret needs new keys. */
  const createKeys = (alg = options.joinAlgorithm()) => ({
    alg,
    ...createServerKeys(masterSecret),
    ...createJoinTokens({ alg }, masterSecret, clock),
  })
  let keys = createKeys()
  const readSecret = async (): Promise<void> => {
    if (!isStale) return
    const [note] = await store.readPartitionRecords([SECRET_KEY])
    const read = note ?? undefined
    if (read !== master) {
      master = read
      keys = createKeys()
    }
    isStale = read === undefined
  }

  /** Uses the leader's algorithm of join tokens, because game servers get it from the leader. */
  const followLeader = async (): Promise<void> => {
    await options.compared()
    if (options.joinAlgorithm() !== keys.alg) keys = createKeys()
  }
  const otherSecret = () =>
    new PartitionUnavailable('The leading process has another secret of game servers. Give all the same.')

  /** True if Muster has created this token. A guessed token is rejected by this process. */
  const isGenuine = async (token: string): Promise<boolean> => {
    await readSecret()
    return keys.credentialIn(token) !== undefined
  }

  return {
    isGenuine,
    noticed: waits.noticed,
    missed: () => {
      // The store may have lost its data. Tokens are created synchronously, so the old secret is used until it is read
      // again.
      isStale = serverSecret === undefined
      waits.missed()
    },
    close: waits.close,
    joinToken: (...[ticket, playerId]: ServiceInput<'joinToken'>) => keys.joinToken(ticket, playerId),
    joinKeys: async () => {
      await followLeader()
      if (keys.alg === 'EdDSA') await readSecret()
      return keys.joinKeys()
    },
    /**
     * Reads the secrets for the join tokens of these tickets.
     * @throws {PartitionUnavailable} if game servers would refuse the join tokens of this process
     */
    prepare: async (tickets: readonly Ticket[]) => {
      if (!tickets.some(({ assignment, ended }) => assignment !== undefined && ended === undefined)) return
      await followLeader()
      if (options.hasOtherSecret()) throw otherSecret()
      await readSecret()
    },

    /** Only the leader knows whether the server of a genuine token still exists. */
    isServerSecret: async (token: string) => {
      const mayBeKnown = await isGenuine(token)
      if (mayBeKnown && (known.get(token) ?? -Infinity) > clock.now()) return true
      const isKnown = mayBeKnown && (await ask('isServerSecret', token))
      if (isKnown) known.set(token, clock.now() + KNOWN_MS)
      // A server that is refused enrols anew, and its matches are lost. Another process may know its token.
      else if (options.hasOtherSecret()) throw otherSecret()
      return isKnown
    },
    reportServer: async (...[token, report]: ServiceInput<'reportServer'>) => {
      waits.reporting(serverIn(token))
      return ask('reportServer', token, report)
    },
    waitForServerOrders: async (
      ...[token, { instance, version, waitMs, signal }]: ServiceInput<'waitForServerOrders'>
    ) => {
      await waits.wait(serverIn(token), { version, waitMs, signal })
      return ask('waitForServerOrders', token, { instance, version, waitMs: 0 })
    },
  }
}
