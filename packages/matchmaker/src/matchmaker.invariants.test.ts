import { Forbidden, InvalidInput, NoCapacity, RateLimited, ServerError, UnexpectedResponse } from '@muster/core'
import { createManualClock, seededRandom, type Random } from '@muster/core/clock'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createMemoryJournal } from './allocation/journal.js'
import type { MatchView } from './allocation/match.js'
import { TooLate } from './errors.js'
import { createMatchmaker } from './matchmaker.js'
import { createTestService, lost, type CallFault, type Fate } from './service.fixture.js'

const MATCH_SIZE = 4
const MAX_SERVERS = 6
const LAG_MS = 3000

const oneOf = <T>(random: Random, ...values: readonly T[]): T => values[Math.floor(random() * values.length)] as T
const chance = (random: Random, share: number) => random() < share

const anyFault = (random: Random): CallFault => ({
  error: oneOf<Error>(random, lost, lost, new ServerError('down'), new UnexpectedResponse('not JSON'), new RateLimited('slower')),
  effect: chance(random, 0.5),
})
/** What a create can fail with; an answer that says nothing was created is true. */
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
  // Ids are given where the create takes effect, so creates must not overtake one another for the fault to name the right one.
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
  const queue = {
    name: 'q',
    matchSize: MATCH_SIZE,
    expireAfterMs: 60_000,
    deploy: { application: 'a', version: '1', readyTimeoutMs: 12_000 },
  }
  const matchmaker = createMatchmaker({
    deployments,
    queues: [queue],
    journal,
    clock,
    random,
    listLagMs: LAG_MS,
    maxServers: MAX_SERVERS,
    locate: (ip) => ({ latitude: ip.length, longitude: 0 }),
  })

  const ends = new Map<string, string[]>()
  const ended = (id: string, how: string) => void ends.set(id, [...(ends.get(id) ?? []), how])
  const broken: string[] = []
  matchmaker.on('matchFound', ({ tickets }) => {
    const players = tickets.flatMap((ticket) => ticket.players.map(({ id }) => id))
    if (players.length !== MATCH_SIZE || new Set(players).size !== MATCH_SIZE) broken.push(`a match of ${players.join()}`)
  })
  matchmaker.on('assigned', ({ tickets, requestId }) => {
    for (const { id } of tickets) ended(id, 'assigned')
    if (!service.records.some((record) => record.requestId === requestId))
      broken.push(`assigned to ${requestId}, which there is not`)
  })
  matchmaker.on('cancelled', ({ ticket }) => ended(ticket.id, 'cancelled'))
  matchmaker.on('expired', ({ ticket }) => ended(ticket.id, 'expired'))

  const ids: string[] = []
  matchmaker.start()
  for (let step = 0; step < 90; step++) {
    for (let joining = Math.floor(random() * 3); joining > 0; joining--) {
      const size = 1 + Math.floor(random() * 3)
      const players = Array.from({ length: size }, (_, index) => ({ id: `p${ids.length}.${index}`, ip: '198.51.100.7' }))
      ids.push(matchmaker.createTicket({ queue: 'q', players }).id)
    }
    const id = oneOf(random, ...ids)
    if (id !== undefined && chance(random, 0.2)) {
      try {
        matchmaker.cancelTicket(id)
      } catch (error) {
        // Unknown only if it ended long ago.
        if (!(error instanceof TooLate) && ends.get(id) === undefined) throw error
      }
    }
    const { matches } = matchmaker.inspect()
    const match = oneOf(random, ...matches)
    if (match !== undefined && chance(random, 0.3)) void matchmaker.stopMatch(match.matchId)
    if (matches.length > MAX_SERVERS) broken.push(`${matches.length} matches`)
    await clock.advance(1000)
  }
  calm = true
  const closing = { left: undefined as readonly MatchView[] | undefined }
  void matchmaker.close({ stopServers: true, timeoutMs: 120_000 }).then((left) => (closing.left = left))
  for (let waited = 0; closing.left === undefined && waited < 121_000; waited += 1000) await clock.advance(1000)
  return { service, journal, ids, ends, broken, left: closing.left, clock }
}

test(
  'whatever goes wrong: every ticket ends once, every match has one server at most, and none is left',
  { timeout: 60_000 },
  async () => {
    let assigned = 0
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 2 ** 31 }), async (seed) => {
        const { service, journal, ids, ends, broken, left, clock } = await live(seed)
        expect(broken).toEqual([])
        expect(left).toEqual([])
        expect(service.unstopped()).toEqual([])
        expect(await journal.open()).toEqual([])
        for (const id of ids) expect(ends.get(id), id).toHaveLength(1)
        const tags = service.calls.create.map(({ tags = [] }) => tags[1])
        expect(new Set(tags).size).toBe(tags.length)
        expect(clock.sleepers).toBe(0)
        assigned += [...ends.values()].filter(([how]) => how === 'assigned').length
      }),
      { numRuns: 40 },
    )
    expect(assigned).toBeGreaterThan(0)
  },
)
