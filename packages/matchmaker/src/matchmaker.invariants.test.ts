import { Conflict } from '@muster/core'
import { createManualClock, seededRandom } from '@muster/core/clock'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type AllocationView, createMemoryServerLog } from '@muster/hosting/internal'
import { createTestService } from '@muster/hosting/service-fixture'
import { createMatchmakerOver } from './create-matchmaker.js'
import { InvalidBackfill, UnknownQueue } from './errors.js'
import type { QueueDefinition } from './queues/queue.js'
import { anyFate, anyFault, chance, createFault, oneOf } from '@muster/hosting/schedules-fixture'
import type { PrivateMatch } from './tickets/private-matches.js'
import type { Ticket } from './tickets/ticket.js'

const MAX_SERVERS = 6
const LAG_MS = 3000

const isOfAsks = ({ queues, privateMatch }: Ticket) => queues.join() === 'asks' && privateMatch === undefined

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
  const serverLog = createMemoryServerLog()
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
      cooldown: { firstMs: 4000, maxMs: 20_000, forgiveAfterMs: 10_000, name: oneOf(random, 'asks', 'shared') },
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
      cooldown: { firstMs: 4000, name: 'shared', for: ['left'] },
      ...common,
    },
  ]
  const matchmaker = createMatchmakerOver(
    {
      deployments,
      queues,
      clock,
      random,
      listLagMs: LAG_MS,
      maxServers: MAX_SERVERS,
      locate: (ip) =>
        chance(random, 0.9) ? { latitude: ip.length, longitude: 0 } : clock.sleep(500).then(() => undefined),
    },
    () => serverLog,
  )

  const ends = new Map<string, string[]>()
  const ended = (id: string, how: string) => void ends.set(id, [...(ends.get(id) ?? []), how])
  const broken: string[] = []
  const players = (tickets: readonly Ticket[]) => tickets.flatMap((ticket) => ticket.players.map(({ id }) => id))
  /** The paused queues. */
  const paused = new Set<string>()
  const reached = { joined: 0, private: 0, cooledDown: 0 }
  matchmaker.on('cooldownBegan', ({ cooldown: { playerId, until } }) => {
    reached.cooledDown += 1
    if (until <= clock.now()) broken.push(`a cooldown of ${playerId} that is over as it begins`)
  })
  matchmaker.on('matchFound', ({ queue, tickets }) => {
    const ids = players(tickets)
    const isPrivate = tickets.some((ticket) => ticket.privateMatch !== undefined)
    if (isPrivate) reached.private += 1
    if (new Set(tickets.map((ticket) => ticket.privateMatch)).size > 1)
      broken.push(`a private match with others: ${ids.join()}`)
    if (paused.has(queue)) broken.push(`a match of ${queue}, which is paused`)
    const size = isPrivate ? [1, 4] : ({ plain: [4, 4], asks: [3, 3] }[queue] ?? [2, 4])
    if (ids.length < (size[0] ?? 0) || ids.length > (size[1] ?? 0) || new Set(ids).size !== ids.length)
      broken.push(`a match of ${ids.join()}`)
  })
  matchmaker.on('serverAssigned', ({ tickets, requestId }) => {
    for (const { id } of tickets) ended(id, 'assigned')
    if (!service.records.some((record) => record.requestId === requestId))
      broken.push(`assigned to ${requestId}, which there is not`)
  })
  matchmaker.on('cancelled', ({ ticket }) => ended(ticket.id, 'cancelled'))
  matchmaker.on('expired', ({ ticket }) => ended(ticket.id, 'expired'))
  matchmaker.on('backfillJoined', ({ queue, tickets }) => {
    reached.joined += tickets.length
    if (paused.has(queue)) broken.push(`tickets joined a match of ${queue}, which is paused`)
    if (tickets.some((ticket) => ticket.privateMatch !== undefined)) broken.push('a private ticket joined a match')
  })

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
    const known = oneOf(random, ...open().filter(isOfAsks))
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
    if (created === undefined) return
    ids.push(created.id)
    for (const { id } of created.players)
      if (matchmaker.cooldownsOf(id).some(({ name, until }) => keeps(created.queues, name) && until > clock.now()))
        broken.push(`${id} waits in ${created.queues.join()} in spite of a cooldown`)
  }
  /** True if a cooldown of this name keeps the player from waiting in one of the queues. */
  const keeps = (names: readonly string[], name: string) =>
    queues.some((queue) => names.includes(queue.name) && queue.cooldown?.name === name)
  /** Makes a private match, sometimes with players who already have a ticket or match. */
  const make = () => {
    const some = Array.from({ length: 1 + Math.floor(random() * 3) }, (_, index) => `m${ids.length}.${index}`)
    const known = oneOf(random, ...open())?.players[0]?.id
    if (known !== undefined && chance(random, 0.2)) some.push(known)
    const queue = oneOf(random, 'plain', 'asks', 'open')
    const teams =
      queue === 'open'
        ? some.slice(0, 2).map((id, index) => ({ name: `side-${index + 1}`, players: [{ id, ip: '198.51.100.7' }] }))
        : [{ name: 'team', players: some.slice(0, 3).map((id) => ({ id, ip: '198.51.100.7' })) }]
    const input = { id: `private-${ids.length}`, queue, teams, skipAcceptance: chance(random, 0.5) }
    const made = attempt(() => matchmaker.createMatch(input)) as PrivateMatch | undefined
    for (const { id } of made?.tickets ?? []) ids.push(id)
    if (made !== undefined && chance(random, 0.3) && attempt(() => matchmaker.createMatch(input).tickets.length) === 0)
      broken.push('a private match that was made twice')
  }
  const operate = () => {
    const queue = oneOf(random, 'plain', 'asks', 'open')
    if (paused.has(queue)) {
      paused.delete(queue)
      attempt(() => matchmaker.resumeQueue(queue))
    } else if (chance(random, 0.5)) {
      attempt(() => matchmaker.pauseQueue(queue))
      if (matchmaker.inspect().queues.some((state) => state.name === queue && state.paused)) paused.add(queue)
    }
    const [one] = matchmaker.exportCooldowns()
    if (one !== undefined && chance(random, 0.2)) matchmaker.forgive(one.playerId)
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
    const by = chance(random, 0.5) ? oneOf(random, ...open().filter((one) => one.id === id))?.players[0]?.id : undefined
    if (id !== undefined && chance(random, 0.2)) attempt(() => matchmaker.cancelTicket(id, by))
    if (chance(random, 0.15)) make()
    if (chance(random, 0.1)) operate()
    answer()
    manage()
    if (chance(random, 0.08)) {
      matchmaker.reconfigure(chance(random, 0.8) ? queues : queues.slice(0, 2))
      for (const name of paused) if (!matchmaker.queueNames().includes(name)) paused.delete(name)
    }
    const found = players(open().filter(({ status }) => status === 'MATCH_FOUND'))
    if (new Set(found).size !== found.length) broken.push(`in two matches at once: ${found.join()}`)
    await clock.advance(1000)
  }
  calm = true
  const closing = { left: undefined as readonly AllocationView[] | undefined }
  void matchmaker.close({ stopServers: true, timeoutMs: 120_000 }).then((left) => (closing.left = left))
  for (let waited = 0; closing.left === undefined && waited < 121_000; waited += 1000) await clock.advance(1000)
  // Lets the lookups of abandoned locations end.
  await clock.advance(500)
  return { service, serverLog, ids, ends, broken, reached, left: closing.left, clock }
}

test('property: under any faults each ticket ends once, and each match has one server, which is stopped', async () => {
  const reached = { assigned: 0, joined: 0, private: 0, cooledDown: 0 }
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: 2 ** 31 }), async (seed) => {
      const { service, serverLog, ids, ends, broken, reached: now, left, clock } = await live(seed)
      expect(broken).toEqual([])
      expect(left).toEqual([])
      expect(service.unstopped()).toEqual([])
      expect(await serverLog.open()).toEqual({ servers: [], matches: [] })
      for (const id of ids) expect(ends.get(id), id).toHaveLength(1)
      const tags = service.calls.create.map(({ tags = [] }) => tags[1])
      expect(new Set(tags).size).toBe(tags.length)
      expect(clock.sleepers).toBe(0)
      reached.assigned += [...ends.values()].filter(([how]) => how === 'assigned').length
      for (const key of ['joined', 'private', 'cooledDown'] as const) reached[key] += now[key]
    }),
    // Few, to save time: `pnpm fuzz` tries others.
    { numRuns: 7 },
  )
  for (const [what, count] of Object.entries(reached)) expect(count, what).toBeGreaterThan(0)
})
