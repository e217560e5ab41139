import { describe, expect, test } from 'vitest'
import type { Commit } from '../store.js'
import {
  assign,
  assigned,
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

const byKey = (one: { readonly key: string }, other: { readonly key: string }) => one.key.localeCompare(other.key)

/** Tests of servers and matches, notes and backfills. */
export function testRecords(open: OpenStores): void {
  describe('the record of a match', () => {
    const servers = async (store: { loadHosting: (at: undefined) => Promise<{ items: readonly unknown[] }> }) =>
      (await store.loadHosting(undefined)).items

    test(
      'a match record is stored if all tickets that it requires are in the match',
      using(open, async ({ store, other }) => {
        await create(store, 't1', 't2', 't3')
        const token = await tokenOf(store)
        const commit: Commit = {
          headers: ['t1', 't2'].map((ticketId) => ({ ticketId, header: matched(2, 'm1') })),
          hosting: [[{ key: 'm:m1', text: 'intent\n of m1', requires: ['t1', 't2'] }]],
        }
        expect(await twice(() => store.commit(token, commit))).toEqual(DONE)
        expect(await servers(other)).toEqual([{ key: 'm:m1', text: 'intent\n of m1' }])
        // A searching ticket, a ticket of another match and an unknown ticket are not in the match.
        await store.commit(token, { headers: [{ ticketId: 't2', header: matched(3, 'm2') }] })
        const unmet = { key: 'm:m1', text: 'sent', requires: ['t1', 't2', 't3', 't4'] }
        const outcome = await twice(() =>
          store.commit(token, { hosting: [[unmet], [{ key: 'm:m3', text: 'intent' }]] }),
        )
        expect(outcome).toEqual({ refused: [], unmet: [{ matchId: 'm1', ticketIds: ['t2', 't3', 't4'] }] })
        expect(await servers(other)).toEqual(
          expect.arrayContaining([
            { key: 'm:m1', text: 'intent\n of m1' },
            { key: 'm:m3', text: 'intent' },
          ]),
        )
      }),
    )

    test(
      'a match record is stored even if a ticket is cancelled between a lost answer and the repeat',
      using(open, async ({ store, other }) => {
        await create(store, 't1', 't2')
        const token = await tokenOf(store)
        const commit: Commit = {
          headers: ['t1', 't2'].map((ticketId) => ({ ticketId, header: matched(2, 'm1') })),
          hosting: [[{ key: 'm:m1', text: 'intent', requires: ['t1', 't2'] }]],
        }
        await store.commit(token, commit)
        await other.cancel('t2', ['player of t2'])
        const header = await headerIn(store, 't2')
        expect(await store.commit(token, commit)).toEqual({ refused: [{ ticketId: 't2', header }], unmet: [] })
      }),
    )

    test(
      'a match record locks its tickets until they leave the match or a later record unlocks them',
      using(open, async ({ store, other }) => {
        await create(store, 't1', 't2', 't3')
        const token = await tokenOf(store)
        const both = ['t1', 't2']
        await store.commit(token, { headers: both.map((ticketId) => ({ ticketId, header: matched(2, 'm1') })) })
        expect(
          await twice(() =>
            store.commit(token, { hosting: [[{ key: 'm:m1', text: 'assigned', requires: both, locks: true }]] }),
          ),
        ).toEqual(DONE)
        await twice(() => store.commit(token, { hosting: [[{ key: 'm:m1', text: 'players' }]] }))
        expect(await servers(other)).toEqual([{ key: 'm:m1', text: 'players' }])
        for (const id of both) expect(await other.cancel(id, [`player of ${id}`])).toMatchObject({ kind: 'late' })
        // The ticket is searching again, so the lock of the match does not apply to it.
        await store.commit(token, { headers: [{ ticketId: 't1', header: searching(3) }] })
        expect(await other.cancel('t1', ['player of t1'])).toMatchObject({ kind: 'cancelled' })
        await store.commit(token, { hosting: [[{ key: 'm:m1', text: 'intent', requires: ['t2'] }]] })
        expect(await other.cancel('t2', ['player of t2'])).toMatchObject({ kind: 'cancelled' })
      }),
    )

    test(
      'a match record is kept until the match is over; then its tickets end, and their players are free',
      using(open, async ({ store, other }) => {
        await create(store, 't1', 't2', 't3', 't4')
        const token = await tokenOf(store)
        await assign(store, token, 'm1', ['t1', 't2'])
        await assign(store, token, 'm2', ['t3'])
        await store.commit(token, { headers: [{ ticketId: 't4', header: matched(2, 'm1') }] })
        expect(await store.sweep(token, 0, 10)).toBe(0)
        const ends = ['t1', 't2', 't3', 't4', 't5'].map((ticketId) => ({
          ticketId,
          players: [`player of ${ticketId}`],
        }))
        expect(await twice(() => store.commit(token, { hosting: [[{ key: 'm:m1', ends }]] }))).toEqual(DONE)
        expect(await servers(other)).toEqual([{ key: 'm:m2', text: 'assigned' }])
        expect(await other.playerTickets(['player of t1', 'player of t2', 'player of t3', 'player of t4'])).toEqual([
          [],
          [],
          ['t3'],
          ['t4'],
        ])
        // The ended ticket can still be read until it is swept.
        expect(await headerIn(other, 't1')).toBe(assigned(3, 'm1'))
        expect(await store.sweep(token, 0, 10)).toBe(2)
        expect((await other.read(['t1', 't2', 't3', 't4'])).map((ticket) => ticket?.id)).toEqual([
          undefined,
          undefined,
          't3',
          't4',
        ])
      }),
    )

    test(
      'several match records in a commit are stored in order',
      using(open, async ({ store, other }) => {
        const token = await tokenOf(store)
        const texts = ['intent', 'sent', 'created']
        await store.commit(token, { hosting: texts.map((text) => [{ key: 'm:m1', text }]) })
        expect(await servers(other)).toEqual([{ key: 'm:m1', text: 'created' }])
        await store.commit(token, {
          hosting: [[{ key: 'm:m1' }], [{ key: 'm:m1', text: 'again' }], [{ key: 'm:m2' }]],
        })
        expect(await servers(other)).toEqual([{ key: 'm:m1', text: 'again' }])
        await store.commit(token, { hosting: [[{ key: 'm:m1', text: 'more' }], [{ key: 'm:m1' }]] })
        expect(await servers(other)).toEqual([])
      }),
    )

    test(
      'a match record is stored together with the record of its server, or not at all',
      using(open, async ({ store, other }) => {
        await create(store, 't1', 't2')
        const token = await tokenOf(store)
        const [claim, server] = [
          { key: 'm:m1', text: 'found', requires: ['t1', 't2'] },
          { key: 's:m1', text: 'planned' },
        ]
        const free = [{ key: 's:free', text: 'warm' }]
        await store.commit(token, { headers: [{ ticketId: 't1', header: matched(2, 'm1') }] })
        const outcome = await twice(() => store.commit(token, { hosting: [[server, claim], free] }))
        expect(outcome).toEqual({ refused: [], unmet: [{ matchId: 'm1', ticketIds: ['t2'] }] })
        expect(await servers(other)).toEqual([{ key: 's:free', text: 'warm' }])
        await store.commit(token, { headers: [{ ticketId: 't2', header: matched(2, 'm1') }] })
        expect(await twice(() => store.commit(token, { hosting: [[server, claim]] }))).toEqual(DONE)
        const up = [
          { key: 's:m1', text: 'up' },
          { key: 'm:m1', text: 'playing', requires: ['t1', 't2'], locks: true },
        ]
        expect(await twice(() => store.commit(token, { hosting: [up] }))).toEqual(DONE)
        const both = [
          { key: 'm:m1', text: 'playing' },
          { key: 's:free', text: 'warm' },
          { key: 's:m1', text: 'up' },
        ]
        const sorted = async () => [...(await store.loadHosting(undefined)).items].toSorted(byKey)
        expect(await sorted()).toEqual(both)
        // A deleted server does not remove the locks of the match of the same id.
        await store.commit(token, { hosting: [[{ key: 's:m1' }]] })
        expect(await sorted()).toEqual(both.slice(0, 2))
        expect(await other.cancel('t1', ['player of t1'])).toMatchObject({ kind: 'late' })
        await store.commit(token, { hosting: [[{ key: 'm:m1', ends: [] }, { key: 's:free' }]] })
        expect(await servers(other)).toEqual([])
      }),
    )
  })

  test(
    'key-value records of a partition are stored, read in batches and deleted',
    using(open, async ({ store, other }) => {
      const token = await tokenOf(store)
      const of = (key: string, text?: string) => ({ key, text })
      const notes = [of('c["duel","Bjørn \\n"]', '[1,2,3]'), of('p x', ''), of('none')]
      expect(await twice(() => store.commit(token, { notes }))).toEqual(DONE)
      expect(await other.readPartitionRecords(['p x', 'none', 'c["duel","Bjørn \\n"]'])).toEqual([
        '',
        undefined,
        '[1,2,3]',
      ])
      await store.commit(token, { notes: [of('p x')], backfills: [{ backfillId: 'b', text: '{}' }] })
      expect(await other.loadNotes(undefined)).toEqual({ items: [notes[0]], next: undefined })
      expect((await other.loadBackfills(undefined)).items).toEqual([{ backfillId: 'b', text: '{}' }])
      const many = someIds(700)
      await store.commit(token, { notes: many.map((id) => of(id, id)) })
      expect(await other.readPartitionRecords(many)).toEqual(many)
    }),
  )

  test(
    'backfills of a partition are stored, loaded and deleted',
    using(open, async ({ store, other }) => {
      const token = await tokenOf(store)
      const of = (backfillId: string, text?: string) => ({ backfillId, text })
      expect(await twice(() => store.commit(token, { backfills: [of('b1', '{}'), of('b2', 'x'), of('b3')] }))).toEqual(
        DONE,
      )
      await store.commit(token, { backfills: [of('b1', 'changed'), of('b2')] })
      expect(await other.loadBackfills(undefined)).toEqual({ items: [of('b1', 'changed')], next: undefined })
    }),
  )
}
