import { InvalidInput, NotFound, parseDeploymentWebhook } from '@muster/core'
import { type Clock, dateOf } from '@muster/core/clock'
import { Problem } from '@muster/core/http'
import { type Ticket, type TicketService, AlreadyAssigned, NothingToAccept, UnknownTicket } from '@muster/matchmaker'
import {
  type LocalCommandName,
  createWebhookEndpoint,
  LEADER_COMMANDS,
  isSettled,
  noSuchWebhook,
  assertPlayerOfTicket,
  type TicketChecker,
  webhookTokenIn,
} from '@muster/matchmaker/internal'
import { viewOf } from '../notes.js'
import { notEverywhere, type OwnQueues } from '../own-queues.js'
import { PartitionUnavailable } from '../partition-errors.js'
import { type RpcAnswer, type RpcCommand, decodeNotice, type RpcInput } from '../rpc.js'
import { RedisError, repeatUntil, RETRY_MS } from '../../connection/index.js'
import type { Changes, PartitionStore, StoredTicket } from '../store/index.js'
import { createTicketCreation } from './create-tickets.js'
import { createFollowerWaits, createWaits, type FollowerWaitsOptions } from './follower-waits.js'
import { createPresenceBatches } from './presence.js'
import { createRpcClient, type RpcClient } from './rpc-client.js'
import { createServerService } from './server-service.js'

/** The store requests of a follower on behalf of a client. */
type FollowerStore = Pick<
  PartitionStore,
  'create' | 'createTogether' | 'read' | 'cancel' | 'playerTickets' | 'readPartitionRecords'
>

/** Wraps the store so that its failures tell callers to retry. */
function reachableStore(store: FollowerStore): FollowerStore {
  const answered = async <T>(answer: Promise<T>): Promise<T> => {
    try {
      return await answer
    } catch (error) {
      if (!(error instanceof RedisError)) throw error
      throw new PartitionUnavailable(`The partition cannot be reached: ${error.message}`, { cause: error })
    }
  }
  return {
    create: (tickets) => answered(store.create(tickets)),
    createTogether: (tickets) => answered(store.createTogether(tickets)),
    read: (ids) => answered(store.read(ids)),
    cancel: (id, players, by) => answered(store.cancel(id, players, by)),
    readPartitionRecords: (keys) => answered(store.readPartitionRecords(keys)),
    playerTickets: (playerIds) => answered(store.playerTickets(playerIds)),
  }
}

/** Maximum characters of a webhook's path and of its content that are forwarded (our choice). */
const LONGEST_PATH = 1024
const LONGEST_HINT = 1024

const noLeader = () => new Problem(503, 'no-leader', 'No leader takes webhooks now. Retry later.')

interface WebhookOptions {
  readonly clock: Clock
  /** True if Muster has created this token for a server. */
  readonly isGenuine: (token: string) => Promise<boolean>
  /** Sends a webhook to the leader, and resolves with the status of the response. */
  readonly ask: (path: string, body: string) => Promise<number>
  readonly failed: (error: unknown) => void
}

/**
 * Forwards the service's webhooks to the leader, which knows the servers. A webhook is only a hint, so a lost one costs
 * time and nothing else. Anyone may send webhooks, and Redis keeps what is forwarded. So this process rejects paths
 * without a genuine token, and forwards only the parts of a body that the leader reads.
 */
const createWebhook = ({ clock, isGenuine, ask, failed }: WebhookOptions) =>
  createWebhookEndpoint({
    clock,
    find: async (pathname) => {
      if (pathname.length > LONGEST_PATH) return undefined
      const isKnown = await isGenuine(webhookTokenIn(pathname)).catch(() => {
        throw noLeader()
      })
      return isKnown ? pathname : undefined
    },
    accept: async (pathname, body) => {
      const status = await ask(pathname, hintIn(body)).catch(() => {
        throw noLeader()
      })
      if (status !== 204) throw noSuchWebhook()
    },
    failed,
  })

/** Returns the parts of a webhook's body that the leader reads, as JSON. Empty if the body is unreadable. */
function hintIn(body: Uint8Array): string {
  try {
    const hint = JSON.stringify(parseDeploymentWebhook(body))
    return hint.length > LONGEST_HINT ? '' : hint
  } catch {
    return ''
  }
}

interface FollowTailOptions {
  readonly store: Pick<PartitionStore, 'changes'>
  /** Name of this follower. */
  readonly follower: string
  readonly clock: Clock
  readonly onChanges: (changes: Changes) => void
  /** Called when some changes may have been missed. */
  readonly onMissed: () => void
  readonly problem: (error: unknown) => void
}

/** Maximum milliseconds that a call waits for a change. */
const BLOCK_MS = 5000
/**
 * Milliseconds before each check after a failure. The checks go on for some seconds, because the leader may have lost
 * its connection too, and then catches up late.
 */
const RECHECKS_MS = [RETRY_MS, 1000, 1000, 1000]

/** Follows the changes of the partition until it is closed. */
export function createTail({ store, follower, clock, onChanges, onMissed, problem }: FollowTailOptions) {
  const closing = new AbortController()
  const { signal } = closing
  let running: Promise<void> | undefined
  let cursor: string | undefined
  let isUnsure = false

  const recheck = async () => {
    if (isUnsure) return
    isUnsure = true
    for (const pauseMs of RECHECKS_MS) {
      await clock.sleep(pauseMs, signal).catch(() => {})
      if (signal.aborted) return
      onMissed()
    }
    isUnsure = false
  }

  const read = async () => {
    const changes: Changes = await store.changes(cursor, follower, { blockMs: BLOCK_MS, signal })
    const isFirst = cursor === undefined
    cursor = changes.cursor
    if (changes.gap || isFirst) onMissed()
    onChanges(changes)
  }
  const failed = (error: unknown) => {
    problem(error)
    void recheck()
  }

  return {
    start: () => void (running ??= repeatUntil(read, { signal, clock, failed })),
    close: async () => {
      closing.abort(new Error('The partition is closed.'))
      await running
    },
  }
}

type Promised<Method> = Method extends (...input: infer Input) => infer Answer
  ? (...input: Input) => Promise<Awaited<Answer>>
  : Method

/**
 * Returns all leader commands as methods that query the leader. Methods that a process answers itself must override
 * them.
 */
const allAsking = (ask: RpcClient['ask']) =>
  Object.fromEntries(
    Object.keys(LEADER_COMMANDS).map((command) => [
      command,
      (...input: never) => ask(command as RpcCommand, ...(input as RpcInput<RpcCommand>)),
    ]),
  ) as { readonly [Name in RpcCommand]: (...input: RpcInput<Name>) => Promise<RpcAnswer<Name>> }

/**
 * The service of every process of a partition, leader or follower: all methods that the ticket API needs, and two that
 * report changes of deployments.
 */
export type FollowerService = {
  readonly [Name in Exclude<keyof TicketService, LocalCommandName>]: Promised<TicketService[Name]>
} & Pick<TicketService, LocalCommandName> & {
    /** Reports that a deployment may have changed, e.g. after a webhook. */
    readonly hint: (requestId: string) => Promise<void>
    /** Handles the service's webhooks about deployments, like `Matchmaker.webhook`. Never rejects. */
    readonly webhook: (request: Request) => Promise<Response>
  }

interface FollowerOptions {
  readonly store: PartitionStore
  readonly checker: TicketChecker
  /** Random name of this process. */
  readonly name: string
  readonly clock: Clock
  readonly newId: () => string
  /** Milliseconds that clients of a queue may be away, by this process's queues or the current ones of the leader. */
  readonly presenceWithinMs: TicketService['presenceWithinMs']
  /** Milliseconds to wait for a reply of the leader. */
  readonly askTimeoutMs: number
  readonly locate: FollowerWaitsOptions['locate']
  /** How servers are listed. */
  readonly browser: ReturnType<TicketService['browserTerms']>
  /** The master secret of the servers' tokens; undefined to use the partition's own secret. */
  readonly serverSecret: string | undefined
  /** The queues and pools of this process, compared with those of the leader. */
  readonly own: Pick<
    OwnQueues,
    | 'assertAgreed'
    | 'assertNotOnlyAtLeader'
    | 'compared'
    | 'hasEnrolmentKey'
    | 'hasOtherPools'
    | 'hasOtherSecret'
    | 'hasPool'
    | 'hasQueue'
    | 'joinAlgorithm'
  >
  /** Called with each ticket that this process has created. */
  readonly created: (ticket: Ticket) => void
  /** Called with the changes of the partition, and with replies that belong to no RPC request. */
  readonly onChanges: (changes: Changes) => void
  readonly problem: (error: unknown) => void
}

export function createFollower(options: FollowerOptions) {
  const { store: shared, checker, own, name, clock, newId, askTimeoutMs, locate, problem } = options
  const store = reachableStore(shared)
  const waits = createWaits()
  let closed: Error | undefined
  const { ask, receive, ...asking } = createRpcClient({
    post: (text) => shared.ask(text),
    follower: name,
    clock,
    newId,
    timeoutMs: askTimeoutMs,
    problem,
  })
  const {
    isGenuine,
    noticed,
    missed,
    prepare,
    close: closeServers,
    ...serverService
  } = createServerService({
    ask,
    store,
    clock,
    serverSecret: options.serverSecret,
    hasOtherSecret: () => own.hasOtherSecret(),
    joinAlgorithm: () => own.joinAlgorithm(),
    compared: () => own.compared(),
  })
  const tail = createTail({
    store: shared,
    follower: name,
    clock,
    onChanges: (changes) => {
      const { tickets, replies } = changes
      waits.wake(tickets.map(({ ticketId }) => ticketId))
      receive(replies)
      for (const text of replies) noticed(decodeNotice(text))
      options.onChanges(changes)
    },
    onMissed: () => {
      waits.wakeAll()
      missed()
    },
    problem,
  })
  const presence = createPresenceBatches({ tell: (reports) => ask('notePresence', reports), clock, problem })
  const followerWaits = createFollowerWaits({ ask, locate, clock })
  const { createTickets, createMatch } = createTicketCreation({
    store,
    checker,
    assertAgreed: (queue) => own.assertAgreed(queue),
    created: (ticket, stored) => {
      if (stored !== undefined) followerWaits.note(stored, ticket)
      options.created(ticket)
    },
    clock,
  })

  const seen = (stored: StoredTicket): Ticket => {
    const ticket = viewOf(stored)
    followerWaits.note(stored, ticket)
    return ticket
  }
  const find = async (id: string): Promise<Ticket | undefined> => {
    const [stored] = await store.read([id])
    const ticket = stored && seen(stored)
    if (ticket !== undefined) await prepare([ticket])
    return ticket
  }
  const existing = async (id: string): Promise<Ticket> => {
    const ticket = await find(id)
    if (ticket === undefined) throw unknown(id)
    return ticket
  }

  /** Asks the leader, which does not know a ticket that ended before it led. */
  const answering = async (command: 'acceptMatch' | 'declineMatch', ...input: RpcInput<typeof command>) => {
    try {
      return await ask(command, ...input)
    } catch (error) {
      const [id] = input
      if (error instanceof UnknownTicket && (await find(id)) !== undefined) throw new NothingToAccept(id)
      throw error
    }
  }

  /** Asks the leader about a queue or pool. If the leader lacks it, `isOwn` decides whether the caller should retry. */
  const aboutOwn = async <T>(what: 'queue' | 'pool', asked: Promise<T>, isOwn: () => boolean): Promise<T> => {
    try {
      return await asked
    } catch (error) {
      throw error instanceof NotFound && isOwn() ? notEverywhere(what) : error
    }
  }

  const service: FollowerService = {
    ...allAsking(ask),
    ...serverService,
    playerMayState: (queue) => {
      own.assertNotOnlyAtLeader(queue)
      return checker.playerMayState(queue)
    },
    readsLatencies: (queue) => checker.readsLatencies(queue),
    largestParty: (queue) => {
      own.assertNotOnlyAtLeader(queue)
      return checker.largestParty(queue)
    },
    presenceWithinMs: options.presenceWithinMs,
    queueNames: () => checker.queueNames(),
    browserTerms: () => options.browser,
    dateOf: (at) => dateOf(clock, at),

    createTickets,
    createTicket: async (input) => {
      const [result] = await createTickets([input])
      if (result?.ticket === undefined) throw result?.error
      return result.ticket
    },
    getTicket: find,
    findPlayer: async (playerId) => {
      const [ids = []] = await store.playerTickets([playerId])
      const tickets = (await store.read(ids)).flatMap((stored) => (stored === undefined ? [] : [seen(stored)]))
      // A ticket that ended between the two reads no longer belongs to the player.
      const open = tickets.filter(({ status }) => status !== 'CANCELLED')
      await prepare(open)
      return { tickets: open.toSorted((one, other) => one.createdAt - other.createdAt) }
    },
    waitForChange: async (ticketId, { version, signal, until }) => {
      for (;;) {
        signal?.throwIfAborted()
        if (closed !== undefined) throw closed
        // Subscribed before the ticket is read, so that no change falls in between.
        const wait = waits.begin(ticketId)
        try {
          const ticket = await existing(ticketId)
          if (ticket.version !== version || isSettled(ticket, until)) return ticket
          await wait.changed(signal)
        } finally {
          wait.end()
        }
      }
    },
    cancelTicket: async (id, playerId) => {
      const ticket = await existing(id)
      if (playerId !== undefined) assertPlayerOfTicket(ticket, playerId)
      if (ticket.status === 'CANCELLED') return ticket
      const players = ticket.players.map((player) => player.id)
      const outcome = await store.cancel(id, players, playerId)
      if (outcome.kind === 'unknown') throw unknown(id)
      if (outcome.kind === 'cancelled') return existing(id)
      const late = await existing(id)
      throw new AlreadyAssigned(id, late.matchId ?? '')
    },

    acceptMatch: (...input) => answering('acceptMatch', ...input),
    declineMatch: (...input) => answering('declineMatch', ...input),
    // Redis keeps what is forwarded, and any caller's token may come here. So only a known key is forwarded.
    isEnrolmentKey: async (key) => {
      if (!own.hasEnrolmentKey(key)) return false
      if (await ask('isEnrolmentKey', key)) return true
      // The key is no guess: it is being added or removed, and not all processes know that yet.
      throw new PartitionUnavailable('The leading process does not have this enrolment key. Reload all processes.')
    },
    notePresence: async (reports) => presence.note(reports),
    estimateWait: followerWaits.estimateWait,
    estimateQueueWaits: followerWaits.estimateQueueWaits,
    createMatch,
    createBackfill: (input) => ask('createBackfill', { ...input, id: input.id ?? newId() }),
    pauseQueue: (queue) => aboutOwn('queue', ask('pauseQueue', queue), () => own.hasQueue(queue)),
    resumeQueue: (queue) => aboutOwn('queue', ask('resumeQueue', queue), () => own.hasQueue(queue)),
    pausePool: (pool, paused) => aboutOwn('pool', ask('pausePool', pool, paused), () => own.hasPool(pool)),
    startServer: async (request) => {
      try {
        return await ask('startServer', { ...request, id: request.id ?? newId() })
      } catch (error) {
        const isAboutPool = error instanceof InvalidInput && /^(pool$|attributes\.)/.test(error.field ?? '')
        throw isAboutPool && (await own.hasOtherPools()) ? notEverywhere('pool') : error
      }
    },
    webhook: createWebhook({ clock, isGenuine, ask: (path, body) => ask('webhook', path, body), failed: problem }),
  }

  return {
    service,
    start: tail.start,
    close: async (reason: Error) => {
      closed = reason
      asking.close(reason)
      await Promise.all([tail.close(), presence.close()])
      waits.wakeAll()
      closeServers()
    },
  }
}

const unknown = (id: string) =>
  new UnknownTicket(`There is no ticket ${JSON.stringify(id)}. It may have ended and been removed.`)
