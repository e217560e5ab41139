import { describe, expect, test } from 'vitest'
import { LeaseLost } from '../../partition-errors.js'
import type { PartitionStore } from '../store.js'
import { answer, cancelled, create, matched, tokenOf, twice, using, type OpenStores } from './stores.fixture.js'

/** Every method with a token. */
const fenced = (store: PartitionStore, token: string): Readonly<Record<string, () => Promise<unknown>>> => ({
  commit: () => store.commit(token, { headers: [{ ticketId: 't1', header: cancelled(9), frees: ['player of t1'] }] }),
  'an empty commit': () => store.commit(token, {}),
  'a commit of a record': () => store.commit(token, { hosting: [[{ key: 'm:m1', text: 'intent' }]] }),
  fence: () => store.fence(token),
  sweep: () => store.sweep(token, 0, 10),
  answer: () => answer(store, token, 'b', ['answer']),
  setInForce: () => store.setInForce(token, 'queues'),
})

const epochOf = (token: string) => Number.parseInt(token, 10)

/** Tests of the lease and of fenced writes. */
export function testLeading(open: OpenStores): void {
  describe('the lease of a partition', () => {
    test(
      'the lease of a partition is held by one process at a time',
      using(open, async ({ store, other }) => {
        const first = await twice(() => store.acquire('a', 60_000))
        expect(first).toEqual({ kind: 'acquired', token: expect.stringMatching(/^\d+:a$/) })
        const held = await other.acquire('b', 60_000)
        expect(held).toEqual({ kind: 'held', owner: 'a', forMs: expect.any(Number) })
        expect((held as { forMs: number }).forMs).toBeGreaterThan(0)
        expect((held as { forMs: number }).forMs).toBeLessThanOrEqual(60_000)
      }),
    )

    test(
      'the lease of a partition is held until it is released, and then the epoch grows',
      using(open, async ({ store, other }) => {
        const first = await tokenOf(store, 'a')
        await store.release(first)
        await store.release(first)
        const second = await tokenOf(other, 'b')
        expect(epochOf(second)).toBe(epochOf(first) + 1)
        // Another process has the lease now.
        await store.release(first)
        expect(await store.acquire('a', 60_000)).toMatchObject({ kind: 'held', owner: 'b' })
      }),
    )

    test(
      'the lease of a partition is held until it has expired by the clock of the store',
      using(open, async ({ store, other, pass }) => {
        const first = await store.acquire('a', 500)
        if (first.kind !== 'acquired') throw new Error('the lease was not acquired, although nobody holds it')
        expect(await other.acquire('b', 60_000)).toMatchObject({ kind: 'held' })
        await pass(550)
        // No other process has taken over yet, so it still leads.
        await store.fence(first.token)
        const second = await tokenOf(other, 'b')
        expect(epochOf(second)).toBe(epochOf(first.token) + 1)
        expect(await store.renew(first.token, 60_000)).toBe(false)
        await expect(store.fence(first.token)).rejects.toThrow(LeaseLost)
      }),
    )

    test(
      'the lease of a partition is held as long as it is renewed, even after it expired',
      using(open, async ({ store, other, pass }) => {
        const { token } = (await store.acquire('a', 20)) as { token: string }
        await pass(40)
        expect(await twice(() => store.renew(token, 60_000))).toBe(true)
        expect(await other.acquire('b', 60_000)).toMatchObject({ kind: 'held', owner: 'a' })
      }),
    )
  })

  describe('a deposed leader', () => {
    const untouched = async (store: PartitionStore) => {
      expect((await store.read(['t1'])).map((ticket) => ticket?.header)).toEqual([matched(2, 'm1')])
      expect(await store.playerTickets(['player of t1'])).toEqual([['t1']])
      expect((await store.loadHosting(undefined)).items).toEqual([])
      expect(await store.getInForce()).toBeUndefined()
    }

    for (const method of Object.keys(fenced({} as PartitionStore, ''))) {
      test(
        `a deposed leader is refused in ${method}, which changes nothing`,
        using(open, async ({ store, other }) => {
          await create(store, 't1')
          const first = await tokenOf(store)
          await store.commit(first, { headers: [{ ticketId: 't1', header: matched(2, 'm1') }] })
          const { cursor } = await other.changes(undefined, 'b', { blockMs: 0 })
          await store.release(first)
          const second = await tokenOf(other, 'b')
          for (const token of [first, '', '1', `${epochOf(second)}:a`, `${second}b`]) {
            await expect(fenced(store, token)[method]?.()).rejects.toThrow(LeaseLost)
          }
          await untouched(store)
          expect(await other.changes(cursor, 'b', { blockMs: 0 })).toMatchObject({ tickets: [], replies: [] })
          await expect(fenced(other, second)[method]?.()).resolves.not.toThrow()
        }),
      )
    }
  })

  describe('a partition that has lost its data', () => {
    test(
      'a partition that has lost its data deposes the leader, and reports a gap to readers',
      using(open, async ({ store, other, pass, wipe }) => {
        await create(store, 't1')
        const token = await tokenOf(store)
        await store.commit(token, { headers: [{ ticketId: 't1', header: matched(2, 'm1') }] })
        const inbox = await store.inbox(undefined, { blockMs: 0 })
        const changes = await other.changes(undefined, 'b', { blockMs: 0 })
        await wipe()
        await pass(2)
        for (const call of Object.values(fenced(store, token))) await expect(call()).rejects.toThrow(LeaseLost)
        expect(await store.renew(token, 60_000)).toBe(false)
        const empty = await store.inbox(inbox.cursor, { blockMs: 0 })
        expect(empty).toMatchObject({ gap: true, entries: [] })
        expect(await other.changes(changes.cursor, 'b', { blockMs: 0 })).toMatchObject({ gap: true, tickets: [] })
        await create(store, 't2')
        expect(await store.inbox(inbox.cursor, { blockMs: 0 })).toMatchObject({ gap: true })
        // After the gap, everything is as with a new partition.
        expect(await store.inbox(empty.cursor, { blockMs: 0 })).toMatchObject({
          gap: false,
          entries: [{ ticketIds: ['t2'] }],
        })
        const again = await tokenOf(store)
        expect(again).not.toBe(token)
        expect(epochOf(again)).toBeGreaterThanOrEqual(epochOf(token))
      }),
    )

    test(
      'a partition that has lost its data reports the gap to waiting readers with its first new entry',
      using(open, async ({ store, other, pass, wipe }) => {
        await create(store, 't1')
        const { cursor } = await store.inbox(undefined, { blockMs: 0 })
        const waiting = store.inbox(cursor, { blockMs: 20_000 })
        await wipe()
        // Within the same millisecond, the first entry would have the id of the lost one.
        await pass(2)
        await create(other, 't2')
        expect(await waiting).toMatchObject({ gap: true })
      }),
    )
  })

  test(
    'the active queues are stored with the time of their last change',
    using(open, async ({ store, other, pass }) => {
      expect(await other.getInForce()).toBeUndefined()
      const token = await tokenOf(store)
      const before = await store.time()
      const first = await twice(() => store.setInForce(token, 'queues 1'))
      expect(first).toEqual({ text: 'queues 1', since: expect.any(Number) })
      expect(first.since).toBeGreaterThanOrEqual(before)
      expect(await other.getInForce()).toEqual(first)
      await pass(5)
      expect(await store.setInForce(token, 'queues 1')).toEqual(first)
      const second = await store.setInForce(token, 'queues 2')
      expect(second.since).toBeGreaterThan(first.since)
    }),
  )
}
