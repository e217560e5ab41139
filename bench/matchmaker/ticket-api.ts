import { setTimeout as sleep } from 'node:timers/promises'
import { atLeast, atMost, median, type Figures } from '../figure.js'
import { setUp, type LoadFleet } from './load-fleet.js'
import type { Load, TicketServerState } from './ticket-api-messages.js'

const SERVER = new URL('./ticket-api-server.js', import.meta.url)
const BARE = new URL('./bare-server.js', import.meta.url)
const ROUNDS = 5
const SINGLE = { perRequest: 1, tickets: 20_000, connections: 32 }
const BATCHED = { perRequest: 500, tickets: 50_000, connections: 4 }
/**
 * Number of waiting players. On the machine of the benchmark, a process may have 20,000 files open, and needs some
 * itself. The memory for `PROMISED_WAITERS` is computed from theirs.
 */
const WAITERS = 19_800
const PROMISED_WAITERS = 20_000

/**
 * Measures the ticket API over loopback HTTP, in a process of its own. Figures: the tickets that one core creates per
 * second of CPU time, with the kernel's work for sockets, and the memory while `WAITERS` players wait.
 */
export async function ticketApiFigures(): Promise<Figures> {
  const [single = [], bare = []] = await createsPerSecond(SINGLE, [SERVER, BARE])
  const [batched = []] = await createsPerSecond(BATCHED, [SERVER])
  const events = await memoryOfWaiters('events')
  const poll = await memoryOfWaiters('poll')
  return {
    figures: [
      atLeast('ticket API: creates per second of CPU', single, 25_000, 'tickets/s'),
      atLeast(`ticket API: creates per second of CPU, ${BATCHED.perRequest} at once`, batched, 150_000, 'tickets/s'),
      atMost(
        `ticket API: memory of a process that holds ${PROMISED_WAITERS} event streams`,
        events.megabytes,
        1000,
        'MB',
      ),
      atMost(`ticket API: memory of a process that holds ${PROMISED_WAITERS} long polls`, poll.megabytes, 1000, 'MB'),
    ],
    peers: {
      'ticket API: requests per second of CPU of a bare node:http server': Math.round(median(bare)),
      'ticket API: waiters measured': { events: events.waiting, poll: poll.waiting },
    },
  }
}

type Creates = Pick<Load & { kind: 'create' }, 'perRequest' | 'tickets' | 'connections'>

/**
 * Returns the creates per second of each server under this load. The servers take turns, so that all find the machine
 * in the same state.
 */
async function createsPerSecond(load: Creates, servers: readonly URL[]): Promise<readonly (readonly number[])[]> {
  const fleets = await Promise.all(servers.map((server) => setUp<TicketServerState>(server, 1)))
  const rates = fleets.map((): number[] => [])
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const [index, fleet] of fleets.entries()) {
      const rate = await rateOf(fleet, load)
      // The first round only warms up the compiler.
      if (round > 0) rates[index]?.push(rate)
    }
  }
  for (const { close } of fleets) close()
  return rates
}

async function rateOf({ state, order }: LoadFleet<TicketServerState>, load: Creates): Promise<number> {
  const before = await state()
  const { port, tickets: from } = before
  await order(0, { kind: 'create', credentials: 'names', port, from, ...load })
  const after = await state()
  const created = after.tickets - before.tickets
  if (created !== load.tickets) throw new Error(`${created} tickets were created instead of ${load.tickets}`)
  return created / ((after.cpuMicroseconds - before.cpuMicroseconds) / 1e6)
}

/** Milliseconds between two checks whether all players wait. */
const LOOK_MS = 100

async function memoryOfWaiters(way: 'events' | 'poll'): Promise<{ megabytes: number; waiting: number }> {
  const { state, order, close } = await setUp<TicketServerState>(SERVER, 2)
  const empty = await state()
  const each = WAITERS / 2
  const load = { kind: 'wait', credentials: 'names', port: empty.port, way, waiters: each } as const
  await Promise.all([0, 1].map((child) => order(child, { ...load, from: child * each })))
  let full = await state()
  for (let turn = 0; turn < 100 && full.waiting < WAITERS; turn += 1) {
    await sleep(LOOK_MS)
    full = await state()
  }
  if (full.waiting !== WAITERS) throw new Error(`${full.waiting} wait instead of ${WAITERS}`)
  close()
  const perWaiter = (full.residentBytes - empty.residentBytes) / WAITERS
  return { megabytes: (empty.residentBytes + perWaiter * PROMISED_WAITERS) / 1e6, waiting: full.waiting }
}
