import { InvalidInput } from '@muster/core'
import { describe, expect, test } from 'vitest'
import { decodeHeader } from '../header.js'
import {
  aTicket,
  assign,
  create,
  headerIn,
  matched,
  someIds,
  tokenOf,
  twice,
  using,
  type OpenStores,
} from './stores.fixture.js'

/** Tests of the followers' methods: creating, reading and cancelling. */
export function testCreating(open: OpenStores): void {
  describe('creating tickets', () => {
    test(
      'a created ticket is readable for every process',
      using(open, async ({ store, other }) => {
        const before = await store.time()
        const ticket = aTicket('t1', { body: '{"name":"Bjørn\\n\u2028 😀"}\n ' })
        const [outcome] = await store.create([ticket])
        const createdAt = outcome?.kind === 'created' ? outcome.createdAt : Number.NaN
        expect(createdAt).toBeGreaterThanOrEqual(before)
        expect(createdAt).toBeLessThanOrEqual(await store.time())
        expect(await other.read(['t0', 't1'])).toEqual([
          undefined,
          { id: 't1', createdAt, body: ticket.body, header: undefined },
        ])
        expect(await other.playerTickets(['nobody', 'player of t1'])).toEqual([[], ['t1']])
      }),
    )

    test(
      'a ticket is created once, however often this is requested',
      using(open, async ({ store, other }) => {
        await create(store, 't1')
        const [first] = await store.read(['t1'])
        const again = { ...aTicket('t1', { players: ['somebody else'] }), body: 'another' }
        expect(await other.create([again])).toEqual([{ kind: 'exists', ticket: first }])
        expect(await other.playerTickets(['somebody else'])).toEqual([[]])
        const token = await tokenOf(store)
        const header = matched(2, 'm1')
        await store.commit(token, { headers: [{ ticketId: 't1', header }] })
        expect(await other.create([again])).toEqual([{ kind: 'exists', ticket: { ...first, header } }])
      }),
    )

    test(
      'each ticket of a batch is created or refused by itself and in order',
      using(open, async ({ store }) => {
        await create(store, 't1')
        const outcomes = await store.create([
          aTicket('t2', { players: ['ann', 'bob'] }),
          aTicket('t1'),
          aTicket('t3', { players: ['bob', 'cid'] }),
          aTicket('t4', { players: ['cid', 'player of t1'] }),
          aTicket('t2', { players: ['eve'] }),
          aTicket('t5', { players: ['cid'] }),
        ])
        expect(outcomes.map(({ kind }) => kind)).toEqual(['created', 'exists', 'busy', 'busy', 'exists', 'created'])
        expect(outcomes[2]).toEqual({ kind: 'busy', players: [{ playerId: 'bob', ticketIds: ['t2'] }] })
        expect(outcomes[3]).toEqual({ kind: 'busy', players: [{ playerId: 'player of t1', ticketIds: ['t1'] }] })
        expect(await store.read(['t3', 't4'])).toEqual([undefined, undefined])
        expect(await store.playerTickets(['ann', 'bob', 'cid', 'eve'])).toEqual([['t2'], ['t2'], ['t5'], []])
      }),
    )

    test(
      'a group of tickets is created completely or not at all',
      using(open, async ({ store, other }) => {
        await create(store, 't1')
        const [one, two] = [aTicket('m-1', { players: ['ann', 'bob'] }), aTicket('m-2', { players: ['player of t1'] })]
        expect(await store.createTogether([one, two])).toEqual([
          { kind: 'withheld' },
          { kind: 'busy', players: [{ playerId: 'player of t1', ticketIds: ['t1'] }] },
        ])
        expect(await other.read(['m-1', 'm-2'])).toEqual([undefined, undefined])
        expect(await other.playerTickets(['ann', 'player of t1'])).toEqual([[], ['t1']])
        const permitted = new Map([['player of t1', ['t1']]])
        const { cursor } = await store.inbox(undefined, { blockMs: 0 })
        const created = await store.createTogether([one, { ...two, permitted }])
        expect(created).toMatchObject([{ kind: 'created' }, { kind: 'created' }])
        expect(await other.playerTickets(['ann', 'bob', 'player of t1'])).toEqual([['m-1'], ['m-1'], ['t1', 'm-2']])
        expect((await store.inbox(cursor, { blockMs: 0 })).entries).toEqual([
          { kind: 'created', ticketIds: ['m-1', 'm-2'] },
        ])
        expect(await other.createTogether([one, two])).toMatchObject([{ kind: 'exists' }, { kind: 'exists' }])
        expect(await other.createTogether([one, aTicket('m-3')])).toMatchObject([
          { kind: 'exists' },
          { kind: 'withheld' },
        ])
      }),
    )

    test(
      'a ticket for a busy player is created only if exactly the tickets that were seen are permitted',
      using(open, async ({ store, other }) => {
        await create(store, 't1')
        const player = 'player of t1'
        const next = (id: string, ...seen: string[]) =>
          aTicket(id, { players: [player], permitted: new Map([[player, seen]]) })
        expect(await other.create([next('t2')])).toMatchObject([{ kind: 'busy' }])
        expect(await other.create([next('t2', 't0')])).toMatchObject([{ kind: 'busy' }])
        expect(await other.create([next('t2', 't1')])).toMatchObject([{ kind: 'created' }])
        expect(await store.create([next('t3', 't1')])).toMatchObject([
          { kind: 'busy', players: [{ ticketIds: ['t1', 't2'] }] },
        ])
        expect(await store.create([next('t3', 't1', 't2'), next('t4', 't1', 't2', 't3')])).toMatchObject([
          { kind: 'created' },
          { kind: 'created' },
        ])
        expect(await store.playerTickets([player])).toEqual([['t1', 't2', 't3', 't4']])
        await store.cancel('t2', [player])
        await store.cancel('t1', [player])
        expect(await store.playerTickets([player])).toEqual([['t3', 't4']])
        // A player whose other tickets are gone is not busy any more.
        await store.cancel('t4', [player])
        await store.cancel('t3', [player])
        expect(await store.create([next('t5', 't3')])).toMatchObject([{ kind: 'created' }])
      }),
    )

    test(
      'tickets are created up to a limit, which includes ended tickets that are still stored',
      using(
        open,
        async ({ store, other }) => {
          await create(store, 't1', 't2')
          await store.cancel('t1', ['player of t1'])
          expect(await other.create([aTicket('t3'), aTicket('t4'), aTicket('t1')])).toMatchObject([
            { kind: 'created' },
            { kind: 'full' },
            { kind: 'exists' },
          ])
          expect(await store.playerTickets(['player of t4'])).toEqual([[]])
          await store.sweep(await tokenOf(store), 0, 10)
          expect(await other.create([aTicket('t4'), aTicket('t5')])).toMatchObject([
            { kind: 'created' },
            { kind: 'full' },
          ])
        },
        { maxTickets: 3 },
      ),
    )

    test(
      'many tickets and large parties can be created in one call',
      using(open, async ({ store, other }) => {
        const ids = someIds(1000)
        const parties = Array.from({ length: 12 }, (_, party) =>
          aTicket(`party${party}`, { players: Array.from({ length: 500 }, (_, index) => `${party}:${index}`) }),
        )
        const outcomes = await Promise.all([
          store.create(ids.map((id) => aTicket(id))),
          other.create(parties),
          store.create(parties),
        ])
        expect(outcomes[0].every(({ kind }) => kind === 'created')).toBe(true)
        expect(parties.filter((_, index) => outcomes[1][index]?.kind === 'created')).toHaveLength(
          12 - parties.filter((_, index) => outcomes[2][index]?.kind === 'created').length,
        )
        expect((await other.read(ids)).map((ticket) => ticket?.id)).toEqual(ids)
        expect(await other.playerTickets(['0:0', '11:499'])).toEqual([['party0'], ['party11']])
        const { players } = parties[0] as { players: readonly string[] }
        expect(await store.cancel('party0', players)).toMatchObject({ kind: 'cancelled' })
        expect((await other.playerTickets(players)).flat()).toEqual([])
      }),
    )

    test(
      'a ticket body above 256 KiB is refused',
      using(open, async ({ store }) => {
        const error = await store
          .create([aTicket('t1', { body: 'ü'.repeat(140_000) })])
          .catch((error: unknown) => error)
        expect(error).toBeInstanceOf(InvalidInput)
        expect(error).toMatchObject({ field: 'body', message: 'body: must have at most 262144 bytes, got 280000' })
        expect(await store.read(['t1'])).toEqual([undefined])
      }),
    )

    test(
      'of two concurrent tickets of a player exactly one is created',
      using(open, async ({ store, other }) => {
        const outcomes = await Promise.all(
          someIds(20).map((id, index) => (index % 2 === 0 ? store : other).create([aTicket(id, { players: ['ann'] })])),
        )
        expect(outcomes.flat().filter(({ kind }) => kind === 'created')).toHaveLength(1)
        expect(await store.playerTickets(['ann'])).toMatchObject([{ length: 1 }])
      }),
    )
  })

  describe('cancelling a ticket', () => {
    test(
      'cancelling a searching ticket frees its players',
      using(open, async ({ store, other }) => {
        await store.create([aTicket('t1', { players: ['ann', 'bob'] })])
        const before = await store.time()
        const outcome = await twice(() => other.cancel('t1', ['ann', 'bob']))
        const header = await headerIn(store, 't1')
        expect(outcome).toEqual({ kind: 'cancelled', header })
        const { cancelledAt, ...state } = decodeHeader(header)
        expect(state).toEqual({ version: 2, status: 'CANCELLED', attempts: 0, cancelReason: 'cancelled' })
        expect(cancelledAt).toBeGreaterThanOrEqual(before)
        expect(await store.playerTickets(['ann', 'bob'])).toEqual([[], []])
        expect(await store.create([aTicket('t2', { players: ['bob'] })])).toMatchObject([{ kind: 'created' }])
        // A repeated cancel does not free the player of the next ticket.
        await other.cancel('t1', ['ann', 'bob'])
        expect(await store.playerTickets(['bob'])).toEqual([['t2']])
      }),
    )

    test(
      'cancelling a matched ticket keeps the content of its header',
      using(open, async ({ store, other }) => {
        await create(store, 't1')
        const token = await tokenOf(store)
        await store.commit(token, { headers: [{ ticketId: 't1', header: 'S4\n{"attempts":2,"waitingFor":"retry"}' }] })
        await store.commit(token, {
          headers: [{ ticketId: 't1', header: matched(5, 'm1').replace('"attempts":0', '"attempts":2') }],
        })
        await store.commit(token, { hosting: [[{ key: 'm:m1', text: 'intent', requires: ['t1'] }]] })
        expect(await other.cancel('t1', ['player of t1'])).toMatchObject({ kind: 'cancelled' })
        expect(decodeHeader(await headerIn(store, 't1'))).toMatchObject({
          version: 6,
          status: 'CANCELLED',
          attempts: 2,
          matchId: 'm1',
          queue: 'ranked',
        })
      }),
    )

    test(
      'cancelling a locked or assigned ticket is refused',
      using(open, async ({ store, other }) => {
        await create(store, 't1', 't2')
        const token = await tokenOf(store)
        const header = matched(2, 'm1')
        await store.commit(token, {
          headers: [
            { ticketId: 't1', header },
            { ticketId: 't2', header },
          ],
        })
        await store.commit(token, { hosting: [[{ key: 'm:m1', text: 'assigned', requires: ['t1'], locks: true }]] })
        expect(await twice(() => other.cancel('t1', ['player of t1']))).toEqual({ kind: 'late', header })
        expect(await other.cancel('t2', ['player of t2'])).toMatchObject({ kind: 'cancelled' })
        expect(await other.playerTickets(['player of t1', 'player of t2'])).toEqual([['t1'], []])
        await create(store, 't3')
        await assign(store, token, 'm2', ['t3'])
        await store.commit(token, { hosting: [[{ key: 'm:m2' }]] })
        expect(await other.cancel('t3', ['player of t3'])).toMatchObject({ kind: 'late' })
        expect(await other.playerTickets(['player of t3'])).toEqual([['t3']])
      }),
    )

    test(
      'cancelling a ticket that does not exist has no effect',
      using(open, async ({ store }) => {
        expect(await store.cancel('t1', ['ann'])).toEqual({ kind: 'unknown' })
        expect(await headerIn(store, 't1')).toBeUndefined()
      }),
    )
  })
}
