import type { ManualClock, Random } from '@muster/core/clock'
import {
  copiedLog,
  delayMs,
  type Life,
  oneOf,
  type OpenStorage,
  type OpenStorageOf,
  type Storage,
  type Ticket,
  type TicketsOf,
} from '@muster/hosting/schedules-fixture'
import type { HostingRecord } from '@muster/matchmaker/internal'
import type { Ticket as MatchmakerTicket } from '@muster/matchmaker'
import { fleetOf } from '@muster/matchmaker/internal'
import { LeaseLost } from '../partition-errors.js'
import { MemoryPartition } from '../store/memory-partition.fixture.js'
import { openMemoryStore, type StoreHook } from '../store/memory-store.fixture.js'
import { type ScanPage, readPrefix, type StoredTicket } from '../store/index.js'
import { createCommits } from './commits.js'
import { createAssignedTickets, createPartitionServerLog } from './partition-server-log.js'
import { fencedAllocator, fencedService } from './fenced-sources.js'

interface PartitionStorageOptions {
  readonly clock: ManualClock
  readonly random: Random
  /** The share of slow commits, and of those whose reply is lost. */
  readonly slow: number
  readonly lost: number
}

const LEASE_MS = 3000
const RENEW_MS = 1000
const RESULT = 'result:'

const LETTERS = { searching: 'S', matched: 'M', assigned: 'A', over: 'A', cancelled: 'C' } as const

const headerOf = ({ state, version, match, ...rest }: Ticket): string =>
  `${LETTERS[state]}${version}${match === undefined ? '' : ` ${match}`}\n${JSON.stringify({ ...rest, state })}`

function ticketIn({ id, body, header }: StoredTicket): Ticket {
  const first = JSON.parse(body) as Ticket
  if (header === undefined) return { ...first, id }
  const { letter, version, matchId } = readPrefix(header)
  const rest = JSON.parse(header.split('\n')[1] ?? '{}') as Partial<Ticket>
  const known = { ...first, ...rest, id, version, match: matchId }
  return letter === 'C' ? { ...known, state: 'cancelled', match: undefined } : known
}

/** Opens a partition whose share of slow commits and of lost replies is random. */
export const drawPartition: OpenStorageOf = ({ clock, random }) =>
  createPartitionStorage({ clock, random, slow: oneOf(random, 0, 0.02, 0.1), lost: oneOf(random, 0, 0.02) })

/** Creates the store of several processes in Redis, one of which leads. */
function createPartitionStorage({ clock, random, slow, lost }: PartitionStorageOptions): Storage {
  const partition = new MemoryPartition(clock)
  let owners = 0
  return {
    deaths: ['before', 'after', 'deposed', 'deposed'],
    open: (life, tickets) => {
      owners += 1
      return lead({ life, tickets, partition, owner: `process-${owners}`, random, slow, lost })
    },
    cancel: (id, player) => partition.cancel(id, [player], player).kind === 'cancelled',
    mark: () => ({ has: () => true }),
    ended: () => {},
    copy: () =>
      copiedLog(
        Array.from(partition.hosting.values(), ({ text }) => JSON.parse(text) as HostingRecord),
        Array.from(partition.tickets.values(), ticketIn),
        [...partition.notes.keys()].map((key) => key.slice(RESULT.length)),
      ),
  }
}

interface LeadOptions extends Omit<PartitionStorageOptions, 'clock'> {
  readonly life: Life
  readonly tickets: TicketsOf
  readonly partition: MemoryPartition
  readonly owner: string
}

/** Causes faults of a process's commits: the process ends, or it loses the lease or the reply. */
function createNetwork({ life, random, slow, lost }: Pick<LeadOptions, 'life' | 'random' | 'slow' | 'lost'>) {
  let isDeposed = false
  let isLast = false
  const hook: StoreHook = async (method, moment) => {
    if (method === 'commit' && moment === 'before') {
      const death = life.writes()
      if (death === 'deposed') {
        isDeposed = true
        life.depose()
      } else if (death === 'before') life.kill('before')
      isLast = death === 'after'
    }
    if (method === 'commit' && moment === 'after' && isLast) life.kill('after')
    await life.clock.sleep(method === 'commit' ? delayMs(random, slow, 4) : 0)
    if (method === 'commit' && random() < lost)
      throw new Error(`the fixture lost the answer to ${method} (${moment} its effect)`)
  }
  return { hook, isDeposed: () => isDeposed }
}

async function lead({ life, tickets, partition, owner, random, slow, lost }: LeadOptions): Promise<OpenStorage> {
  const { clock } = life
  const network = createNetwork({ life, random, slow, lost })
  const store = openMemoryStore(partition, clock, network.hook)
  let heldUntil = -Infinity
  const acquire = async (): Promise<string> => {
    for (;;) {
      const at = clock.now()
      const acquired = await store.acquire(owner, LEASE_MS)
      if (acquired.kind === 'held') {
        await clock.sleep(acquired.forMs)
        continue
      }
      heldUntil = at + LEASE_MS
      return acquired.token
    }
  }
  const token = await acquire()
  const deposed = () => life.kill('deposed')
  const renew = async () => {
    for (;;) {
      await clock.sleep(RENEW_MS)
      if (network.isDeposed()) return
      const at = clock.now()
      if (!(await store.renew(token, LEASE_MS))) return deposed()
      heldUntil = at + LEASE_MS
    }
  }
  void renew()

  let cursor = partition.inbox.end()
  const isCancelled = (header: string | undefined) => header === undefined || readPrefix(header).letter === 'C'
  const commits = createCommits({
    commit: (commit) => life.alive(store.commit(token, commit)),
    refused: (ticketId, header) => (isCancelled(header) ? tickets.gone([ticketId]) : deposed()),
    isLeaseLost: (error) => error instanceof LeaseLost,
    deposed,
    isLost: life.isDead,
    isDurable: false,
    problem: () => {},
    clock,
    random,
  })
  const assigned = createAssignedTickets()
  const put = (ticket: Ticket) => {
    const { id, match: matchId, player, state } = ticket
    if (state === 'assigned')
      assigned.put({ id, matchId, status: 'HOST_ASSIGNED', players: [{ id: player }] } as unknown as MatchmakerTicket)
    else assigned.remove(id)
    const isOver = state === 'cancelled' || state === 'over'
    commits.header({ ticketId: id, header: headerOf(ticket), ended: isOver, frees: isOver ? [player] : undefined })
  }
  const stored = await allOf(store.loadTickets)
  const records = await allOf(store.loadHosting)
  const loaded = stored.map(ticketIn)
  for (const ticket of loaded)
    if (ticket.state === 'assigned')
      assigned.put({
        id: ticket.id,
        matchId: ticket.match,
        status: 'HOST_ASSIGNED',
        players: [{ id: ticket.player }],
      } as unknown as MatchmakerTicket)
  const isHeld = () => clock.now() < heldUntil
  const assertLeading = () => store.fence(token)
  return {
    serverLog: createPartitionServerLog({
      commits: () => commits,
      load: async () => {
        const all = records.map(({ text }) => JSON.parse(text) as HostingRecord)
        return fleetOf(all.toSorted((one, other) => one.at - other.at))
      },
      expected: tickets.expected,
      assigned,
      missing: async (ids) => {
        const present = await store.read(ids)
        const cancelled = ids.filter((_, index) => isCancelled(present[index]?.header ?? 'C1'))
        tickets.gone(cancelled)
        if (cancelled.length < ids.length) deposed()
      },
    }),
    tickets: loaded,
    put,
    create: async (ticket) => {
      const one = { id: ticket.id, body: JSON.stringify(ticket), players: [ticket.player] }
      const [outcome] = await store.create([one])
      if (outcome?.kind !== 'created') throw new Error('the player is in another ticket')
    },
    flushed: commits.flushed,
    putResult: (matchId) => commits.note(RESULT + matchId, ''),
    fenced: ({ service, allocator }) => ({
      service: fencedService(service, isHeld, assertLeading),
      allocator: fencedAllocator(allocator, isHeld, assertLeading),
    }),
    advance: () => {
      // Followers' changes arrive a little later.
      if (random() < 0.3) return
      const inbox = partition.inbox.read(cursor)
      cursor = inbox.cursor
      tickets.gone(inbox.entries.flatMap((entry) => (entry.kind === 'cancelled' ? entry.ticketId : [])))
    },
    close: () => commits.stop(new LeaseLost('schedules')),
  }
}

async function allOf<T>(load: (at: string | undefined) => Promise<ScanPage<T>>): Promise<readonly T[]> {
  const items: T[] = []
  let at: string | undefined
  do {
    const batch = await load(at)
    items.push(...batch.items)
    at = batch.next
  } while (at !== undefined)
  return items
}
