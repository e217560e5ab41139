import { createManualClock } from '@muster/core/clock'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeRedis, openRedis, type RedisUnderTest } from '../../redis.fixture.js'
import { MemoryPartition } from './memory-partition.fixture.js'
import { openMemoryStore } from './memory-store.fixture.js'
import { createRedisStore } from './redis-store.js'
import type { Commit, HostingChange, HostingTransaction, NewHeader, PartitionStore } from './store.js'
import { assigned, cancelled, matched, searching } from './suite/stores.fixture.js'

type Step = (store: PartitionStore, token: string) => Promise<unknown>

const ticketId = fc.constantFrom('t0', 't1', 't2', 't3', 't4')
const playerId = fc.constantFrom('ann', 'bob', 'cid', 'dan')
const matchId = fc.constantFrom('m0', 'm1')
const players = fc.uniqueArray(playerId, { minLength: 1, maxLength: 3 })
const version = fc.integer({ min: 1, max: 12 })

const create: fc.Arbitrary<Step> = fc
  .array(fc.record({ id: ticketId, players, permitted: fc.option(fc.array(ticketId, { maxLength: 2 })) }), {
    maxLength: 4,
  })
  .map(
    (tickets) => (store) =>
      store.create(
        tickets.map(({ id, players, permitted }) => ({
          id,
          players,
          body: `body of ${id}`,
          permitted: permitted === null ? undefined : new Map(players.map((player) => [player, permitted])),
        })),
      ),
  )
const cancel: fc.Arbitrary<Step> = fc.tuple(ticketId, players).map(
  ([id, players]) =>
    (store) =>
      store.cancel(id, players),
)

const header = fc.oneof(
  version.map(searching),
  version.map(cancelled),
  fc.tuple(version, matchId).map(([version, match]) => matched(version, match)),
  fc.tuple(version, matchId).map(([version, match]) => assigned(version, match)),
)
const headers: fc.Arbitrary<readonly NewHeader[]> = fc.uniqueArray(
  fc.record({ ticketId, header, frees: fc.option(players, { nil: undefined }) }),
  { maxLength: 4, selector: (one) => one.ticketId },
)
const departures = fc.array(fc.record({ ticketId, players }), { maxLength: 2 })
const text = fc.constantFrom('a', 'b\n')
const ofMatch = matchId.map((id) => `m:${id}`)
const ofServer = matchId.map((id) => `s:${id}`)
const claim: fc.Arbitrary<HostingChange> = fc.record({
  key: ofMatch,
  text,
  requires: fc.uniqueArray(ticketId, { minLength: 1, maxLength: 3 }),
  locks: fc.boolean(),
})
const written: fc.Arbitrary<HostingChange> = fc.record({ key: fc.oneof(ofMatch, ofServer), text })
const over: fc.Arbitrary<HostingChange> = fc.oneof(
  fc.record({ key: ofServer }),
  fc.record({
    key: ofMatch,
    ends: fc.uniqueArray(fc.record({ ticketId, players }), { selector: (one) => one.ticketId }),
  }),
)
const several = (arbitrary: fc.Arbitrary<HostingChange>, maxLength: number) =>
  fc.uniqueArray(arbitrary, { maxLength, selector: ({ key }) => key })
const transaction: fc.Arbitrary<HostingTransaction> = fc.oneof(
  fc
    .tuple(claim, several(written, 2))
    .map(([first, others]) => [...others.filter(({ key }) => key !== first.key), first]),
  several(fc.oneof(written, over), 3),
)
const commit: fc.Arbitrary<Step> = fc
  .record({
    headers,
    left: departures,
    hosting: fc.array(transaction, { maxLength: 4 }),
    backfills: fc.array(fc.record({ backfillId: matchId, text: fc.option(fc.constant('text'), { nil: undefined }) })),
  })
  .map((commit: Commit) => (store, token) => store.commit(token, commit))
const sweep: fc.Arbitrary<Step> = fc.constant((store, token) => store.sweep(token, 0, 1000))

const IDS = ['t0', 't1', 't2', 't3', 't4']
const everything: Step = async (store) => ({
  tickets: await store.read(IDS),
  players: await store.playerTickets(['ann', 'bob', 'cid', 'dan']),
  hosting: (await store.loadHosting(undefined)).items.toSorted((a, b) => a.key.localeCompare(b.key)),
  backfills: (await store.loadBackfills(undefined)).items.toSorted((a, b) => a.backfillId.localeCompare(b.backfillId)),
  open: (await store.loadTickets(undefined)).items.toSorted((a, b) => a.id.localeCompare(b.id)),
})

/** Removes times, which differ, and assignments, which are swept with their match. */
const plain = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value ?? null)
      .replaceAll(/("createdAt":|\\"cancelledAt\\":)\d+/g, '$10')
      .replaceAll(/\\n\{\\"fqdn.*?\{\}\}/g, ''),
  )

describeRedis('a partition in Redis and one in memory', () => {
  let redis: RedisUnderTest
  beforeAll(async () => {
    redis = await openRedis()
  })
  afterAll(() => redis.close())

  test('property: for any sequence of calls a partition in Redis answers as a partition in memory does', async () => {
    const steps = fc.array(fc.oneof(create, cancel, { arbitrary: commit, weight: 3 }, sweep), { maxLength: 30 })
    await fc.assert(
      fc.asyncProperty(steps, async (steps) => {
        await redis.server.ask('FLUSHALL')
        const clock = createManualClock()
        const bounds = { maxTickets: 4 }
        const stores = [
          createRedisStore({ redis: redis.redis, name: 'ranked', bounds }),
          openMemoryStore(new MemoryPartition(clock, bounds), clock),
        ] as const
        const tokens = await Promise.all(stores.map((store) => store.acquire('a', 60_000)))
        const inboxes = await Promise.all(stores.map((store) => store.inbox(undefined, { blockMs: 0 })))
        const begins = await Promise.all(stores.map((store) => store.changes(undefined, 'a', { blockMs: 0 })))
        for (const step of [...steps, everything]) {
          const outcomes = await Promise.all(
            stores.map((store, index) => step(store, (tokens[index] as { token: string }).token)),
          )
          expect(plain(outcomes[0])).toEqual(plain(outcomes[1]))
        }
        const told = await Promise.all(
          stores.map(async (store, index) => ({
            inbox: (await store.inbox(inboxes[index]?.cursor, { blockMs: 0 })).entries,
            changes: (await store.changes(begins[index]?.cursor, 'a', { blockMs: 0 })).tickets,
          })),
        )
        expect(told[0]).toEqual(told[1])
        await Promise.all(stores.map((store) => store.close()))
      }),
      { numRuns: 50 },
    )
  })
})
