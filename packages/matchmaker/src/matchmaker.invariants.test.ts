import {
  Conflict,
  Forbidden,
  InvalidInput,
  NoCapacity,
  RateLimited,
  ServerError,
  UnexpectedResponse,
} from '@muster/core'
import { createManualClock, seededRandom, type Random } from '@muster/core/clock'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createMemoryJournal } from './servers/journal/journal.js'
import type { AllocationView } from './servers/records/allocation.js'
import { createMatchmaker } from './create-matchmaker.js'
import { InvalidBackfill, UnknownQueue } from './errors.js'
import type { QueueDefinition } from './queues/queue.js'
import { createTestService, lost, type CallFault, type Fate } from './service.fixture.js'
import type { Ticket } from './tickets/ticket.js'

const MAX_SERVERS = 6
const LAG_MS = 3000

const oneOf = <T>(random: Random, ...values: readonly T[]): T => values[Math.floor(random() * values.length)] as T
const chance = (random: Random, share: number) => random() < share

const anyFault = (random: Random): CallFault => ({
  error: oneOf<Error>(
    random,
    lost,
    lost,
    new ServerError('down'),
    new UnexpectedResponse('not JSON'),
    new RateLimited('slower'),
  ),
  effect: chance(random, 0.5),
})
/** A random failure of a create. An answer that says that nothing was created is true. */
const createFault = (random: Random, requestId: string): CallFault =>
  oneOf<CallFault>(
    random,
    { error: lost, effect: true },
    { error: lost },
    { error: new ServerError('down'), effect: chance(random, 0.5) },
    { error: new UnexpectedResponse('not JSON'), effect: true },
    { error: new InvalidInput('no') },
    { error: new Forbidden('no') },
    { error: new NoCapacity('full', { requestId }), effect: true },
    { error: new NoCapacity('full'), effect: chance(random, 0.5) },
  )
const anyFate = (random: Random): Fate =>
  oneOf<Fate>(
    random,
    { readyMs: 3000 },
    { readyMs: 500 },
    { readyMs: 9000 },
    { errorMs: 2000 },
    { readyMs: 2000, endMs: 15_000 },
    { endMs: 1000 },
    {},
  )

/** Runs a matchmaker through a minute and a half of players and faults, all decided by the seed, and then closes it. */
async function live(seed: number) {
  const random = seededRandom(seed)
  const clock = createManualClock()
  let calm = false
  let created = 0
  const service = createTestService({
    clock,
    latencyMs: () => (chance(random, 0.3) ? 0 : random() * 800),
    listLagMs: random() * LAG_MS,
    fate: () => (calm ? { readyMs: 1000 } : anyFate(random)),
    pageSize: oneOf(random, 2, 100),
    fault: (method) => {
      if (calm || !chance(random, 0.2)) return undefined
      return method === 'create' ? createFault(random, `r${created + 1}`) : anyFault(random)
    },
  })
  // The service numbers creates as they take effect, so their order must be kept for a fault to hit the right one.
  let last: Promise<unknown> = Promise.resolve()
  const deployments = {
    ...service.deployments,
    create: (input: Parameters<typeof service.deployments.create>[0]) => {
      const next = last.then(() => {
        created = service.records.length
        return service.deployments.create(input)
      })
      last = next.catch(() => {})
      return next
    },
  }
  const journal = createMemoryJournal()
  const deploy = { application: 'a', version: '1', readyTimeoutMs: 12_000 }
  const common = { expireAfterMs: 60_000, maxAttempts: 3, deploy }
  const queues: readonly QueueDefinition[] = [
    { name: 'plain', matchSize: 4, ...common },
    {
      name: 'asks',
      matchSize: 3,
      acceptance: { withinMs: 4000, replace: chance(random, 0.5) },
      replaceLeavers: chance(random, 0.5),
      playersMayWaitTwice: true,
      ...common,
    },
    {
      name: 'open',
      teams: [{ name: 'side', count: 2, size: { min: 1, max: 2 } }],
      fillForMs: 1000,
      backfill: oneOf(random, 'first', 'last'),
      mode: oneOf(random, 'tick', 'arrival'),
      replaceLeavers: true,
      playersMayWaitTwice: true,
      ...common,
    },
  ]
  const matchmaker = createMatchmaker({
    deployments,
    queues,
    journal,
    clock,
    random,
    listLagMs: LAG_MS,
    maxServers: MAX_SERVERS,
    locate: (ip) =>
      chance(random, 0.9) ? { latitude: ip.length, longitude: 0 } : clock.sleep(500).then(() => undefined),
  })

  const ends = new Map<string, string[]>()
  const ended = (id: string, how: string) => void ends.set(id, [...(ends.get(id) ?? []), how])
  const broken: string[] = []
  const players = (tickets: readonly Ticket[]) => tickets.flatMap((ticket) => ticket.players.map(({ id }) => id))
  matchmaker.on('matchFound', ({ queue, tickets }) => {
    const ids = players(tickets)
    const size = { plain: [4, 4], asks: [3, 3] }[queue] ?? [2, 4]
    if (ids.length < (size[0] ?? 0) || ids.length > (size[1] ?? 0) || new Set(ids).size !== ids.length)
      broken.push(`a match of ${ids.join()}`)
  })
  matchmaker.on('assigned', ({ tickets, requestId }) => {
    for (const { id } of tickets) ended(id, 'assigned')
    if (!service.records.some((record) => record.requestId === requestId))
      broken.push(`assigned to ${requestId}, which there is not`)
  })
  matchmaker.on('cancelled', ({ ticket }) => ended(ticket.id, 'cancelled'))
  matchmaker.on('expired', ({ ticket }) => ended(ticket.id, 'expired'))
  const joined = { count: 0 }
  matchmaker.on('joined', ({ tickets }) => void (joined.count += tickets.length))

  const ids: string[] = []
  const open = () => ids.flatMap((id) => (ends.has(id) ? [] : (matchmaker.getTicket(id) ?? [])))
  /** Runs a call that may be refused without an effect. */
  const attempt = (act: () => unknown) => {
    try {
      return act()
    } catch (error) {
      if (error instanceof Conflict || error instanceof InvalidBackfill || error instanceof UnknownQueue)
        return undefined
      throw error
    }
  }
  const join = () => {
    const size = 1 + Math.floor(random() * 2)
    const fresh = Array.from({ length: size }, (_, index) => ({ id: `p${ids.length}.${index}`, ip: '198.51.100.7' }))
    const known = oneOf(random, ...open().filter((ticket) => ticket.queues.join() === 'asks'))
    const again = known !== undefined && chance(random, 0.3)
    const created = attempt(() =>
      matchmaker.createTicket({
        queues: again
          ? ['open']
          : oneOf<string[]>(random, ['plain'], ['asks'], ['open'], ['asks', 'open'], ['open', 'plain']),
        players: again ? known.players.map(({ id }) => ({ id, ip: '198.51.100.7' })) : fresh,
        priority: oneOf(random, 0, 0, 1),
      }),
    ) as Ticket | undefined
    if (created !== undefined) ids.push(created.id)
  }
  const answer = () => {
    for (const { id, status, acceptance } of open()) {
      if (status !== 'MATCH_FOUND' || acceptance === undefined) continue
      if (chance(random, 0.6)) attempt(() => matchmaker.acceptMatch(id))
      else if (chance(random, 0.1)) attempt(() => matchmaker.declineMatch(id))
    }
  }
  const manage = () => {
    const { matches } = matchmaker.inspect()
    if (matches.length > MAX_SERVERS) broken.push(`${matches.length} matches`)
    for (const { queue, matchId, playerIds } of matches) {
      if (playerIds.length > (queue === 'asks' ? 3 : 4))
        broken.push(`${playerIds.join()} in match ${matchId} of ${queue}`)
    }
    const match = oneOf(random, ...matches)
    if (match === undefined) return
    if (chance(random, 0.2)) void matchmaker.stopMatch(match.matchId)
    else if (chance(random, match.phase === 'running' ? 0.4 : 0.1)) {
      matchmaker.playersLeft(match.matchId, match.playerIds.slice(0, 1))
    } else if (match.phase === 'running' && match.queue === 'open') {
      attempt(() => matchmaker.createBackfill({ matchId: match.matchId }))
    }
  }

  matchmaker.start()
  for (let step = 0; step < 90; step++) {
    for (let joining = Math.floor(random() * 4); joining > 0; joining--) join()
    const id = oneOf(random, ...open())?.id
    if (id !== undefined && chance(random, 0.2)) attempt(() => matchmaker.cancelTicket(id))
    answer()
    manage()
    if (chance(random, 0.08)) matchmaker.reconfigure(chance(random, 0.8) ? queues : queues.slice(0, 2))
    const found = players(open().filter(({ status }) => status === 'MATCH_FOUND'))
    if (new Set(found).size !== found.length) broken.push(`in two matches at once: ${found.join()}`)
    await clock.advance(1000)
  }
  calm = true
  const closing = { left: undefined as readonly AllocationView[] | undefined }
  void matchmaker.close({ stopServers: true, timeoutMs: 120_000 }).then((left) => (closing.left = left))
  for (let waited = 0; closing.left === undefined && waited < 121_000; waited += 1000) await clock.advance(1000)
  // Lets abandoned lookups of places end.
  await clock.advance(500)
  return { service, journal, ids, ends, broken, joined: joined.count, left: closing.left, clock }
}

test(
  'under any faults every ticket ends once, no player is in two matches, and no match has two servers or leaves one',
  { timeout: 60_000 },
  async () => {
    const reached = { assigned: 0, joined: 0 }
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 2 ** 31 }), async (seed) => {
        const { service, journal, ids, ends, broken, joined, left, clock } = await live(seed)
        expect(broken).toEqual([])
        expect(left).toEqual([])
        expect(service.unstopped()).toEqual([])
        expect(await journal.open()).toEqual([])
        for (const id of ids) expect(ends.get(id), id).toHaveLength(1)
        const tags = service.calls.create.map(({ tags = [] }) => tags[1])
        expect(new Set(tags).size).toBe(tags.length)
        expect(clock.sleepers).toBe(0)
        reached.assigned += [...ends.values()].filter(([how]) => how === 'assigned').length
        reached.joined += joined
      }),
      { numRuns: 40 },
    )
    expect(reached.assigned).toBeGreaterThan(0)
    expect(reached.joined).toBeGreaterThan(0)
  },
)
