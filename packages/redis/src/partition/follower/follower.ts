import { type Clock, dateOf } from '@muster/core/clock'
import { Problem } from '@muster/core/http'
import { type Ticket, type TicketService, AlreadyAssigned, UnknownTicket } from '@muster/matchmaker'
import {
  createWebhookDoor,
  type JoinTokenOptions,
  isSettled,
  noSuchWebhook,
  assertPlayerOfTicket,
  type TicketChecker,
} from '@muster/matchmaker/internal'
import { viewOf } from '../notes.js'
import { PartitionUnavailable } from '../partition-errors.js'
import { type Answer, type Command, decodeNotice, type Input, PROMISES } from '../rpc.js'
import { RedisError, repeatUntil, RETRY_MS } from '../../connection/index.js'
import type { Changes, PartitionStore, StoredTicket } from '../store/index.js'
import { createTicketCreation } from './create-tickets.js'
import { createFollowerWaits, createWaits, type FollowerWaitsOptions } from './follower-waits.js'
import { createPresenceBatches } from './presence.js'
import { createRpcClient, type RpcClient } from './rpc-client.js'
import { createServerService } from './server-service.js'

/** The store requests of a follower for which a client waits. */
type FollowerStore = Pick<
  PartitionStore,
  'create' | 'createTogether' | 'read' | 'cancel' | 'playerTickets' | 'readNotes'
>

/** The store, whose failures tell callers that they may try again. */
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
    readNotes: (keys) => answered(store.readNotes(keys)),
    playerTickets: (playerIds) => answered(store.playerTickets(playerIds)),
  }
}

const LONGEST_PATH = 1024

/**
 * Forwards the service's webhooks to the leader, which knows the valid paths. A webhook is only a hint, so a lost one
 * costs time and nothing else.
 * @param ask sends it to the leader, and resolves with the status of its answer.
 */
const createWebhook = (clock: Clock, ask: (path: string, body: string) => Promise<number>) =>
  createWebhookDoor({
    clock,
    find: (pathname) => (pathname.length > LONGEST_PATH ? undefined : pathname),
    take: async (pathname, body) => {
      const status = await ask(pathname, new TextDecoder().decode(body)).catch(() => {
        throw new Problem(503, 'no-leader', 'No leader takes webhooks now. Retry later.')
      })
      if (status !== 204) throw noSuchWebhook()
    },
  })

interface TailOptions {
  readonly store: Pick<PartitionStore, 'changes'>
  /** Name of this follower. */
  readonly follower: string
  readonly clock: Clock
  readonly heard: (changes: Changes) => void
  /** Some changes may not have been heard. */
  readonly missed: () => void
  readonly problem: (error: unknown) => void
}

/** Milliseconds that a call may wait for a change. */
const BLOCK_MS = 5000
/**
 * Pauses between looks after a failure: everything may have changed for some seconds, because the reader of the other
 * end may have been behind too. The first look comes as the reading begins again.
 */
const RECHECKS_MS = [RETRY_MS, 1000, 1000, 1000]

/** Follows what changes in the partition, until it is closed. */
export function createTail({ store, follower, clock, heard, missed, problem }: TailOptions) {
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
      missed()
    }
    isUnsure = false
  }

  const read = async () => {
    const changes: Changes = await store.changes(cursor, follower, { blockMs: BLOCK_MS, signal })
    const isFirst = cursor === undefined
    cursor = changes.cursor
    if (changes.gap || isFirst) missed()
    heard(changes)
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

/** All commands as methods, which ask the leader. Those that a process answers by itself are to be spread after it. */
const allAsking = (ask: RpcClient['ask']) =>
  Object.fromEntries(
    Object.keys(PROMISES).map((command) => [
      command,
      (...input: never) => ask(command as Command, ...(input as Input<Command>)),
    ]),
  ) as { readonly [Name in Command]: (...input: Input<Name>) => Promise<Answer<Name>> }

/** The methods that a process answers at once, from its own knowledge. */
type AtOnce =
  | 'playerMayState'
  | 'readsLatencies'
  | 'largestParty'
  | 'presenceWithinMs'
  | 'queueNames'
  | 'browserTerms'
  | 'dateOf'
  | 'estimateWait'
  | 'joinToken'

/** The service of every process of a partition, leader or follower: all that the ticket API needs, and hints. */
export type FollowerService = {
  readonly [Name in Exclude<keyof TicketService, AtOnce>]: Promised<TicketService[Name]>
} & Pick<TicketService, AtOnce> & {
    /** Notes that a deployment may have changed, as a webhook says. */
    readonly hint: (requestId: string) => Promise<void>
    /** Answers the service's calls about deployments, as `Matchmaker.webhook`. Never rejects. */
    readonly webhook: (request: Request) => Promise<Response>
  }

interface FollowerOptions {
  readonly store: PartitionStore
  readonly checker: TicketChecker
  /** Random name of this process. */
  readonly name: string
  readonly clock: Clock
  readonly newId: () => string
  /** Milliseconds for which clients of a queue may be away, by the queues of this process or by those in force. */
  readonly presenceWithinMs: TicketService['presenceWithinMs']
  /** Milliseconds to wait for an answer of the leader. */
  readonly askTimeoutMs: number
  readonly locate: FollowerWaitsOptions['locate']
  readonly joinTokens: JoinTokenOptions
  /** How servers are listed. */
  readonly browser: ReturnType<TicketService['browserTerms']>
  /** The master secret of the servers' tokens; undefined: that of the partition. */
  readonly serverSecret: string | undefined
  /** Called with each ticket that this process has created. */
  readonly created: (ticket: Ticket) => void
  /** Called with the changes of the partition, and with replies that answer no RPC request. */
  readonly heard: (changes: Changes) => void
  readonly problem: (error: unknown) => void
}

export function createFollower(options: FollowerOptions) {
  const { store: shared, checker, name, clock, newId, askTimeoutMs, locate, problem } = options
  const store = reachableStore(shared)
  const waits = createWaits()
  let closed: Error | undefined
  const { ask, heard, ...asking } = createRpcClient({
    post: (text) => shared.ask(text),
    follower: name,
    clock,
    newId,
    timeoutMs: askTimeoutMs,
    problem,
  })
  const {
    noticed,
    missed,
    prepare,
    close: closeServers,
    ...serverService
  } = createServerService({
    ask,
    store,
    clock,
    joinTokens: options.joinTokens,
    serverSecret: options.serverSecret,
  })
  const tail = createTail({
    store: shared,
    follower: name,
    clock,
    heard: (changes) => {
      const { tickets, replies } = changes
      waits.wake(tickets.map(({ ticketId }) => ticketId))
      heard(replies)
      for (const text of replies) noticed(decodeNotice(text))
      options.heard(changes)
    },
    missed: () => {
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

  const service: FollowerService = {
    ...allAsking(ask),
    ...serverService,
    playerMayState: (queue) => checker.playerMayState(queue),
    readsLatencies: (queue) => checker.readsLatencies(queue),
    largestParty: (queue) => checker.largestParty(queue),
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
      // A ticket that ended between the two reads is none of the player's any more.
      const open = tickets.filter(({ status }) => status !== 'CANCELLED')
      await prepare(open)
      return { tickets: open.toSorted((one, other) => one.createdAt - other.createdAt) }
    },
    waitForChange: async (ticketId, { version, signal, until }) => {
      for (;;) {
        signal?.throwIfAborted()
        if (closed !== undefined) throw closed
        // Begun before the ticket is read, so that no change falls in between.
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

    notePresence: async (reports) => presence.note(reports),
    estimateWait: followerWaits.estimateWait,
    estimateQueueWaits: followerWaits.estimateQueueWaits,
    createMatch,
    createBackfill: (input) => ask('createBackfill', { ...input, id: input.id ?? newId() }),
    webhook: createWebhook(clock, (path, body) => ask('webhook', path, body)),
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
