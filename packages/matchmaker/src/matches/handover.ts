import { InvalidInput, MusterError } from '@muster/core'
import type { Clock } from '@muster/core/clock'
import { read } from '@muster/core/internal'
import type { Store } from '@muster/hosting'
import { type Allocator, matchViewOf, poolServerViewOf, type ResultOutbox } from '@muster/hosting/internal'
import { z } from 'zod'
import { MatchmakerClosed } from '../errors.js'
import {
  type PrivateSeat,
  type TicketRecord,
  coordinates,
  readTicketInput,
  type Ticket,
  type TicketStore,
} from '../tickets/index.js'
import type { MatchLifecycle } from './match-lifecycle.js'
import type { CloseOptions, ExportedTicket, Imported, Matchmaker, TicketSnapshot } from './matchmaker.js'

/**
 * The snapshot's shape. Tickets are validated later, one by one, so that an invalid ticket does not affect the others.
 */
const snapshotSchema = z.object({
  format: z.literal('muster-tickets-1'),
  exportedAt: z.number(),
  tickets: z.array(z.looseObject({})),
})

const privateSeat: z.ZodType<PrivateSeat> = z.strictObject({
  id: z.string(),
  team: z.string(),
  tickets: z.int().min(1),
  asks: z.boolean(),
})

const past = z.object({
  createdAt: z.number().min(0),
  attempts: z.int().min(0),
  privateSeat: privateSeat.optional(),
  place: coordinates.optional(),
})

/** Copies a player, because callers may change what they get, e.g. remove addresses before they log it. */
const copied = ({
  coordinates: at,
  latencies,
  attributes,
  roles,
  avoid,
  ...player
}: TicketRecord['players'][number]) => ({
  ...player,
  coordinates: at && { ...at },
  latencies: { ...latencies },
  attributes: Object.fromEntries(Object.entries(attributes).map(([name, value]) => [name, listCopied(value)])),
  roles: [...roles],
  avoid: [...avoid],
})
const listCopied = <Value>(value: Value): Value => (Array.isArray(value) ? ([...value] as Value) : value)

const exported = (record: TicketRecord): ExportedTicket => ({
  id: record.id,
  queues: record.queues,
  players: record.players.map(copied),
  priority: record.priority,
  createdAt: record.createdAt,
  attempts: record.attempts,
  privateSeat: record.privateSeat,
  place: record.place && { ...record.place },
})

interface Handover {
  readonly tickets: TicketStore
  readonly clock: Clock
  /** Checks that the matchmaker is open. @throws {MatchmakerClosed} */
  readonly assertNotClosed: () => void
}

/** Creates the commands that move waiting tickets from one matchmaker to another. */
export function createHandover({
  tickets,
  clock,
  assertNotClosed,
}: Handover): Pick<Matchmaker, 'exportTickets' | 'importTickets'> {
  const take = (given: ExportedTicket): Ticket => {
    const { id, queues, players, priority } = given
    const before = read(past, given, (field, fieldAndFault) => new InvalidInput(`ticket: ${fieldAndFault}`, { field }))
    const checked = readTicketInput({ id, queues, players, priority })
    return tickets.create({ ...checked, privateSeat: before.privateSeat }, { ...before, place: before.place })
  }

  return {
    exportTickets: ({ take: takes = false } = {}) => {
      const now = clock.now()
      const records = Array.from(tickets.all()).filter(({ status }) => status === 'SEARCHING')
      const snapshot: TicketSnapshot = {
        format: 'muster-tickets-1',
        exportedAt: Math.floor(now),
        tickets: records.map(exported),
      }
      if (takes) for (const record of records) tickets.cancel(record, 'handed-over', now)
      return snapshot
    },

    importTickets: (snapshot) => {
      assertNotClosed()
      const checked = read(
        snapshotSchema,
        snapshot,
        (field, fieldAndFault) => new InvalidInput(`snapshot: ${fieldAndFault}`, { field }),
      )
      const taken: Ticket[] = []
      const refused: Imported['refused'][number][] = []
      for (const ticket of checked.tickets as unknown as readonly ExportedTicket[]) {
        try {
          taken.push(take(ticket))
        } catch (error) {
          if (!(error instanceof MusterError)) throw error
          refused.push({ ticket, error })
        }
      }
      return { tickets: taken, refused }
    },
  }
}

interface CloseContext {
  readonly tickets: TicketStore
  readonly lifecycle: MatchLifecycle
  readonly allocator: Allocator
  readonly store: Store | undefined
  readonly results: Pick<ResultOutbox, 'finish' | 'pending' | 'close'> | undefined
  /** Whether the next process finds the results that the backend has not taken. */
  readonly keepsResults: boolean
  readonly problem: (during: 'store' | 'results', error: unknown) => void
  readonly clock: Clock
}

const TIMEOUT_MS = 60_000
/** Milliseconds between two checks for unconfirmed creates and stops. */
const STEP_MS = 100

/** Creates `close`. It ends the running work after matching has stopped. */
export function createMatchmakerClose(closing: CloseContext): Matchmaker['close'] {
  const { tickets, lifecycle, allocator, store, results, keepsResults, problem, clock } = closing

  const advanceWhile = async (isGoingOn: () => boolean, deadline: number) => {
    while (isGoingOn() && clock.now() < deadline) {
      allocator.advance(clock.now())
      await clock.sleep(STEP_MS)
    }
  }

  /** Sends the results that no later process would find, each once. Returns true while one is under way. */
  const sendsResults = () => !keepsResults && results?.finish(clock.now()) === true
  const finishResults = async (deadline: number) => {
    while (sendsResults() && clock.now() < deadline) await clock.sleep(STEP_MS)
    results?.close()
    const lost = keepsResults ? 0 : (results?.pending() ?? 0)
    if (lost === 0) return
    const [what, them] = lost === 1 ? ['1 result is', 'it'] : [`${lost} results are`, 'them']
    problem('results', new Error(`${what} lost, because there is no store: the backend did not take ${them} in time.`))
  }

  /** Leaves tickets, matches and servers to the next process. Waits first for the outcome of creates that were sent. */
  const leave = async (deadline: number) => {
    allocator.creates.sendNoMore()
    await advanceWhile(() => allocator.creates.inFlight() > 0, deadline)
    tickets.endWaits(new MatchmakerClosed('The matchmaker is closed.'))
    await allocator.close()
    return []
  }

  /** Cancels waiting tickets, and stops the servers on which nobody plays; with `stopServers`, all servers. */
  const endAll = async (stopServers: boolean, deadline: number) => {
    const now = clock.now()
    for (const record of tickets.all()) if (record.status === 'SEARCHING') tickets.cancel(record, 'closed', now)
    const isUnwanted = ({ phase }: { readonly phase: string }) => stopServers || phase !== 'running'
    const matches = [...allocator.matches()].filter(isUnwanted)
    const servers = new Set(allocator.poolServers().filter(isUnwanted))
    for (const match of matches) allocator.drop(match, 'closed')
    for (const server of servers) allocator.dropServer(server, 'closed')
    for (const match of lifecycle.all()) if (stopServers || match.phase !== 'running') lifecycle.close(match, now)
    // Also drop the servers of pools that are empty now because their matches ended above.
    for (const server of allocator.poolServers().filter((one) => allocator.pools.isEmpty(one))) {
      allocator.dropServer(server, 'closed')
      servers.add(server)
    }
    for (const source of allocator.sources.all()) source.giveUpSooner()
    const left = () => [
      ...matches.filter((match) => allocator.find(match.id) === match).map(matchViewOf),
      ...[...servers].filter((server) => allocator.findServer(server.id) === server).map(poolServerViewOf),
    ]
    const isStopping = () => {
      sendsResults()
      return left().length > 0 || allocator.sources.stopsPending() > 0
    }
    await advanceWhile(isStopping, deadline)
    await allocator.close()
    return left()
  }

  return async ({ stopServers = false, handOver = !stopServers && store !== undefined, timeoutMs } = {}) => {
    const deadline = clock.now() + (timeoutMs ?? TIMEOUT_MS)
    if (keepsResults) results?.close()
    const left = handOver ? await leave(deadline) : await endAll(stopServers, deadline)
    await finishResults(deadline)
    await store?.close().catch((error: unknown) => problem('store', error))
    return left
  }
}

const closeOptions: z.ZodType<CloseOptions> = z.strictObject({
  stopServers: z.boolean().optional(),
  handOver: z.boolean().optional(),
  timeoutMs: z
    .custom<number>((value) => typeof value === 'number' && value >= 0, 'must be milliseconds from 0, or Infinity')
    .optional(),
})

/**
 * Validates the options of `close`. A misspelt `stopServers` would otherwise leave servers running.
 * @throws {InvalidInput} naming the option, also for `handOver` without a store
 */
export function readCloseOptions(options: CloseOptions, store: Store | undefined): CloseOptions {
  const refuse = (field: string, message: string) => new InvalidInput(`option ${message}`, { field })
  const given = read(closeOptions, options, refuse)
  if (given.handOver !== true || store !== undefined) return given
  throw refuse('handOver', 'handOver: needs a store, from which the next process resumes')
}
