import { describe, expect, test } from 'vitest'
import type { ScanPage, PartitionStore } from '../store.js'
import { assign, create, matched, someIds, tokenOf, using, type OpenStores } from './stores.fixture.js'

export async function all<T>(
  load: (at: string | undefined) => Promise<ScanPage<T>>,
): Promise<{ readonly items: T[]; readonly sizes: number[] }> {
  const items: T[] = []
  const sizes: number[] = []
  for (let at: string | undefined; ;) {
    const batch = await load(at)
    items.push(...batch.items)
    sizes.push(batch.items.length)
    if (batch.next === undefined) return { items, sizes }
    at = batch.next
  }
}

const idsOf = (tickets: readonly { readonly id: string }[]) => [...new Set(tickets.map(({ id }) => id))].toSorted()

/** Tests of loading: what a leader or a standby reads first. */
export function testLoading(open: OpenStores): void {
  describe('loading a partition', () => {
    test(
      'loading a partition returns tickets with their headers, in batches, except cancelled ones',
      using(open, async ({ store, other }) => {
        const ids = someIds(3000)
        await create(store, ...ids)
        const token = await tokenOf(store)
        await assign(store, token, 'm1', ['t1', 't2'])
        await store.commit(token, { headers: [{ ticketId: 't3', header: matched(2, 'm2') }] })
        await other.cancel('t4', ['player of t4'])
        const { items, sizes } = await all(other.loadTickets)
        expect(idsOf(items)).toEqual(ids.filter((id) => id !== 't4').toSorted())
        expect(Math.max(...sizes)).toBeLessThanOrEqual(1024)
        const [third] = items.filter(({ id }) => id === 't3')
        expect([third]).toEqual(await store.read(['t3']))
        expect(items.filter(({ id, header }) => header === undefined && ['t1', 't2', 't3'].includes(id))).toEqual([])
      }),
    )

    test(
      'loading a partition works with one ticket and with none',
      using(open, async ({ store, other }) => {
        expect(await all(other.loadTickets)).toMatchObject({ items: [] })
        await create(store, 't1')
        expect((await all(other.loadTickets)).items).toEqual(await store.read(['t1']))
      }),
    )

    test(
      'loading a partition misses no concurrent change if the inbox is read from a position before it',
      using(open, async ({ store, other }) => {
        const ids = someIds(2000)
        await create(store, ...ids)
        const { cursor } = await store.inbox(undefined, { blockMs: 0 })
        const known = new Set<string>()
        let created = 0
        const during = async () => {
          await create(other, `late${(created += 1)}`)
          await other.cancel(`t${created}`, [`player of t${created}`])
        }
        for (let at: string | undefined; ;) {
          const batch: Awaited<ReturnType<PartitionStore['loadTickets']>> = await store.loadTickets(at)
          for (const { id } of batch.items) known.add(id)
          await during()
          if (batch.next === undefined) break
          at = batch.next
        }
        for (const entry of (await store.inbox(cursor, { blockMs: 0 })).entries) {
          if (entry.kind === 'created') for (const id of entry.ticketIds) known.add(id)
          if (entry.kind === 'cancelled') known.delete(entry.ticketId)
        }
        const open = (await all(other.loadTickets)).items
        expect([...known].toSorted()).toEqual(idsOf(open))
        expect(known.size).toBe(2000)
      }),
    )

    test(
      'loading a partition returns servers, matches and backfills, in batches',
      using(open, async ({ store, other }) => {
        const token = await tokenOf(store)
        const hosting = someIds(1500).map((id, nth) => [
          { key: `${nth % 2 === 0 ? 's' : 'm'}:${id}`, text: `record of ${id}` },
        ])
        const backfills = someIds(700).map((backfillId) => ({ backfillId, text: `text of ${backfillId}` }))
        await store.commit(token, { hosting, backfills })
        const known = new Map((await all(other.loadHosting)).items.map((record) => [record.key, record]))
        expect(known.size).toBe(1500)
        expect(known.get('m:t7')).toEqual({ key: 'm:t7', text: 'record of t7' })
        const texts = new Map((await all(other.loadBackfills)).items.map(({ backfillId, text }) => [backfillId, text]))
        expect(texts.size).toBe(700)
        expect(texts.get('t7')).toBe('text of t7')
      }),
    )
  })
}
