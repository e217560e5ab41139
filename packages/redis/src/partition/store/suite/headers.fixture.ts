import { describe, expect, test } from 'vitest'
import {
  aTicket,
  assigned,
  cancelled,
  create,
  DONE,
  headerIn,
  matched,
  searching,
  someIds,
  tokenOf,
  twice,
  using,
  type OpenStores,
} from './stores.fixture.js'

/** Tests of the headers that the leader writes, and of ended tickets. */
export function testHeaders(open: OpenStores): void {
  describe('writing headers', () => {
    test(
      'a ticket header with a higher version is written',
      using(open, async ({ store, other }) => {
        await create(store, 't1')
        const token = await tokenOf(store)
        for (const header of [searching(2), matched(3, 'm1'), searching(9), matched(10, 'm2'), assigned(11, 'm2')]) {
          expect(await twice(() => store.commit(token, { headers: [{ ticketId: 't1', header }] }))).toEqual(DONE)
          expect(await headerIn(other, 't1')).toBe(header)
        }
      }),
    )

    test(
      'a ticket header with the same version or a lower one is refused',
      using(open, async ({ store }) => {
        await create(store, 't1', 't2')
        const token = await tokenOf(store)
        const present = matched(10, 'm1')
        await store.commit(token, { headers: [{ ticketId: 't1', header: present }] })
        for (const header of [searching(10), matched(10, 'm2'), searching(9), searching(1)]) {
          const headers = [
            { ticketId: 't1', header },
            { ticketId: 't2', header: 'S1\n{}' },
          ]
          const refused = [
            { ticketId: 't1', header: present },
            { ticketId: 't2', header: undefined },
          ]
          expect(await twice(() => store.commit(token, { headers }))).toEqual({ refused, unmet: [] })
        }
        expect(await headerIn(store, 't1')).toBe(present)
        expect(await headerIn(store, 't2')).toBeUndefined()
      }),
    )

    test(
      'a ticket header is refused after a cancel, without affecting other headers',
      using(open, async ({ store, other }) => {
        await create(store, 't1', 't2', 't3')
        const token = await tokenOf(store)
        await other.cancel('t2', ['player of t2'])
        const header = await headerIn(store, 't2')
        const headers = ['t1', 't2', 't3'].map((ticketId) => ({
          ticketId,
          header: matched(7, 'm1'),
          frees: ['player of t1'],
        }))
        expect(await twice(() => store.commit(token, { headers }))).toEqual({
          refused: [{ ticketId: 't2', header }],
          unmet: [],
        })
        expect((await store.read(['t1', 't2', 't3'])).map((ticket) => ticket?.header)).toEqual([
          matched(7, 'm1'),
          header,
          matched(7, 'm1'),
        ])
      }),
    )

    test(
      'a header of a ticket that does not exist is refused',
      using(open, async ({ store, other }) => {
        await create(store, 't1', 't2')
        const token = await tokenOf(store)
        await other.cancel('t1', ['player of t1'])
        await store.sweep(token, 0, 10)
        const headers = ['t0', 't1', 't2'].map((ticketId) => ({ ticketId, header: matched(2, 'm1') }))
        const hosting = [[{ key: 'm:m1', text: 'intent', requires: ['t0', 't1', 't2'] }]]
        expect(await store.commit(token, { headers, hosting })).toEqual({
          refused: [
            { ticketId: 't0', header: undefined },
            { ticketId: 't1', header: undefined },
          ],
          unmet: [{ matchId: 'm1', ticketIds: ['t0', 't1'] }],
        })
        expect((await other.loadTickets(undefined)).items.map(({ id }) => id)).toEqual(['t2'])
        expect(await other.create([aTicket('t1')])).toMatchObject([{ kind: 'created' }])
        expect(await headerIn(other, 't1')).toBeUndefined()
      }),
    )

    test(
      'a written header can end a ticket and free its players, once',
      using(open, async ({ store, other }) => {
        await store.create([aTicket('t1', { players: ['ann', 'bob'] })])
        const token = await tokenOf(store)
        const headers = [{ ticketId: 't1', header: cancelled(2), frees: ['ann', 'bob'] }]
        expect(await twice(() => store.commit(token, { headers }))).toEqual(DONE)
        expect(await other.playerTickets(['ann', 'bob'])).toEqual([[], []])
        expect(await store.sweep(token, 0, 10)).toBe(1)
        expect(await store.sweep(token, 0, 10)).toBe(0)
        expect(await other.read(['t1'])).toEqual([undefined])
      }),
    )

    test(
      'a written header can end a ticket at its assignment',
      using(open, async ({ store, other }) => {
        await create(store, 't1', 't2')
        const token = await tokenOf(store)
        const matches = [{ ticketId: 't1', header: matched(2, 'm1') }]
        await store.commit(token, { headers: [...matches, { ticketId: 't2', header: matched(2, 'm2') }] })
        const ended = { ticketId: 't1', header: assigned(3, 'm1'), ended: true, frees: ['player of t1'] }
        await twice(() => store.commit(token, { headers: [ended, { ticketId: 't2', header: assigned(3, 'm2') }] }))
        expect(await other.playerTickets(['player of t1', 'player of t2'])).toEqual([[], ['t2']])
        expect(await store.sweep(token, 0, 10)).toBe(1)
        expect((await other.read(['t1', 't2'])).map((ticket) => ticket?.id)).toEqual([undefined, 't2'])
      }),
    )

    test(
      'a written header can remove players who left from a ticket that continues',
      using(open, async ({ store, other }) => {
        await store.create([aTicket('t1', { players: ['ann', 'bob'] })])
        await store.create([aTicket('t2', { players: ['ann'], permitted: new Map([['ann', ['t1']]]) })])
        const token = await tokenOf(store)
        expect(
          await twice(() => store.commit(token, { left: [{ ticketId: 't1', players: ['ann', 'nobody'] }] })),
        ).toEqual(DONE)
        expect(await other.playerTickets(['ann', 'bob'])).toEqual([['t2'], ['t1']])
      }),
    )

    test(
      'headers of more tickets than one step can handle are written in one call',
      using(open, async ({ store, other }) => {
        const ids = someIds(1000)
        await create(store, ...ids)
        await other.cancel('t700', ['player of t700'])
        const token = await tokenOf(store)
        const headers = ids.map((ticketId) => ({ ticketId, header: matched(2, 'm1') }))
        const hosting = [[{ key: 'm:m1', text: 'intent', requires: ids }]]
        const outcome = await twice(() => store.commit(token, { headers, hosting }))
        expect(outcome.refused.map(({ ticketId }) => ticketId)).toEqual(['t700'])
        expect(outcome.unmet).toEqual([{ matchId: 'm1', ticketIds: ['t700'] }])
        expect((await other.read(ids)).filter((ticket) => ticket?.header === matched(2, 'm1'))).toHaveLength(999)
      }),
    )
  })

  describe('sweeping ended tickets', () => {
    test(
      'a sweep removes tickets that ended long enough ago, the oldest first',
      using(open, async ({ store, other, pass }) => {
        const ids = someIds(5)
        await create(store, ...ids)
        const token = await tokenOf(store)
        for (const id of ['t1', 't0', 't2', 't3']) await other.cancel(id, [`player of ${id}`])
        expect(await store.sweep(token, 60_000, 10)).toBe(0)
        expect(await store.sweep(token, 0, 1)).toBe(1)
        expect((await other.read(ids)).map((ticket) => ticket?.id)).toEqual(['t0', undefined, 't2', 't3', 't4'])
        await pass(5)
        expect(await store.sweep(token, 5, 10)).toBe(3)
        expect((await other.read(ids)).map((ticket) => ticket?.id)).toEqual([
          undefined,
          undefined,
          undefined,
          undefined,
          't4',
        ])
      }),
    )

    test(
      'a sweep removes ended tickets up to its step size in one call',
      using(open, async ({ store, other }) => {
        const ids = someIds(600)
        await create(store, ...ids)
        const token = await tokenOf(store)
        await store.commit(token, {
          headers: ids.map((ticketId) => ({ ticketId, header: cancelled(2), frees: [`player of ${ticketId}`] })),
        })
        let swept = 0
        for (let calls = 0; swept < 600 && calls < 4; calls += 1) swept += await store.sweep(token, 0, 200)
        expect(swept).toBe(600)
        expect(await other.read(ids)).toEqual(ids.map(() => undefined))
        expect((await other.playerTickets(ids.map((id) => `player of ${id}`))).flat()).toEqual([])
      }),
    )
  })
}
